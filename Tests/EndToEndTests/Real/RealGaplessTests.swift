import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Pieces of one wave over a line that takes its time.
@Suite(.serialized)
struct RealGaplessTests {
    /// Where the three pieces meet.
    private static let cuts = [2 * 44_100 + 10_007, 4 * 44_100 + 30_011]

    /// Serves three pieces of one wave 200 ms away.
    private func serve(_ folder: TemporaryFolder) async throws -> (music: RealMusic, server: TestOrigin) {
        let paths = try await RealMusic.pieces(seconds: 6, cuts: Self.cuts, in: folder.path)
        let server = try TestOrigin(
            folder: folder.path,
            shaping: Shaping(roundTrip: .milliseconds(200), bytesPerSecond: 400_000)
        )
        return (try await RealMusic(of: paths), server)
    }

    private func sources(_ server: TestOrigin) -> [String] {
        (1...3).map { server.url("/piece-\($0).mp3") }
    }

    @Test func `over a line of 200 ms three pieces of one wave are exactly the wave's samples`() async throws
    {
        let stage = try await RealStage()
        let (music, server) = try await serve(stage.folder)
        let player = try stage.play(["--sink", "raw:" + stage.folder.path("heard.raw")] + sources(server))
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let heard = try Data(contentsOf: URL(fileURLWithPath: stage.folder.path("heard.raw")))
        let isEqual = heard.withUnsafeBytes { $0.bindMemory(to: UInt32.self).elementsEqual(music.frames) }
        #expect(isEqual)
    }

    @Test func `over a line of 200 ms the next track is there before it is needed, and no gap is heard`()
        async throws
    {
        let stage = try await RealStage()
        let (music, server) = try await serve(stage.folder)
        let recording = try stage.audio.record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        let player = try stage.play(["--sink", "pulse:test"] + sources(server))
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let atEnd = recording.frameCount
        try await wait(for: "silence behind the music") { recording.frameCount > atEnd + 22_050 }
        let heard = HeardMusic(RealMusic.frames(try await recording.stop()), in: music.frames)
        // One piece: not one frame is missing or silent between the first and the last.
        expectWhole(heard, of: music, cuts: Self.cuts)
        #expect(try player.events.last?.stalls == 0)
        // Each track was requested while the previous one was heard.
        let events = try player.events.filter { $0.event == "playing" }
        #expect(events.count == 3)
    }
}
