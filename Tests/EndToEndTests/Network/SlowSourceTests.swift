import RepriseOrigin
import TestSupport
import Testing

/// A source whose server never answers, beside good ones, in the built program.
@Suite struct SlowSourceTests {
    private let stage: Stage
    private let gate: OriginGate
    /// A song of 40 seconds, so that the music plays until the screen was read, on a busy machine too.
    private let music: String

    init() async throws {
        stage = try await Stage()
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        music = try stage.folder.write(song, to: "song.mp3")
        gate = stage.server.origin.hold("/silent.m3u", .beforeHead)
        for (list, track) in [("/silent.m3u", "1.mp3"), ("/list.m3u", "2.mp3")] {
            stage.server.set(Array("\(track)\n".utf8), at: list)
            stage.server.set(song, at: "/" + track)
        }
    }

    @Test func `the screen names the source that does not answer, and plays the next one at a key`()
        async throws
    {
        let sources = [stage.url("/silent.m3u"), stage.url("/list.m3u"), music]
        let screen = try await ScreenStage(sources, folder: stage.folder)
        try await screen.waitForStatus(containing: "reading silent.m3u (Esc stops)")
        try await screen.keys(">")
        try await screen.waitForStatus("Playing")
        try await screen.terminal.wait(for: "2 tracks")
        // Its tracks join at the end once they are read.
        gate.release()
        try await screen.terminal.wait(for: "3 tracks")
        try await screen.quit()
    }

    @Test func `an addition that does not answer does not hold up the next one`() async throws {
        let screen = try await ScreenStage.playing([music], folder: stage.folder)
        try await screen.command("add \(stage.url("/silent.m3u"))")
        try await gate.reached()
        try await screen.command("add \(stage.url("/list.m3u"))")
        try await screen.terminal.wait(for: "2 tracks")
        try await screen.waitForStatus(containing: "reading silent.m3u (Esc stops)")
        gate.release()
        try await screen.quit()
    }

    @Test(arguments: [true, false])
    func `without a screen it is named, and next passes over it, or it holds the others in their order`(
        isPassedOver: Bool
    ) async throws {
        let run = try stage.session([stage.url("/silent.m3u"), stage.url("/list.m3u")])
        // A server that is starved for the two seconds before the first notice brings the one track only for
        // the next.
        let line = try await run.process.waitForLine { $0.contains("so far)") }
        let notice = try ReportedEvent(line: line)
        #expect(notice.event == "notice" && notice.code == "reading")
        #expect(notice.message == "Reading silent.m3u (1 track so far)")
        #expect(try run.events.allSatisfy { $0.event != "loaded" })
        if isPassedOver {
            try run.command("next")
            try await run.event("playing")
        }
        gate.release()
        try await run.finish()
        let finished = try run.events.filter { $0.event == "track" }.compactMap {
            $0.source.map { String($0.suffix(5)) }
        }
        let order = finished.reduce(into: [String]()) { order, name in
            if order.last != name { order.append(name) }
        }
        #expect(order == (isPassedOver ? ["2.mp3", "1.mp3"] : ["1.mp3", "2.mp3"]))
    }
}
