import Glibc

/// The loudness that tags state for a track (ReplayGain 1.0 and 2.0), on its own and as part of its album.
package struct Loudness: Sendable, Equatable {
    /// The gain and peak of the track, or of its whole album.
    package struct Level: Sendable, Equatable {
        /// The gain in dB that gives the music the same loudness as other music; within ±`mostDecibels`.
        package var gain: Double?
        /// The largest sample, 1 being full scale; 0...`highestPeak`.
        package var peak: Double?

        package init(gain: Double? = nil, peak: Double? = nil) {
            self.gain = gain.flatMap { abs($0) <= Loudness.mostDecibels ? $0 : nil }
            self.peak = peak.flatMap { $0 > 0 && $0 <= Loudness.highestPeak ? $0 : nil }
        }

        package var isEmpty: Bool { gain == nil && peak == nil }

        /// This level, with missing values taken from `other`.
        package func filled(from other: Level) -> Level {
            Level(gain: gain ?? other.gain, peak: peak ?? other.peak)
        }
    }

    /// The largest accepted gain, twice that of any real measurement.
    package static let mostDecibels = 64.0
    /// The largest accepted peak; lossy codecs overshoot full scale by far less.
    package static let highestPeak = 16.0

    package var track: Level
    package var album: Level

    package init(track: Level = Level(), album: Level = Level()) {
        self.track = track
        self.album = album
    }

    package var isEmpty: Bool { track.isEmpty && album.isEmpty }

    /// This loudness, with missing values taken from `other`.
    package func filled(from other: Loudness) -> Loudness {
        Loudness(track: track.filled(from: other.track), album: album.filled(from: other.album))
    }
}

/// The way in which loudness is normalized.
package enum GainMode: String, Sendable, CaseIterable {
    /// Samples are not changed.
    case off
    /// All tracks are equally loud.
    case track
    /// All albums are equally loud, and the tracks of an album keep their differences.
    case album

    /// The next mode, when the user cycles through them.
    package var next: GainMode {
        switch self {
        case .off: .track
        case .track: .album
        case .album: .off
        }
    }
}

extension Loudness {
    /// The stage that applies `mode` to this music.
    ///
    /// If only the other level (track instead of album, or album instead of track) has a gain, its gain is
    /// used. Music without any gain is not changed.
    package func stage(for mode: GainMode) -> GainStage {
        let level: Level
        switch mode {
        case .off: return .unity
        case .track: level = track.gain == nil ? album.filled(from: track) : track
        case .album: level = album.gain == nil ? track : album.filled(from: track)
        }
        return level.gain == nil ? .unity : GainStage(level)
    }
}

/// Scales samples by one factor, which avoids clipping if the stated peak is correct.
package struct GainStage: Sendable, Equatable {
    /// Fractional bits of the factor.
    private static let shift: Int64 = 16

    /// The factor in units of 1/65,536.
    private let factor: Int64

    /// The stage that leaves samples unchanged.
    package static let unity = GainStage(factor: 1 << shift)

    private init(factor: Int64) { self.factor = factor }

    /// A stage that multiplies by `share`, 0...1.
    package init(share: Double) { factor = Int64(share * Double(1 << Self.shift)) }

    /// A stage of `level.gain` dB (0 if there is none), lowered if necessary so that a sample of `level.peak`
    /// stays within full scale.
    ///
    /// Without a peak, any amplification might clip, so the factor is at most 1.
    package init(_ level: Loudness.Level) {
        let limit = level.peak.map { 1 / $0 } ?? 1
        let scale = min(pow(10, (level.gain ?? 0) / 20), limit)
        // Rounded down, so that the peak never exceeds full scale.
        factor = Int64(scale * Double(1 << Self.shift))
    }

    /// `true` if the stage changes nothing.
    package var isUnity: Bool { factor == 1 << Self.shift }

    /// The factor in dB, for display; `nil` if the stage changes nothing or silences everything.
    package var decibels: Double? {
        isUnity || factor <= 0 ? nil : 20 * log10(Double(factor) / Double(1 << Self.shift))
    }

    /// Scales `pcm`, whole frames of `format`, by a factor that changes linearly from that of `start` at the
    /// first frame to this stage's after the last, so that the change does not click.
    package func apply(to pcm: UnsafeMutableRawBufferPointer, of format: AudioFormat, from start: GainStage) {
        guard start != self else { return apply(to: pcm, of: format) }
        let channels = format.channelCount
        let frames = Int64(max(1, pcm.count / format.bytesPerFrame))
        // At most 2^27 times the number of frames of one ramp: far below overflow.
        scale(pcm, format.sample) { index in
            start.factor + (factor - start.factor) * Int64(index / channels) / frames
        }
    }

    /// Scales `pcm` in place.
    ///
    /// Integers are rounded to the nearest, and clipped if the stated peak was too low; floating-point
    /// samples are not clipped, since they may exceed full scale anyway.
    package func apply(to pcm: UnsafeMutableRawBufferPointer, of format: AudioFormat) {
        guard !isUnity else { return }
        scale(pcm, format.sample) { _ in factor }
    }

    private func scale(
        _ pcm: UnsafeMutableRawBufferPointer,
        _ format: SampleFormat,
        by factor: (Int) -> Int64
    ) {
        switch format {
        case .s16: scale(pcm.assumingMemoryBound(to: Int16.self), by: factor)
        case .s32: scale(pcm.assumingMemoryBound(to: Int32.self), by: factor)
        case .f32:
            let samples = pcm.assumingMemoryBound(to: Float.self)
            for index in samples.indices {
                samples[index] *= Float(factor(index)) / Float(Int64(1) << Self.shift)
            }
        }
    }

    private func scale<Sample: FixedWidthInteger & SignedInteger>(
        _ samples: UnsafeMutableBufferPointer<Sample>,
        by factor: (Int) -> Int64
    ) {
        for index in samples.indices {
            // A factor of `mostDecibels` is below 2^27, so the product stays below 2^59.
            let product = Int64(samples[index]) * factor(index)
            samples[index] = Sample(clamping: (product + 1 << (Self.shift - 1)) >> Self.shift)
        }
    }
}
