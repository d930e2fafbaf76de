import Media
import Testing

@testable import Reprise

@Suite
struct EventLineTests {
    struct Golden: Sendable, CustomTestStringConvertible {
        var event: PlayerEvent
        var json: String
        var words: String

        var testDescription: String { String(words.prefix { $0 != " " }) }
    }

    private static let position = Duration.milliseconds(61_250)

    /// A variable, for a literal would count as the program's own words.
    private static let outside = "line one\nline two"

    private static func track(
        _ source: SafeText,
        _ change: (inout PlayerEvent.TrackReport) -> Void
    ) -> PlayerEvent {
        var report = PlayerEvent.TrackReport(index: 1, source: source)
        change(&report)
        return .track(report)
    }

    private static var failure: PlayerEvent {
        var report = PlayerEvent.EndReport(index: 1, reason: .failed)
        (report.cachedBytes, report.fetchedBytes, report.requestCount, report.stalls) = (7, 9, 1, 2)
        report.error = MediaError(.notFound, "a.mp3", "no such file")
        return .ended(report)
    }

    static let goldens: [Golden] = [
        Golden(
            event: .loaded(tracks: 3),
            json: #"{"event":"loaded","t":1.5,"tracks":3}"#,
            words: "loaded tracks=3 t=1.5"
        ),
        Golden(
            event: track("http://h/a.mp3") {
                ($0.tags.title, $0.duration) = ("A \"B\" \\ é", .seconds(200))
            },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/a.mp3","title":"A \"B\" \\ é","#
                + #""artist":null,"duration":200,"seekable":true}"#,
            words:
                #"track index=1 source="http://h/a.mp3" title="A \"B\" \\ é" duration=200 seekable=true t=1.5"#
        ),
        Golden(
            event: track("http://h/live") { ($0.cached, $0.isLive, $0.station) = (0.25, true, "Radio") },
            json: #"{"event":"track","t":1.5,"index":1,"source":"http://h/live","title":null,"artist":null,"#
                + #""duration":null,"seekable":true,"cached":0.25,"live":true,"station":"Radio"}"#,
            words:
                #"track index=1 source="http://h/live" seekable=true cached=0.25 live=true station="Radio" t=1.5"#
        ),
        Golden(
            event: .playing(index: 2, position: position, isExact: true),
            json: #"{"event":"playing","t":1.5,"index":2,"position":61.25,"exact":true}"#,
            words: "playing index=2 position=61.25 exact=true t=1.5"
        ),
        Golden(
            event: .position(index: 2, position: position, duration: nil, isExact: false, buffered: .zero),
            json: #"{"event":"position","t":1.5,"index":2,"position":61.25,"duration":null,"exact":false,"#
                + #""buffered":0}"#,
            words: "position index=2 position=61.25 exact=false buffered=0 t=1.5"
        ),
        Golden(
            event: .buffering(index: 2, position: position),
            json: #"{"event":"buffering","t":1.5,"index":2,"position":61.25}"#,
            words: "buffering index=2 position=61.25 t=1.5"
        ),
        Golden(
            event: .paused(index: 2, position: position, isExact: false),
            json: #"{"event":"paused","t":1.5,"index":2,"position":61.25,"exact":false}"#,
            words: "paused index=2 position=61.25 exact=false t=1.5"
        ),
        Golden(
            event: .seeked(index: 2, position: position, isExact: true),
            json: #"{"event":"seeked","t":1.5,"index":2,"position":61.25,"exact":true}"#,
            words: "seeked index=2 position=61.25 exact=true t=1.5"
        ),
        Golden(
            event: .notice(code: "offline", message: SafeText(outside)),
            json: #"{"event":"notice","t":1.5,"code":"offline","message":"line one line two"}"#,
            words: #"notice code="offline" message="line one line two" t=1.5"#
        ),
        Golden(
            event: failure,
            json:
                #"{"event":"ended","t":1.5,"index":1,"reason":"failed","frames":0,"bytes":{"cached":7,"fetched":9},"#
                + #""requests":1,"stalls":2,"error":{"code":"not-found","message":"a.mp3: no such file"}}"#,
            words:
                #"ended index=1 reason="failed" frames=0 bytes.cached=7 bytes.fetched=9 requests=1 stalls=2 "#
                + #"error.code="not-found" error.message="a.mp3: no such file" t=1.5"#
        ),
        Golden(
            event: .summary(.init()),
            json: #"{"event":"summary","t":1.5,"played":0,"failed":0,"bytes":{"cached":0,"fetched":0},"#
                + #""requests":0,"stalls":0}"#,
            words: "summary played=0 failed=0 bytes.cached=0 bytes.fetched=0 requests=0 stalls=0 t=1.5"
        ),
    ]

    @Test(arguments: goldens)
    func `an event has the keys of the contract in both styles`(golden: Golden) {
        let line = EventLine(golden.event, at: .milliseconds(1500))
        #expect(line.json == golden.json && line.words == golden.words)
    }

    @Test(
        arguments: [
            (.zero, "0"), (.seconds(12), "12"), (.milliseconds(50), "0.05"),
            (.microseconds(1_234_567), "1.235"),
            (.microseconds(999_600), "1"), (.milliseconds(-1500), "-1.5"), (.microseconds(-400), "0"),
            (.seconds(Int64.max), "9223372036854775807"),
        ] as [(duration: Duration, text: String)]
    )
    func `seconds are written to the millisecond`(duration: Duration, text: String) {
        #expect(EventLine.decimal(duration) == text)
    }

    @Test func `a string escapes what JSON forbids and nothing else`() {
        #expect(EventLine.quoted("a\"\\\u{1}\u{1F}\nü🎵/") == #""a\"\\\u0001\u001f\u000aü🎵/""#)
    }
}
