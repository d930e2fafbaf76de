/// How loud a piece of music says it is (ReplayGain 1.0 and 2.0), by itself and as a part of its album.
package struct Loudness: Sendable, Equatable {
    /// What is said of the track, or of the whole album.
    package struct Level: Sendable, Equatable {
        /// In dB, to be added so that the music sounds as loud as other music; within ±`mostDecibels`.
        package var gain: Double?
        /// The largest sample, 1 being full scale; 0...`highestPeak`.
        package var peak: Double?

        package init(gain: Double? = nil, peak: Double? = nil) {
            self.gain = gain.flatMap { abs($0) <= Loudness.mostDecibels ? $0 : nil }
            self.peak = peak.flatMap { $0 > 0 && $0 <= Loudness.highestPeak ? $0 : nil }
        }

        package var isEmpty: Bool { gain == nil && peak == nil }

        /// This level, with what `other` says where this one says nothing.
        package func filled(from other: Level) -> Level {
            Level(gain: gain ?? other.gain, peak: peak ?? other.peak)
        }
    }

    /// Twice what any honest measurement gives; more would be an attack on ears.
    package static let mostDecibels = 64.0
    /// Overshoots of lossy coding stay far below.
    package static let highestPeak = 16.0

    package var track: Level
    package var album: Level

    package init(track: Level = Level(), album: Level = Level()) {
        self.track = track
        self.album = album
    }

    package var isEmpty: Bool { track.isEmpty && album.isEmpty }

    /// This loudness, with what `other` says where this one says nothing.
    package func filled(from other: Loudness) -> Loudness {
        Loudness(track: track.filled(from: other.track), album: album.filled(from: other.album))
    }
}
