internal import Glibc
package import Media

/// The bars of the picture of the sound: they rise at once and fall gently. Pure.
package struct SoundBars: Sendable, Equatable {
    /// How far a channel's meter reaches.
    package struct Meter: Sendable, Equatable {
        /// The mean and the peak in decibels, 0...1 like a band.
        package var mean: Float
        package var peak: Float
    }

    /// Parts of the height that a bar falls in a second: slow enough to be seen, fast enough for drums.
    static let fall: Float = 1.5

    /// The heights, 0...1, the lowest band first; empty before the first picture.
    package private(set) var bands: [Float] = []
    package private(set) var meters: [Meter] = []
    private var shownAt: Duration?

    package init() {}

    /// Takes the picture of this moment, or that there is none, at `now` of any clock.
    package mutating func show(_ picture: SoundPicture?, at now: Duration) {
        let elapsed = shownAt.map { max(.zero, now - $0) } ?? .zero
        shownAt = now
        let fall = Self.fall * Float(elapsed / .seconds(1))
        if let picture, picture.bands.count != bands.count {
            bands = Array(repeating: 0, count: picture.bands.count)
        }
        if let picture, picture.levels.count != meters.count {
            meters = Array(repeating: Meter(mean: 0, peak: 0), count: picture.levels.count)
        }
        for index in bands.indices {
            bands[index] = max(0, bands[index] - fall, picture?.bands[index] ?? 0)
        }
        for index in meters.indices {
            let level = picture?.levels[index] ?? SoundPicture.Level(peak: 0, rms: 0)
            meters[index].mean = max(0, meters[index].mean - fall, Self.loudness(level.rms))
            meters[index].peak = max(0, meters[index].peak - fall, Self.loudness(level.peak))
        }
    }

    /// An amplitude in decibels, 0...1.
    private static func loudness(_ amplitude: Float) -> Float {
        guard amplitude > 0 else { return 0 }
        return min(1, max(0, 1 - 20 * log10(amplitude) / SoundPicture.quietest))
    }
}
