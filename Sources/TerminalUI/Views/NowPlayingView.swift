internal import Media

/// What is heard, and where in it: `▶ Title – Artist    ~1:02 / 3:45`.
struct NowPlayingView {
    var glyphs: Glyphs
    var showsRemainingTime: Bool

    func draw(_ player: PlayerSnapshot, row: Int, into buffer: inout CellBuffer) {
        let sign = glyphs.sign(of: player.state)
        let nameColumn = buffer.draw(sign, column: 0, row: row, style: .playing) + 1
        guard let index = player.currentIndex, player.tracks.indices.contains(index) else { return }
        let time = timeText(player)
        let timeColumn = buffer.columns - time.columns
        let hasRoom = timeColumn > nameColumn
        let name = QueueRow.name(of: player.tracks[index], info: player.info, glyphs: glyphs)
        buffer.draw(
            name,
            column: nameColumn,
            row: row,
            limit: (hasRoom ? timeColumn - 1 : buffer.columns) - nameColumn,
            style: .playing,
            ellipsis: glyphs.ellipsis
        )
        if hasRoom { buffer.draw(time, column: timeColumn, row: row) }
    }

    /// `~` says that the position is an estimate.
    private func timeText(_ player: PlayerSnapshot) -> SafeText {
        let guess = player.isExact ? "" : "~"
        guard let duration = player.duration else { return SafeText(guess + player.position.clockTime) }
        let remaining = max(.zero, duration - player.position)
        let time = showsRemainingTime ? "-" + remaining.clockTime : player.position.clockTime
        return SafeText("\(guess)\(time) / \(duration.clockTime)")
    }
}
