package import Media

/// The current track and the position in it: `▶ Title – Artist    ~1:02 / 3:45`.
enum NowPlayingView {
    private static let fewestNameColumns = 8

    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let player = state.player
        let columns = state.layout.inner
        let style = style(of: player)
        let sign = buffer.glyphs.sign(of: player.state)
        let start = buffer.draw(sign, column: columns.lowerBound, row: row, style: style) + 1
        guard let name = QueueRow.currentNameParts(in: player) else { return }
        let times = timeTexts(player, state.showsRemainingTime)
        // A narrow window drops the duration, then the position, so that the name stays readable.
        let time =
            times.first { columns.upperBound - $0.columns - start > fewestNameColumns } ?? ""
        let timeColumn = columns.upperBound - time.columns
        let end = timeColumn - 1
        let column = buffer.draw(name.title, column: start, row: row, limit: end - start, style: style)
        let rest = buffer.glyphs.joined([name.artist, name.album].compactMap { $0 }.filter { !$0.isEmpty })
        if !rest.isEmpty, end - column >= fewestNameColumns {
            let text = " " + buffer.glyphs.dash + " " + rest
            buffer.draw(text, column: column, row: row, limit: end - column, style: .dim)
        }
        buffer.draw(time, column: timeColumn, row: row)
    }

    /// Green is only what is heard or about to be.
    private static func style(of player: PlayerSnapshot) -> Style {
        guard player.state == .stopped || player.state == .ended else { return .playing }
        return player.currentTrack.map { player.failures[$0.id] != nil } == true ? .error : .normal
    }

    /// The position with and without the duration; `~` marks an estimate.
    private static func timeTexts(_ player: PlayerSnapshot, _ showsRemainingTime: Bool) -> [SafeText] {
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
        guard player.state != .stopped, player.state != .ended,
            let name = QueueRow.currentName(in: player, glyphs: glyphs)
        else { return "Reprise" }
        return name + " " + glyphs.dash + " Reprise"
    }
}
