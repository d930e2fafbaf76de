import Foundation
import TestSupport
import Testing

/// The same player on PipeWire, which speaks PulseAudio's protocol in its own way.
@Suite(.serialized)
struct RealPipeWireTests {
    @Test func `on PipeWire three pieces of one wave are heard as one`() async throws {
        let folder = try TemporaryFolder()
        let cuts = [2 * 44_100 + 10_007, 4 * 44_100 + 30_011]
        let pieces = try await RealMusic.pieces(seconds: 6, cuts: cuts, in: folder.path)
        let music = try await RealMusic(of: pieces)
        let server = try await PipeWireServer()
        let recording = try server.record()
        try await wait(for: "the recording to run") { recording.frameCount > 0 }
        let player = try RunningProcess(
            BuiltProducts.reprise,
            ["--headless", "--json", "--no-cache", "--sink", "pulse:test"] + pieces,
            environment: server.environment.mapValues { Optional($0) }
        )
        #expect(try await player.waitForExit() == 0, "\(player.errorText)")
        let atEnd = recording.frameCount
        try await wait(for: "silence behind the music") { recording.frameCount > atEnd + 22_050 }
        let samples = try await recording.stop()
        let heard = HeardMusic(RealMusic.frames(samples), in: music.frames)
        expectWhole(heard, of: music, cuts: cuts)
        #expect(try player.events.last?.stalls == 0)
        #expect(secondsHeard(samples) == Array(0..<6))
    }
}
