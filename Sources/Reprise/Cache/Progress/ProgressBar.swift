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
    /// The label is cut first, down to `leastLabel` columns, then the bar goes. `done` of `total` bytes is
    /// the share; a nil total shows what is done and no bar.
    static func line(label: SafeText, done: Int64, total: Int64?, note: SafeText, style: TextStyle) -> String
    {
        let columns = style.columns ?? 80
        let share = total.map { $0 > 0 ? max(0, min(1, Double(done) / Double($0))) : 1 }
        let percent = share.map { "\(Int($0 * 100)) %" } ?? ByteSize.text(done)
        let tail =
            String(repeating: " ", count: max(0, 5 - percent.count)) + percent
            + (note.isEmpty ? "" : "  " + note.string)
        var cells = share == nil ? 0 : mostCells
        let room = columns - tail.count - 1
        let wanted = min(label.columns, leastLabel)
        if cells > 0 {
            cells = min(cells, room - wanted - 1)
            if cells < leastCells { cells = 0 }
        }
        let labelRoom = max(0, room - (cells > 0 ? cells + 1 : 0))
        let shown = style.shown(label).cut(toColumns: labelRoom, ellipsis: style.glyphs.ellipsis)
        // The bars of several lines stand under each other.
        let padding = String(repeating: " ", count: max(0, min(labelRoom, leastLabel) - shown.columns))
        var line = shown.string + padding
        if cells > 0, let share { line += " " + bar(share, cells: cells, style: style) }
        return SafeText(line + " " + tail).cut(toColumns: columns, ellipsis: style.glyphs.ellipsis).string
    }

    /// What is kept of a label before the bar gets smaller.
    static let leastLabel = 24

    private static func bar(_ share: Double, cells: Int, style: TextStyle) -> String {
        let full = Int(share * Double(cells))
        let signs = style.glyphs.isUnicode ? ("█", "·") : ("#", ".")
        return String(repeating: signs.0, count: full) + String(repeating: signs.1, count: cells - full)
    }
}
