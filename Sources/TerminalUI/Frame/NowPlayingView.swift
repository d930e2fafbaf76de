package import Media

/// The current track and the position in it: `▶ Title – Artist    ~1:02 / 3:45`.
struct NowPlayingView {
    private static let fewestNameColumns = 8

    var glyphs: Glyphs
    var showsRemainingTime: Bool

    func draw(_ player: PlayerSnapshot, row: Int, into buffer: inout CellBuffer) {
        let sign = glyphs.sign(of: player.state)
        let nameColumn = buffer.draw(sign, column: 0, row: row, style: .playing) + 1
        guard let index = player.currentIndex, player.tracks.indices.contains(index) else { return }
        let times = timeTexts(player)
        // A narrow window drops the duration, then the position, so that the name stays readable.
        let time = times.first { buffer.columns - $0.columns - nameColumn > Self.fewestNameColumns } ?? ""
        let timeColumn = buffer.columns - time.columns
        let name = QueueRow.name(of: player.tracks[index], tags: player.info?.tags, glyphs: glyphs)
        buffer.draw(
            name,
            column: nameColumn,
            row: row,
            limit: timeColumn - 1 - nameColumn,
            style: .playing,
            ellipsis: glyphs.ellipsis
        )
        buffer.draw(time, column: timeColumn, row: row)
    }

    /// The position with and without the duration; `~` marks an estimate.
    private func timeTexts(_ player: PlayerSnapshot) -> [SafeText] {
        let guess = player.isExact ? "" : "~"
        guard let duration = player.duration else { return [SafeText(guess + player.position.clockTime)] }
        let remaining = max(.zero, duration - player.position)
        let time = showsRemainingTime ? "-" + remaining.clockTime : player.position.clockTime
        return [SafeText("\(guess)\(time) / \(duration.clockTime)"), SafeText(guess + time)]
    }
}

/// The title of the terminal's window.
package enum WindowTitle {
    /// The current track and the program's name.
    package static func text(for player: PlayerSnapshot, glyphs: Glyphs) -> SafeText {
        guard let index = player.currentIndex, player.tracks.indices.contains(index),
            player.state != .stopped, player.state != .ended
        else { return "Reprise" }
        let name = QueueRow.name(of: player.tracks[index], tags: player.info?.tags, glyphs: glyphs)
        return name + " " + glyphs.dash + " Reprise"
    }
}
