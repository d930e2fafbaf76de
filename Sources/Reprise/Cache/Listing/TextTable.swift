import Media
import TerminalUI

/// Cells in columns, fitted to a terminal: pure.
///
/// Columns stand two spaces apart. The last one takes what the others leave, and is cut.
struct TextTable: Sendable {
    struct Column: Sendable, Equatable {
        var title: SafeText
        var isRightAligned = false
        /// Columns with the highest number go first where there is no room; nil for one that always stays.
        var dropRank: Int?
        /// More than this is cut where there is a width to fit; nil for no limit.
        var most: Int?
    }

    /// Below this the last column says nothing any more, so that another one goes for it.
    static let leastForLast = 20

    var columns: [Column]
    /// As many cells as there are columns.
    var rows: [[SafeText]]

    /// A line of titles and one for each row, none wider than `width` columns of the terminal; nil for
    /// no limit, and then nothing is cut or left out.
    func lines(width: Int?, ellipsis: SafeText = "…") -> [String] {
        var shown = Array(columns.indices)
        var widths = columns.indices.map { self.width(of: $0, isLimited: width != nil) }
        if let width {
            while room(for: shown, widths, in: width) < Self.leastForLast,
                let next = shown.filter({ columns[$0].dropRank != nil })
                    .max(by: { (columns[$0].dropRank ?? 0) < (columns[$1].dropRank ?? 0) })
            {
                shown.removeAll { $0 == next }
            }
            if let last = shown.last {
                widths[last] = min(widths[last], max(1, room(for: shown, widths, in: width)))
            }
        }
        return ([columns.map(\.title)] + rows).map { row in
            let line = shown.map { index in
                let cell =
                    width == nil ? row[index] : row[index].cut(toColumns: widths[index], ellipsis: ellipsis)
                let padding = String(repeating: " ", count: max(0, widths[index] - cell.columns))
                if columns[index].isRightAligned { return padding + cell.string }
                return index == shown.last ? cell.string : cell.string + padding
            }.joined(separator: "  ")
            return width.map { SafeText(line).cut(toColumns: $0, ellipsis: ellipsis).string } ?? line
        }
    }

    private func width(of column: Int, isLimited: Bool) -> Int {
        let natural = max(columns[column].title.columns, rows.map { $0[column].columns }.max() ?? 0)
        guard isLimited, let most = columns[column].most else { return natural }
        return min(natural, most)
    }

    /// What is left for the last of `shown`.
    private func room(for shown: [Int], _ widths: [Int], in width: Int) -> Int {
        width - shown.dropLast().reduce(0) { $0 + widths[$1] + 2 }
    }
}
