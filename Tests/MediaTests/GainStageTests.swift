import Media
import TestSupport
import Testing

@Suite struct GainStageTests {
    private static let stereo = AudioFormat(sampleRate: 44_100, channelCount: 2)

    private func scaled(_ samples: [Int16], by level: Loudness.Level) -> [Int16] {
        var samples = samples
        samples.withUnsafeMutableBytes {
            GainStage(level).apply(to: $0, of: Self.stereo)
        }
        return samples
    }

    @Test func `no gain changes no sample`() {
        let samples: [Int16] = [0, 1, -1, .max, .min]
        #expect(scaled(samples, by: Loudness.Level(gain: 0, peak: 1)) == samples)
        #expect(scaled(samples, by: Loudness.Level()) == samples)
        #expect(GainStage.unity.isUnity && GainStage(Loudness.Level(gain: 0)).isUnity)
    }

    @Test func `decibels scale by their factor, rounded to the nearest`() {
        #expect(scaled([10_000, -10_000, 3], by: Loudness.Level(gain: -20)) == [1_000, -1_000, 0])
        #expect(scaled([1_000, -7], by: Loudness.Level(gain: 20, peak: 0.05)) == [10_000, -70])
    }

    @Test func `the peak bounds the factor, and without one nothing is raised`() {
        // +6 dB would double; the peak of 0.8 leaves room for a quarter more.
        #expect(scaled([26_214], by: Loudness.Level(gain: 6, peak: 0.8)) == [32_767])
        #expect(scaled([20_000], by: Loudness.Level(gain: 6)) == [20_000])
        #expect(scaled([20_000], by: Loudness.Level(gain: 0, peak: 2)) == [10_000])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `no sample within the peak is ever clipped, and none turns its sign`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let peak = Double.random(in: 0.001...1.5, using: &random)
        let level = Loudness.Level(gain: .random(in: -64...64, using: &random), peak: peak)
        let most = min(peak * 32_768, 32_767)
        let samples =
            (0..<500).map { _ in Int16(Double.random(in: -most...most, using: &random)) } + [Int16(most)]
        for (before, after) in zip(samples, scaled(samples, by: level)) {
            #expect(Int(before).signum() * Int(after).signum() >= 0)
            // Clipping would show as full scale where the exact product is well below it.
            #expect(abs(Int(after)) < 32_767 || abs(Double(before)) >= 0.999 * most)
        }
    }

    @Test func `samples of 32 bits are scaled like those of 16, and none overflows`() {
        let level = Loudness.Level(gain: -20)
        let format = { AudioFormat(sampleRate: 96_000, channelCount: 1, sample: $0) }
        var integers: [Int32] = [0, 1_000_000_000, -1_000_000_007, .max, .min]
        integers.withUnsafeMutableBytes { GainStage(level).apply(to: $0, of: format(.s32)) }
        for (scaled, exact) in zip(integers, [0, 1e8, -100_000_000.7, 214_748_364.7, -214_748_364.8]) {
            #expect(abs(Double(scaled) - exact) <= abs(exact) * 1e-4)
        }
        var loud: [Int32] = [.max, .min, 1]
        loud.withUnsafeMutableBytes {
            GainStage(Loudness.Level(gain: 64, peak: 0.0001)).apply(to: $0, of: format(.s32))
        }
        #expect(loud == [.max, .min, 1_585])
        var floats: [Float] = [0, 1, -0.5, 1.5]
        floats.withUnsafeMutableBytes { GainStage(level).apply(to: $0, of: format(.f32)) }
        for (scaled, exact) in zip(floats, [0, 0.1, -0.05, 0.15] as [Float]) {
            #expect(abs(scaled - exact) < 1e-4)
        }
    }

    @Test func `a wrong peak clips instead of wrapping, and an impossible gain is ignored`() {
        #expect(scaled([.max, .min], by: Loudness.Level(gain: 40, peak: 0.01)) == [.max, .min])
        for decibels in [Double.nan, .infinity, -.infinity] {
            #expect(GainStage(Loudness.Level(gain: decibels)).isUnity)
        }
    }

    @Test(
        arguments: [
            (GainMode.off, -3.0, -6.0, nil), (.track, -3, -6, -3), (.album, -3, -6, -6),
            (.track, nil, -6, -6), (.album, -3, nil, -3), (.track, nil, nil, nil),
        ] as [(GainMode, Double?, Double?, Double?)]
    )
    func `a mode takes its own measurement, else the other, else none`(
        mode: GainMode,
        track: Double?,
        album: Double?,
        expected: Double?
    ) {
        let loudness = Loudness(track: .init(gain: track), album: .init(gain: album))
        let decibels = loudness.stage(for: mode).decibels
        #expect((decibels == nil) == (expected == nil))
        if let decibels, let expected { #expect(abs(decibels - expected) < 0.001) }
    }

    @Test func `an album without a peak is bounded by the track's peak, and a peak alone is no gain`() {
        let loudness = Loudness(track: .init(peak: 0.5), album: .init(gain: 12))
        #expect(abs((loudness.stage(for: .album).decibels ?? 0) - 6.02) < 0.01)
        #expect(Loudness(track: .init(peak: 1.5)).stage(for: .track).isUnity)
    }

    @Test func `a change of gain is spread over the frames, without a jump in either channel`() {
        var samples = [Int16](repeating: 10_000, count: 2_000)
        let stage = GainStage(Loudness.Level(gain: -20))
        samples.withUnsafeMutableBytes { stage.apply(to: $0, of: Self.stereo, from: .unity) }
        #expect(samples[0] == 10_000 && samples[1] == 10_000)
        #expect((1_000...1_020).contains(samples[1_999]))
        for frame in 1..<1_000 {
            #expect(samples[2 * frame] == samples[2 * frame + 1])
            #expect((0...20).contains(samples[2 * frame - 2] - samples[2 * frame]))
        }
    }
}
