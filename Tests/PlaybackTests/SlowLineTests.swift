import Media
import TestSupport
import Testing

@testable import Playback

/// A line that is slower than the music.
@Suite struct SlowLineTests {
    /// A track that has had as many underruns as `count`, ten seconds apart, and waits for music after the
    /// last.
    private func stalled(_ count: Int, _ info: StreamInfo = .music()) -> PlayerState {
        var state = PlayerState.sounding(1, info)
        for stall in 1...count {
            state.send(.outputEvent(.underrun), now: .seconds(10 * stall))
            if stall < count { state.send(.passPrimed(1), .loaded(nil), .outputStarted) }
        }
        return state
    }

    @Test
    func `after each stall twice as much music is awaited, up to 8 s, and 1 s again after five calm minutes`()
    {
        var state = PlayerState.sounding(1)
        var now = Duration.zero
        let refills = [10, 10, 10, 10, 10, 301].flatMap { pause in
            now += .seconds(pause)
            let effects = state.send(.outputEvent(.underrun), now: now)
            state.send(.passPrimed(1), .loaded(nil), .outputStarted, now: now)
            return effects.compactMap { if case .requestPrime(_, let refill) = $0 { refill } else { nil } }
        }
        #expect(refills == [1, 2, 4, 8, 8, 1].map { .seconds($0) })
        #expect(state.output.isRunning)
    }

    @Test(arguments: [1, 2])
    func `up to 2 s the filled ring starts the sound`(stalls: Int) {
        var state = stalled(stalls)
        #expect(state.send(.passPrimed(1)) == [.startOutput])
    }

    @Test(arguments: [(3, 4), (4, 8), (5, 8)])
    func `more than the ring holds is awaited as bytes, measured when the ring is full and with each tick`(
        stalls: Int,
        seconds: Int
    ) {
        var state = stalled(stalls)
        #expect(state.send(.tick).isEmpty && state.send(.loaded(.seconds(9))).isEmpty, "the ring is not full")
        #expect(state.send(.passPrimed(1)) == [.measureLoaded])
        #expect(state.send(.loaded(.milliseconds(seconds * 1_000 - 1))).isEmpty)
        #expect(state.snapshotState == .buffering)
        #expect(state.send(.tick) == [.measureLoaded])
        #expect(state.send(.loaded(.seconds(seconds))) == [.startOutput])
    }

    @Test(arguments: [(192_000, 2, 2), (96_000, 8, 1), (96_000, 8, 2)])
    func `a refill is not cut to the size of the ring, which is smaller for much PCM`(
        rate: Int,
        channels: Int,
        stalls: Int
    ) {
        var info = StreamInfo.music(sampleRate: rate, channels: channels)
        info.format.sample = .s32
        var state = stalled(stalls, info)
        #expect(state.send(.passPrimed(1)) == [.measureLoaded])
        #expect(state.send(.loaded(.milliseconds(stalls * 1_000 - 1))).isEmpty)
        #expect(state.send(.loaded(.seconds(stalls))) == [.startOutput])
    }

    @Test func `if no more bytes arrive, the sound starts with what there is`() {
        var state = stalled(4)
        state.send(.passPrimed(1))
        #expect(state.send(.loaded(nil)) == [.startOutput])
    }

    @Test func `while paused nothing is measured or started, and play starts with what there is`() {
        var state = stalled(4)
        state.send(.pause)
        #expect(state.send(.passPrimed(1), .tick, .loaded(nil)).isEmpty)
        #expect(state.send(.play).contains(.startOutput))
    }

    @Test func `a seek waits for no more than any other`() {
        var state = stalled(4)
        state.send(.passPrimed(1))
        state.send(.seek(.to(.seconds(5))))
        state.send(.ready(2), .passGranted(2, start: 0))
        #expect(state.send(.passPrimed(2)) == [.startOutput])
    }

    @Test func `the last music of a track is not held back`() {
        var state = stalled(4)
        state.send(.passPrimed(1))
        #expect(state.send(.passWritten(1, frames: 900)).contains(.startOutput))
    }

    // MARK: How much is loaded

    /// At 4,000 bytes a second, 5 s into a track whose music begins at byte 400.
    private func music(
        stored: [ByteRange],
        inFlight: [ByteRange],
        _ change: (inout LoadReport) -> Void = { _ in }
    ) -> LoadedMusic {
        var report = LoadReport()
        report.length = 400_400
        for range in stored { report.stored.insert(contentsOf: range) }
        report.inFlight = inFlight
        change(&report)
        var info = StreamInfo.music(seconds: 100)
        info.audioStart = 400
        return LoadedMusic(report: report, info: info, position: .seconds(5), duration: .seconds(100))
    }

    @Test func `what is loaded counts from the heard byte to the first missing one, while that arrives`() {
        let stored = [0..<32_400, 100_000..<120_000] as [ByteRange]
        let music = music(stored: stored, inFlight: [32_400..<64_000])
        #expect(music.byteOffset == 20_400)
        #expect(music.buffered == .seconds(3) && music.arriving == .seconds(3))
    }

    @Test func `between two windows the next one counts as arriving`() {
        let next = music(stored: [0..<32_400], inFlight: [100_000..<164_000]) { $0.wanted = 32_400..<90_000 }
        #expect(next.arriving == .seconds(3))
        let other = music(stored: [0..<32_400], inFlight: []) { $0.wanted = 90_000..<100_000 }
        #expect(other.arriving == nil)
    }

    @Test(
        arguments: [
            ([0..<32_400], []), ([0..<32_400], [100_000..<164_000]), ([0..<400_400], [500_000..<564_000]),
        ] as [([ByteRange], [ByteRange])]
    )
    func `nothing arrives at the end, behind the read-ahead, or for another place of the track`(
        stored: [ByteRange],
        inFlight: [ByteRange]
    ) {
        #expect(music(stored: stored, inFlight: inFlight).arriving == nil)
    }

    @Test func `nothing arrives while the next attempt is awaited`() {
        let music = music(stored: [0..<32_400], inFlight: [32_400..<64_000]) {
            let error = MediaError(.cut, "x", "was cut")
            $0.wait = LoadWait(error: error, attempt: 1, mostAttempts: 10, retryAt: .seconds(9))
        }
        #expect(music.arriving == nil)
    }

    @Test func `before the track is opened nothing is loaded`() {
        let music = LoadedMusic(report: LoadReport(), info: nil, position: .zero, duration: nil)
        #expect(music.buffered == .zero && music.arriving == nil && music.byteOffset == nil)
    }

    @Test func `an underrun that is noticed when the ring is full again ends, however long its refill`()
        async throws
    {
        let stage = Stage([FakeMusic(number: 1, frames: 60_000)], sink: TestSink(allowance: 500))
        // So the paused ring is not quite full, while the decoder sleeps until half of it is free.
        stage.sink.setPauseLag(frames: 11)
        try await stage.sound(heard: 500) { stage in
            try await wait(for: "the sleeping decoder") { stage.readers[0].scanCount > 0 }
            for count in 1...3 {
                stage.sink.send(.underrun)
                try await wait(for: "underrun \(count)") {
                    stage.story.count { $0.hasPrefix("buffering") } == count
                        && stage.player.snapshot.state == .playing
                }
            }
        }
    }
}
