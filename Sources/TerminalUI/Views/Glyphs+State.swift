internal import Media

extension Glyphs {
    /// The sign of what the player does.
    func sign(of state: PlayerSnapshot.State) -> SafeText {
        switch state {
        case .playing: playing
        case .paused: paused
        case .stopped, .ended: stopped
        case .opening, .buffering: waiting
        }
    }

    /// The word for what the player does; words of waiting end in `more`.
    func word(for state: PlayerSnapshot.State) -> SafeText {
        switch state {
        case .stopped: "Stopped"
        case .opening: "Opening" + more
        case .playing: "Playing"
        case .paused: "Paused"
        case .buffering: "Buffering" + more
        case .ended: "Ended"
        }
    }
}
