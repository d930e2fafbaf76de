import Glibc

/// Makes samples louder or softer by one factor that never clips.
package struct GainStage: Sendable, Equatable {
    /// Fractional bits of the factor.
    private static let shift: Int64 = 16

    /// The factor in units of 1/65,536.
    private let factor: Int64

    /// Changes nothing.
    package static let unity = GainStage(factor: 1 << shift)

    private init(factor: Int64) { self.factor = factor }

    /// A stage of `level.gain` dB, without one of 0 dB, and `preamplification` dB on top; lowered so far that a
    /// sample of `level.peak` stays within full scale.
    ///
    /// Without a peak nothing says how far a sample may be raised, so the factor is at most 1.
    package init(_ level: Loudness.Level, preamplification: Double = 0) {
        let decibels = (level.gain ?? 0) + preamplification
        guard decibels.isFinite else {
            self = .unity
            return
        }
        let limit = level.peak.map { 1 / $0 } ?? 1
        let scale = min(pow(10, min(decibels, Loudness.mostDecibels) / 20), max(limit, 0))
        // Rounded down, so that the peak itself never comes out above full scale.
        factor = Int64(scale * Double(1 << Self.shift))
    }

    /// Whether samples come out as they went in.
    package var isUnity: Bool { factor == 1 << Self.shift }

    /// The factor in dB, as it is shown; nil for a stage that changes nothing, and for one that leaves nothing.
    package var decibels: Double? {
        isUnity || factor <= 0 ? nil : 20 * log10(Double(factor) / Double(1 << Self.shift))
    }

    /// Scales `samples`, interleaved frames of `channelCount`, moving evenly from `start` at the first frame to this
    /// stage behind the last, so that no jump can be heard.
    package func apply(
        to samples: UnsafeMutableBufferPointer<Int16>,
        channelCount: Int,
        from start: GainStage
    ) {
        guard start != self else { return apply(to: samples) }
        let frames = Int64(max(1, samples.count / channelCount))
        for index in samples.indices {
            let frame = Int64(index / channelCount)
            // Within 2^27 times the number of frames of one ramp, far below overflow.
            let mixed = start.factor + (factor - start.factor) * frame / frames
            samples[index] = Self.scaled(samples[index], by: mixed)
        }
    }

    /// Scales `samples` where they are: rounded to the nearest, and held within 16 bits also where the
    /// stated peak was a lie.
    package func apply(to samples: UnsafeMutableBufferPointer<Int16>) {
        guard !isUnity else { return }
        for index in samples.indices { samples[index] = Self.scaled(samples[index], by: factor) }
    }

    private static func scaled(_ sample: Int16, by factor: Int64) -> Int16 {
        Int16(clamping: (Int64(sample) * factor + 1 << (shift - 1)) >> shift)
    }
}
