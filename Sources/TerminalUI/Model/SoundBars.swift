internal import Glibc
package import Media

/// The bars of the spectrum and the level meters, which rise at once and fall slowly. Pure.
package struct SoundBars: Sendable, Equatable {
    /// The levels of one channel.
    package struct Meter: Sendable, Equatable {
        /// On a decibel scale, 0...1 like a band.
        package var mean: Float
        package var peak: Float
    }

    /// The share of the height that a bar falls per second: slow enough to see, fast enough for drums.
    static let fall: Float = 1.5
    /// The same for the peak above a bar, which the eye can follow.
    static let peakFall: Float = 0.4

    /// Heights, 0...1, the lowest band first; empty before the first picture.
    package private(set) var bands: [Float] = []
    /// The heights that the bands have reached of late.
    package private(set) var peaks: [Float] = []
    package private(set) var meters: [Meter] = []
    private var shownAt: Duration?

    /// Shows the current picture, `nil` if there is none, at the time `now` of any clock.
    package mutating func show(_ picture: SoundPicture?, at now: Duration) {
        let elapsed = shownAt.map { max(.zero, now - $0) } ?? .zero
        shownAt = now
        let seconds = Float(elapsed / .seconds(1))
        let fall = Self.fall * seconds
        if let picture, picture.bands.count != bands.count {
            bands = Array(repeating: 0, count: picture.bands.count)
            peaks = bands
        }
        if let picture, picture.levels.count != meters.count {
            meters = Array(repeating: Meter(mean: 0, peak: 0), count: picture.levels.count)
        }
        for index in bands.indices {
            bands[index] = max(0, bands[index] - fall, picture?.bands[index] ?? 0)
            peaks[index] = max(bands[index], peaks[index] - Self.peakFall * seconds)
        }
        for index in meters.indices {
            let level = picture?.levels[index] ?? SoundPicture.Level(peak: 0, rms: 0)
            meters[index].mean = max(0, meters[index].mean - fall, Self.loudness(level.rms))
            meters[index].peak = max(0, meters[index].peak - fall, Self.loudness(level.peak))
        }
    }

    /// An amplitude on a decibel scale, 0...1.
    private static func loudness(_ amplitude: Float) -> Float {
        guard amplitude > 0 else { return 0 }
        return min(1, max(0, 1 - 20 * log10(amplitude) / SoundPicture.quietest))
    }
}
