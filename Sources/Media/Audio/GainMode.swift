/// Whether music is made as loud as other music, and by which of its two measurements.
package enum GainMode: String, Sendable, CaseIterable {
    /// Samples reach the sink as they were decoded.
    case off
    /// Every track sounds equally loud.
    case track
    /// Every album does, and the tracks of one keep their distances.
    case album

    /// The mode that follows when the listener goes round.
    package var next: GainMode {
        switch self {
        case .off: .track
        case .track: .album
        case .album: .off
        }
    }
}

extension Loudness {
    /// What `mode` makes of this music.
    ///
    /// Where only the other measurement was made, that one counts. Music without a gain stays as it is.
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
