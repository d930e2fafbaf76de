import Media
import Testing

@testable import Reprise

@Suite struct PlainNarratorTests {
    private static func track(_ index: Int, _ title: SafeText, isLive: Bool = false) -> PlayerEvent {
        var report = PlayerEvent.TrackReport(index: index, source: "/a.mp3")
        report.tags = TrackTags(title: title, artist: "Reprise")
        report.duration = .seconds(15)
        report.isLive = isLive
        return .track(report)
    }

    private static func end(_ index: Int) -> PlayerEvent { .ended(.init(index: index, reason: .finished)) }

    private func lines(for events: [PlayerEvent]) -> [SafeText] {
        var narrator = PlainNarrator()
        return events.compactMap { narrator.line(for: $0) }
    }

    @Test func `a session becomes sentences, without the positions of each second`() {
        let events: [PlayerEvent] = [
            .loaded(tracks: 2), Self.track(1, "River"), Self.track(1, "River"),
            .playing(index: 1, position: .zero, isExact: true),
            .position(index: 1, position: .seconds(1), duration: nil, isExact: true, buffered: .zero),
            .paused(index: 1, position: .seconds(2), isExact: true),
            .playing(index: 1, position: .seconds(2), isExact: true),
            .seeked(index: 1, position: .seconds(9), isExact: false),
            .buffering(index: 1, position: .seconds(9)),
            .playing(index: 1, position: .seconds(9), isExact: false), Self.end(1), Self.track(2, "Alone"),
            .playing(index: 2, position: .seconds(4), isExact: true),
            .remark(code: "pinned", message: "Alone is pinned"),
            .notice(code: "x", message: "on standard error"),
            Self.end(2),
        ]
        #expect(
            lines(for: events) == [
                "2 tracks", "Playing 1 of 2: River by Reprise, 0:15", "Paused at 0:02", "Playing at 0:02",
                "At about 0:09", "Buffering at 0:09", "Playing at about 0:09",
                "Playing 2 of 2: Alone by Reprise, 0:15, from 0:04", "Alone is pinned",
            ]
        )
    }

    @Test func `the sound devices become one line`() {
        let devices = [
            SoundDevice("a", title: "Loudspeaker"), SoundDevice("b", title: "Headphones", isCurrent: true),
        ]
        #expect(
            lines(for: [.devices(devices, chosen: nil)])
                == ["Other device: Loudspeaker (a); Sound goes to Headphones (b)"]
        )
    }

    @Test func `a track that is selected during a pause is announced`() {
        let lines = lines(for: [
            .loaded(tracks: 2), Self.track(1, "River"), .playing(index: 1, position: .zero, isExact: true),
            .paused(index: 1, position: .zero, isExact: true), Self.end(1), Self.track(2, "Alone"),
            Self.track(2, "Alone"), .playing(index: 2, position: .zero, isExact: true),
        ])
        #expect(lines.suffix(2) == ["Paused 2 of 2: Alone by Reprise, 0:15", "Playing at 0:00"])
    }

    @Test(arguments: [
        ("http://h/a/02%20-%20song%202.mp3", "02 - song 2.mp3"), ("/music/100%25.mp3", "100%25.mp3"),
        ("http://h/a%1B%5B2J.mp3", "a\u{FFFD}[2J.mp3"),
    ])
    func `the name of a URL is read out decoded`(source: String, name: String) {
        let track = PlayerEvent.track(PlayerEvent.TrackReport(index: 1, source: SafeText(source)))
        let said = lines(for: [.loaded(tracks: 1), track, .playing(index: 1, position: .zero, isExact: true)])
        #expect(said.last == SafeText("Playing 1 of 1: \(name)"))
    }

    @Test func `a live stream that was reconnected without a stop is not announced again`() {
        let playing = PlayerEvent.playing(index: 1, position: .seconds(9), isExact: true)
        let lines = lines(for: [
            .loaded(tracks: 1), Self.track(1, "News", isLive: true), playing, playing,
            .buffering(index: 1, position: .seconds(9)), playing, playing,
        ])
        #expect(lines.dropFirst(2) == ["Buffering at 0:09", "Playing at 0:09"])
    }

    @Test func `a live stream's new title is announced once`() {
        let lines = lines(for: [
            .loaded(tracks: 1), Self.track(1, "News", isLive: true),
            .playing(index: 1, position: .zero, isExact: true), Self.track(1, "News", isLive: true),
            Self.track(1, "Jazz", isLive: true),
        ])
        #expect(
            lines.dropFirst() == [
                "Playing 1 of 1: News by Reprise, 0:15", "Playing 1 of 1: Jazz by Reprise, 0:15",
            ]
        )
    }
}
