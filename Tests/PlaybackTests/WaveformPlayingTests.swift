import Media
import System
import TestSupport
import Testing

@testable import Playback

struct WaveformPlayingTests {
    /// The waveform of the frames of `music` in `range`.
    private func waveform(_ music: FakeMusic, _ range: Range<Int>? = nil) -> Waveform {
        let range = range ?? 0..<music.frames
        let width = music.format.bytesPerFrame
        var waveform = Waveform(duration: music.format.duration(of: FrameCount(music.frames)))
        Array(music.pcm[range.lowerBound * width..<range.upperBound * width]).withUnsafeBytes {
            waveform.add($0, of: music.format, at: FrameCount(range.lowerBound))
        }
        return waveform
    }

    /// The waveform now: the clock stands still, so that only a command makes a new snapshot.
    private func current(_ stage: Stage) -> Waveform {
        stage.player.send(.volume(50))
        return stage.player.snapshot.waveform
    }

    @Test func `what is decoded is in the snapshot, and is stored with the entry`() async throws {
        let music = FakeMusic(number: 1, frames: 9_000)
        let stage = Stage([music])
        _ = await stage.play()
        #expect(stage.readers[0].storedWaveform == waveform(music))
        let slow = Stage([music], sink: TestSink(allowance: 500))
        try await slow.sound { stage in
            let heights = stage.player.snapshot.waveform.heights(9, of: .seconds(9))
            #expect(heights.first.map { $0 != nil } == true)
        }
    }

    @Test func `what an earlier session has stored is there at once, and stays`() async throws {
        var music = FakeMusic(number: 1, frames: 900_000)
        music.waveform = waveform(music, 610_000..<900_000).bytes
        let stage = Stage([music], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            let heights = stage.player.snapshot.waveform.heights(9, of: .seconds(900))
            #expect(heights.map { $0 == nil }.suffix(4) == [true, false, false, false])
        }
        let stored = stage.readers[0].storedWaveform?.heights(9, of: .seconds(900)) ?? []
        #expect(stored.map { $0 == nil }.suffix(4) == [true, false, false, false])
        #expect(stored.first.map { $0 != nil } == true)
    }

    @Test func `what is cached of the current track is decoded in the background, and nothing else is read`()
        async throws
    {
        var music = FakeMusic(number: 1, frames: 400_000)
        music.storedCount = Int64(100_000 * music.format.bytesPerFrame)
        let stage = Stage([music], sink: TestSink(allowance: 500), scansPeaks: true)
        try await stage.sound { stage in
            try await wait(for: "the peaks") { current(stage).isKnown(at: .seconds(99)) }
            #expect(!stage.player.snapshot.waveform.isKnown(at: .milliseconds(100_500)))
        }
        #expect(stage.readers[0].readOffsets.allSatisfy { $0 < 100_000 * Int64(music.format.bytesPerFrame) })
    }

    @Test func `a scan leaves no hole behind music whose peaks are known`() async throws {
        var music = FakeMusic(number: 1, frames: 400_000)
        var known = waveform(music, 100_000..<198_000)
        // So near that it is reached within a 64th of the track.
        known.merge(waveform(music, 200_000..<201_000))
        music.waveform = known.bytes
        let stage = Stage([music], sink: TestSink(allowance: 500), scansPeaks: true)
        try await stage.sound { stage in
            try await wait(for: "all peaks") {
                current(stage).firstGap(from: .zero, before: .seconds(399)) == nil
            }
        }
    }

    @Test func `what a scan of a whole track finds is stored with the entry when playback ends`() async throws
    {
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 300_000) }
        let stage = Stage(pieces, sink: TestSink(allowance: 500), scansPeaks: true)
        try await stage.sound { stage in
            try await wait(for: "the peaks") { current(stage).isKnown(at: .seconds(299)) }
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
        }
        let whole = waveform(pieces[0]).heights(30, of: .seconds(300))
        let stored = stage.readers[0].storedWaveform?.heights(30, of: .seconds(300)) ?? []
        #expect(stored.count == 30)
        for (left, right) in zip(stored, whole) { #expect(abs((left ?? 9) - (right ?? 9)) < 0.01) }
    }

    @Test func `nothing is scanned while playback is paused`() async throws {
        var music = FakeMusic(number: 1, frames: 400_000)
        music.storedCount = Int64(100_000 * music.format.bytesPerFrame)
        let stage = Stage([music], sink: TestSink(allowance: 500), scansPeaks: true)
        try await stage.sound { stage in
            // The player's timer, and the scan that looks for more bytes later.
            try await wait(for: "the end of a scan") { stage.clock.sleeperCount == 2 }
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.clock.sleeperCount == 0 }
            let count = stage.readers[0].decoderCount
            for _ in 0..<60 { stage.clock.advance(by: .seconds(1)) }
            #expect(stage.clock.sleeperCount == 0 && stage.readers[0].decoderCount == count)
            stage.player.send(.play)
            try await wait(for: "the next scan") { stage.readers[0].decoderCount > count }
        }
    }

    /// Notes the sleeps, which end at once.
    private final class SleeplessClock: MonotonicClock {
        let slept = Locked(Duration.zero)
        var now: Duration { .zero }
        func sleep(until time: Duration) async throws { slept.withLock { $0 += time } }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a scan takes at most one hundredth of a processor`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let clock = SleeplessClock()
        let worked = Locked(Duration.zero)
        let rest = PlaybackSettings.usualScanRest
        var pace = ScanPace(clock: clock, rest: rest) { worked.withLock { $0 } }
        for _ in 0..<200 {
            let work = Duration.microseconds(Int.random(in: 0...30_000, using: &random))
            let sum = worked.withLock { worked in
                worked += work
                return worked
            }
            try await pace.pause()
            // All but the slice that has begun.
            #expect(clock.slept.withLock { $0 } > (sum - ScanPace.slice) * 99)
        }
    }

    @Test func `behind a seek to an estimated position there are no peaks`() async throws {
        var music = FakeMusic(number: 1, frames: 400_000)
        music.estimate = (shift: 1_000, slices: .max)
        let stage = Stage([music], sink: TestSink(allowance: 500))
        try await stage.sound { stage in
            stage.player.send(.seek(.to(.seconds(200))))
            try await wait(for: "the place") { stage.player.snapshot.position >= .seconds(200) }
        }
        let heights = stage.readers[0].storedWaveform?.heights(4, of: .seconds(400)) ?? []
        #expect(heights.dropFirst(2).allSatisfy { $0 == nil })
    }
}
