import Media
import TerminalUI

/// One line that tells how far something is: pure.
enum ProgressBar {
    /// Cells of the bar where there is room for them.
    static let mostCells = 30
    /// Fewer say nothing, so that there are none then.
    static let leastCells = 5

    /// `label ███▒···  42 %  note` in at most `style.columns` columns of the terminal.
    ///
    /// The label has a place of a fixed width, so that the bars of several lines stand under each other; where
    /// there is no room for a bar, it has all that is left. `done` of `total` bytes is the share; a nil total
    /// shows what is done and no bar.
    static func line(label: SafeText, done: Int64, total: Int64?, note: SafeText, style: TextStyle) -> String
    {
        let columns = style.columns ?? 80
        let share = total.map { $0 > 0 ? max(0, min(1, Double(done) / Double($0))) : 1 }
        let percent = share.map { "\(Int($0 * 100)) %" } ?? ByteSize.text(done)
        let tail =
            String(repeating: " ", count: max(0, 5 - percent.count)) + percent
            + (note.isEmpty ? "" : "  " + note.string)
        let room = max(0, columns - tail.count - 1)
        var labelColumns = min(mostLabel, max(columns / 3, columns - usualRest))
        var cells = share == nil ? 0 : min(mostCells, room - labelColumns - 1)
        if cells < leastCells {
            cells = 0
            labelColumns = share == nil ? min(room, labelColumns) : room
        }
        let shown = style.shown(label).cut(toColumns: labelColumns, ellipsis: style.glyphs.ellipsis)
        var line = shown.string + String(repeating: " ", count: labelColumns - shown.columns)
        if cells > 0, let share { line += " " + bar(share, cells: cells, style: style) }
        return SafeText(line + " " + tail).cut(toColumns: columns, ellipsis: style.glyphs.ellipsis).string
    }

    /// Longer labels are rare, and the eye has far to go from their start to the bar.
    private static let mostLabel = 60
    /// What bar, share and a usual note take together.
    private static let usualRest = 56

    private static func bar(_ share: Double, cells: Int, style: TextStyle) -> String {
        let full = Int(share * Double(cells))
        let signs = style.glyphs.isUnicode ? ("█", "·") : ("#", ".")
        return String(repeating: signs.0, count: full) + String(repeating: signs.1, count: cells - full)
    }
}
