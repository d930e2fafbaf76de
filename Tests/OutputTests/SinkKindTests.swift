import Media
import Output
import Testing

struct SinkKindTests {
    @Test(
        arguments: [
            ("pulse", .pulse(sink: nil)),
            ("pulse:speakers", .pulse(sink: "speakers")),
            ("pulse:a:b", .pulse(sink: "a:b")),
            ("null", .null),
            ("null:fast", .nullFast),
            ("wav:a:b.wav", .wav(path: "a:b.wav")),
            ("raw:out", .raw(path: "out")),
            ("raw:-", .rawStandardOutput),
            ("wav:", nil), ("raw", nil), ("null:slow", nil), ("alsa", nil), ("", nil), ("Pulse", nil),
            ("pulse:", nil),
        ] as [(String, SinkKind?)]
    )
    func `a sink is named as the manual says, and nothing else is one`(argument: String, expected: SinkKind?)
    {
        #expect(SinkKind(argument) == expected)
    }

    @Test func `the refusal names the argument and every sink there is`() {
        let text = SinkKind.refusal(of: "alsa").string
        #expect(text.contains("'alsa'"))
        for kind in ["pulse:NAME", "null:fast", "wav:PATH", "raw:-"] { #expect(text.contains(kind)) }
    }
}
