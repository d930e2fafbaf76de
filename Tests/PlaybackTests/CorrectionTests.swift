import Media
import TestSupport
import Testing

@testable import Playback

/// Estimated positions, and the scans of stored bytes that correct them.
@Suite struct CorrectionTests {
    private func positions(_ stage: Stage) -> [(position: Int64, isExact: Bool)] {
        stage.events.compactMap { event in
            guard case .position(_, let position, _, let isExact, _) = event else { return nil }
            return (position.milliseconds, isExact)
        }
    }

    /// Music whose landings are 700 frames off, which `slices` of stored bytes show.
    private func piece(slices: Int) -> FakeMusic {
        var piece = FakeMusic(number: 1, frames: 60_000)
        piece.estimate = (700, slices)
        return piece
    }

    @Test func `an estimated position is corrected by one event, and the sound does not change`() async throws
    {
        let piece = piece(slices: 5)
        let stage = Stage([piece], sink: TestSink(allowance: 500))
        try await stage.sound(heard: 500) { stage in
            stage.player.send(.seek(.to(.seconds(30))))
            try await wait(for: "the correction") {
                positions(stage).contains { $0.isExact } && stage.player.snapshot.isExact
            }
            // No more frames are taken, so no time passes: only the correction is reported.
            #expect(positions(stage).map(\.position) == [30_700])
            #expect(stage.player.snapshot.position == .milliseconds(30_700))
            #expect(stage.story.suffix(2) == ["seeked 1 at 30000", "playing 1 at 30000"])
            stage.sink.allow(frames: 400)
            try await wait(for: "the sound") { stage.sink.pcm.count == 900 * 4 }
            // The music itself continues without a lost or repeated frame.
            let heard = stage.sink.pcm[(500 * 4)...]
            #expect(Array(heard) == Array(piece.pcm[(30_000 * 4)...].prefix(400 * 4)))
        }
    }

    @Test func `stored bytes are scanned only while the ring is full, and once if none are left`()
        async throws
    {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 0))
        try await stage.play { stage in
            try await wait(for: "the full ring") { stage.readers.first?.scanCount == 1 }
            let reads = stage.readers[0].readOffsets.count
            stage.sink.allow(frames: 500)
            try await wait(for: "the music") { stage.sink.heardFrames == 500 }
            // Less than half of the ring is free: the writer is not resumed.
            #expect(stage.readers[0].scanCount == 1 && stage.readers[0].readOffsets.count == reads)
            stage.sink.allow(frames: 600)
            try await wait(for: "the ring to be full again") { stage.readers[0].scanCount == 2 }
        }
    }

    @Test(arguments: [false, true])
    func `the bytes before an estimated position are fetched if fetching in the background is on`(
        fills: Bool
    ) async throws {
        let stage = Stage([piece(slices: .max)], sink: TestSink(allowance: 500), fills: fills)
        try await stage.sound { stage in
            #expect(!stage.readers[0].isFilled)
            stage.player.send(.seek(.to(.seconds(30))))
            try await wait(for: "the place") {
                stage.story.last == "playing 1 at 30000" && stage.player.snapshot.state == .playing
            }
            #expect(stage.readers[0].isFilled == fills)
        }
    }

    @Test func `a seek ends the scan at once`() async throws {
        let stage = Stage([piece(slices: .max)], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            stage.player.send(.seek(.to(.seconds(30))))
            try await wait(for: "the scan") { stage.readers[0].scanCount > 20 }
            stage.player.send(.seek(.to(.seconds(50))))
            try await wait(for: "the other place") { stage.story.last == "playing 1 at 50000" }
            // Nothing at the old position is read, corrected or heard any more.
            let place = try #require(stage.readers[0].readOffsets.firstIndex { $0 >= 200_000 })
            #expect(stage.readers[0].readOffsets[place...].allSatisfy { $0 >= 200_000 })
            #expect(stage.player.snapshot.position == .seconds(50) && !stage.player.snapshot.isExact)
        }
    }
}
