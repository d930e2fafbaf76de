internal import Media

// The picture of the sound.
extension UIState {
    /// Whether the picture is in view and the music moves it.
    package var movesSound: Bool { sound != nil && !layout.soundRows.isEmpty && player.state == .playing }

    mutating func toggleSound() -> [UIAction] {
        sound = sound == nil ? SoundBars() : nil
        fitLayout(columns: layout.columns, rows: layout.rows)
        if sound != nil, layout.soundRows.isEmpty {
            answer = Answer(text: "the picture of the sound wants a larger window", isError: false)
        }
        return [.watchSound(sound != nil)]
    }

    /// Where no music goes on, no bar stays up; in a pause they stand still.
    mutating func settleSound() {
        switch player.state {
        case .playing, .paused, .buffering: break
        case .stopped, .opening, .ended: if sound != nil { sound = SoundBars() }
        }
    }
}
