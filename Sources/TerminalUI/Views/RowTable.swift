internal import Media

/// Columns of fixed width under a line of titles, as far as the window has room. Pure.
///
/// Columns stand two blanks apart, one from the left edge. The last one takes what the others leave.
struct RowTable {
    struct Column: Sendable {
        var title: SafeText
        var width: Int
        var isRightAligned = false
        /// Columns with the highest number go first where there is no room; nil for one that always stays.
        var dropRank: Int?
    }

    /// Below this the last column says nothing any more, so that another one goes for it.
    static let leastForLast = 16

    var glyphs: Glyphs
    /// The columns that fit, by their places among all, each with where it begins and how wide it is.
    private var shown: [(index: Int, start: Int, width: Int, isRightAligned: Bool)] = []
    private let titles: [SafeText]

    init(_ columns: [Column], width: Int, glyphs: Glyphs) {
        self.glyphs = glyphs
        titles = columns.map(\.title)
        var kept = Array(columns.indices)
        let taken = { (kept: [Int]) in 1 + kept.dropLast().reduce(0) { $0 + columns[$1].width + 2 } }
        while width - taken(kept) < Self.leastForLast,
            let next = kept.filter({ columns[$0].dropRank != nil })
                .max(by: { (columns[$0].dropRank ?? 0) < (columns[$1].dropRank ?? 0) })
        {
            kept.removeAll { $0 == next }
        }
        var start = 1
        for index in kept {
            let isLast = index == kept.last
            let room = isLast ? max(1, width - start) : columns[index].width
            shown.append((index, start, room, columns[index].isRightAligned))
            start += room + 2
        }
    }

    /// Whether there is room for the column at `index`.
    func shows(_ index: Int) -> Bool { shown.contains { $0.index == index } }

    func drawTitles(row: Int, into buffer: inout CellBuffer) {
        draw(titles, row: row, styles: { _ in .dim }, into: &buffer)
    }

    /// Draws `text` from the `column`th shown column on, over all behind it.
    func draw(_ text: SafeText, from column: Int, row: Int, style: Style, into buffer: inout CellBuffer) {
        guard shown.indices.contains(column) else { return }
        buffer.draw(text, column: shown[column].start, row: row, style: style, ellipsis: glyphs.ellipsis)
    }

    /// `cells` has one for each column, shown or not.
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
