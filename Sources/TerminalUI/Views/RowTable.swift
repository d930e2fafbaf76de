internal import Media

/// A table with column titles, without the columns for which the window has no room. Pure.
///
/// Two blanks separate the columns, and one precedes the first. The last column takes the remaining width.
struct RowTable {
    struct Column: Sendable {
        var title: SafeText
        var width: Int
        var isRightAligned = false
        var isDim = false
        /// `true` if it shows the row's map instead of its text.
        var isMap = false
        /// If there is no room, the columns with the highest rank are dropped first; 0 is never dropped.
        var dropRank = 0
    }

    /// One text for each column, shown or not. If there are fewer, the last one takes the space of the rest.
    struct Row {
        var cells: [SafeText]
        var map: [BarPart] = []
        var style = Style.normal
        /// Highlights its matches in the last cell.
        var matcher: TrackMatcher?
    }

    /// The fewest columns for the last column: other columns are dropped to keep it readable.
    private static let leastForLast = 16

    private let columns: [Column]
    /// The columns that fit: the index among all, and the place on the screen.
    private var shown: [(index: Int, place: Range<Int>)] = []

    init(_ columns: [Column], width: Int) {
        self.columns = columns
        var remaining = Array(columns.indices)
        let taken = { (remaining: [Int]) in 1 + remaining.dropLast().reduce(0) { $0 + columns[$1].width + 2 }
        }
        // The margin at the right stays blank.
        let width = width - 1
        while width - taken(remaining) < Self.leastForLast,
            let next = remaining.max(by: { columns[$0].dropRank < columns[$1].dropRank }),
            columns[next].dropRank > 0
        {
            remaining.removeAll { $0 == next }
        }
        var start = 1
        for index in remaining {
            let end = index == remaining.last ? max(start + 1, width) : start + columns[index].width
            shown.append((index, start..<end))
            start = end + 2
        }
    }

    /// Draws the titles if there is room for them, and the rows of `list` that are in view.
    func draw(
        _ list: ListPosition,
        layout: ScreenLayout,
        into buffer: inout CellBuffer,
        row makeRow: (Int) -> Row
    ) {
        if let row = layout.titleRow {
            draw(Row(cells: columns.map(\.title), style: .dim), row: row, into: &buffer)
        }
        for (index, row) in zip(list.visible, layout.tableRows) {
            if index == list.selected { buffer.lay(.selected, row: row) }
            draw(makeRow(index), row: row, into: &buffer)
        }
    }

    private func draw(_ item: Row, row: Int, into buffer: inout CellBuffer) {
        let last = item.cells.count - 1
        for (index, place) in shown {
            let isRest = index >= last && last < columns.count - 1
            let column = columns[index]
            if column.isMap {
                RangeBar.draw(item.map, column: place.lowerBound, row: row, into: &buffer)
            }
            let text = item.cells[min(index, last)]
            let room = isRest ? place.lowerBound..<max(place.upperBound, buffer.columns - 1) : place
            buffer.draw(
                text,
                in: room,
                row: row,
                style: column.isDim && !isRest ? .dim : item.style,
                isRightAligned: column.isRightAligned && !isRest
            )
            if index >= last { item.matcher?.highlight(in: text, at: room, row: row, into: &buffer) }
            if isRest { return }
        }
    }
}
