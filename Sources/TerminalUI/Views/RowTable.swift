internal import Media

/// A table with column titles, without the columns for which the window has no room. Pure.
///
/// Two blanks separate the columns, and one precedes the first. The last column takes the remaining width.
struct RowTable {
    struct Column: Sendable {
        var title: SafeText
        var width: Int
        var isRightAligned = false
        /// If there is no room, the columns with the highest rank are dropped first; `nil` is never dropped.
        var dropRank: Int?
    }

    /// The fewest columns for the last column: other columns are dropped to keep it readable.
    static let leastForLast = 16

    var glyphs: Glyphs
    /// The columns that fit: the index among all, the first screen column, and the width.
    private var shown: [(index: Int, start: Int, width: Int, isRightAligned: Bool)] = []
    private let titles: [SafeText]

    init(_ columns: [Column], width: Int, glyphs: Glyphs) {
        self.glyphs = glyphs
        titles = columns.map(\.title)
        var remaining = Array(columns.indices)
        let taken = { (remaining: [Int]) in 1 + remaining.dropLast().reduce(0) { $0 + columns[$1].width + 2 }
        }
        while width - taken(remaining) < Self.leastForLast,
            let next = remaining.filter({ columns[$0].dropRank != nil })
                .max(by: { (columns[$0].dropRank ?? 0) < (columns[$1].dropRank ?? 0) })
        {
            remaining.removeAll { $0 == next }
        }
        var start = 1
        for index in remaining {
            let isLast = index == remaining.last
            let room = isLast ? max(1, width - start) : columns[index].width
            shown.append((index, start, room, columns[index].isRightAligned))
            start += room + 2
        }
    }

    /// `true` if there is room for the column at `index`.
    func shows(_ index: Int) -> Bool { shown.contains { $0.index == index } }

    func drawTitles(row: Int, into buffer: inout CellBuffer) {
        draw(titles, row: row, styles: { _ in .dim }, into: &buffer)
    }

    /// Draws `text` from the `column`th shown column on, across all columns after it.
    func draw(_ text: SafeText, from column: Int, row: Int, style: Style, into buffer: inout CellBuffer) {
        guard shown.indices.contains(column) else { return }
        buffer.draw(text, column: shown[column].start, row: row, style: style, ellipsis: glyphs.ellipsis)
    }

    /// Draws a row; `cells` has one text for each column, shown or not.
    func draw(_ cells: [SafeText], row: Int, styles: (Int) -> Style, into buffer: inout CellBuffer) {
        for (index, start, width, isRightAligned) in shown {
            let cell = cells[index]
            let indent = isRightAligned ? max(0, width - cell.columns) : 0
            buffer.draw(
                cell,
                column: start + indent,
                row: row,
                limit: width - indent,
                style: styles(index),
                ellipsis: glyphs.ellipsis
            )
        }
    }
}
