import Media
import Output
import Testing

struct SinkKindTests {
    @Test(
        arguments: [
            ("pulse", .pulse(sink: nil)), ("pulse:speakers", .pulse(sink: "speakers")),
            ("pulse:a:b", .pulse(sink: "a:b")), ("null", .null), ("null:fast", .nullFast),
            ("wav:a:b.wav", .wav(path: "a:b.wav")), ("raw:out", .raw(path: "out")),
            ("raw:-", .rawStandardOutput), ("wav:", nil), ("raw", nil), ("null:slow", nil), ("alsa", nil),
            ("", nil), ("Pulse", nil), ("pulse:", nil),
        ] as [(String, SinkKind?)]
    )
    func `a sink is named as the manual says`(argument: String, expected: SinkKind?) {
        #expect(SinkKind(argument) == expected)
    }

    @Test func `the refusal names the argument and every form of a sink`() throws {
        let text = SinkKind.refusal(of: "alsa").string
        #expect(text.contains("'alsa'"))
        let forms = try #require(text.split(separator: "; use ").last)
            .replacing(" or ", with: ", ")
            .split(separator: ", ")
            .map { $0.replacing("NAME", with: "x").replacing("PATH", with: "x") }
        #expect(
            forms.map { SinkKind(String($0)) } == [
                .pulse(sink: nil), .pulse(sink: "x"), .null, .nullFast, .wav(path: "x"), .raw(path: "x"),
                .rawStandardOutput,
            ]
        )
    }
}
