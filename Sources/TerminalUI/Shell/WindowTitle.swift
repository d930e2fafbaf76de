package import Media

/// What the terminal's window is called.
package enum WindowTitle {
    /// The track that is heard, and the program's name.
    package static func text(for player: PlayerSnapshot, glyphs: Glyphs) -> SafeText {
        guard let index = player.currentIndex, player.tracks.indices.contains(index),
            player.state != .stopped, player.state != .ended
        else { return "Reprise" }
        let name = QueueRow.name(of: player.tracks[index], tags: player.info?.tags, glyphs: glyphs)
        return name + " " + glyphs.dash + " Reprise"
    }
}
