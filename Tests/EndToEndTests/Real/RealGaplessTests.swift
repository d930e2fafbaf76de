import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Pieces of one wave over a line that takes its time.
@Suite(.serialized)
struct RealGaplessTests {
    /// Where the three pieces meet.
    private static let cuts = [2 * 44_100 + 10_007, 4 * 44_100 + 30_011]

    @Test func `over a line of 200 ms three pieces of one wave are exactly the wave's samples`() async throws
    {
        let stage = try await Stage()
        let (music, sources, server) = try await serve(stage)
        let sound = try await stage.session(sources).finish()
        expectSame(sound, as: music.frames.withUnsafeBytes { Data($0) })
        await server.stop()
    }

    @Test(arguments: RealServerKind.allCases)
    func `over a line of 200 ms the next track is there before it is needed, and no gap is heard`(
        kind: RealServerKind
    ) async throws {
        let real = try await RealStage(kind)
        let (music, sources, server) = try await serve(real.stage)
        let recording = try await real.audio.runningRecord()
        let player = try real.play(sources)
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let samples = try await recording.stopAfterSilence()
        // One piece: not one frame is missing or silent between the first and the last.
        expectWhole(HeardMusic(RealMusic.frames(samples), in: music.frames), of: music, cuts: Self.cuts)
        #expect(secondsHeard(samples) == Array(0..<6))
        #expect(try player.events.last?.stalls == 0)
        #expect(try player.events.count { $0.event == "playing" } == 3)
        await server.stop()
    }

    /// Serves three pieces of one wave 200 ms away.
    private func serve(_ stage: Stage) async throws -> (
        music: RealMusic, sources: [String], server: TestOrigin
    ) {
        let paths = try await RealMusic.pieces(seconds: 6, cuts: Self.cuts, in: stage.folder.path)
        let server = try TestOrigin(
            folder: stage.folder.path,
            shaping: Shaping(roundTrip: .milliseconds(200), bytesPerSecond: 400_000)
        )
        return (try await RealMusic(of: paths), (1...3).map { server.url("/piece-\($0).mp3") }, server)
    }
}
