import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Corks, and the end in every state that a stream can be in.
@Suite(.serialized)
struct RealQuitTests {
    enum Moment: CaseIterable { case paused, draining, stalled, lost }

    @Test(arguments: Moment.allCases, RealServerKind.allCases)
    func `a stream is corked in a pause and a stall only, and quitting never hangs`(
        moment: Moment,
        kind: RealServerKind
    ) async throws {
        let stage = try await RealStage(kind)
        let song = try await MP3Fixtures.bytes(.init(seconds: moment == .draining ? 3 : 20))
        let server = try TestOrigin(["/song.mp3": song])
        let gate = moment == .stalled ? server.origin.hold("/song.mp3", .afterBytesTogether(90_000)) : nil
        let player = try stage.play(["--no-cache", server.url("/song.mp3")])
        try await player.event("playing")
        // The short song could be over before the server has told.
        if moment != .draining { try await isCorked(false, stage) }
        switch moment {
        case .paused:
            try player.send("pause")
            try await isCorked(true, stage)
        case .draining:
            // The ring takes two of its three seconds at once, so by the first second all was handed over.
            try await player.event("position")
        case .stalled:
            try await player.event("buffering")
            try await isCorked(true, stage)
        case .lost:
            try await stage.audio.crash()
            try await player.event("buffering")
        }
        // On a busy machine the end of the short song may come first.
        do { try player.send("quit") } catch { try #require(moment == .draining) }
        #expect(try await player.waitForExit(deadline: .seconds(30)) == 0)
        #expect(try player.events.last?.event == "summary")
        gate?.release()
    }

    private func isCorked(_ isCorked: Bool, _ stage: RealStage) async throws {
        try await wait(for: "Corked: \(isCorked)") {
            try await stage.audio.pactl("list", "sink-inputs").contains("Corked: \(isCorked ? "yes" : "no")")
        }
    }
}
