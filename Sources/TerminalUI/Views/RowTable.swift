internal import Media

/// A table with column titles, without the columns for which the window has no room. Pure.
///
/// Two blanks separate the columns, and one precedes the first. One column stretches to the width of the
/// window. It has the name of the row and behind it a note, which in a wide window has a place of its own.
struct RowTable {
    struct Column: Sendable {
        var title: SafeText
        /// 0 for the column that stretches.
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
        /// Of the first column.
        var signStyle: Style?
        /// Stands behind the name.
        var note: SafeText = ""
        /// Stands behind the name, before the note and over the next columns that have nothing to show.
        var failure: SafeText = ""
        var map: [BarPart] = []
        var style = Style.normal
        /// Highlights its matches in the name and the note.
        var matcher: TrackMatcher?
    }

    /// The fewest columns for the one that stretches: others are dropped to keep it readable.
    private static let leastToStretch = 16
    /// The fewest of them in which the note has its own place.
    private static let leastForNote = 44
    /// The columns that a name always has before the reason of a failure.
    private static let leastForName = 12

    /// In fewer columns nothing of a note could be read.
    private static let leastToRead = 4

    private let columns: [Column]
    private let noteTitle: SafeText
    /// The index of the column that stretches.
    private let stretched: Int
    /// The columns that fit: the index among all, and the place on the screen.
    private var shown: [(index: Int, place: Range<Int>)] = []
    /// The place of the notes; `nil` if they stand behind the names.
    private var notePlace: Range<Int>?

    init(_ columns: [Column], note: SafeText = "", width: Int) {
        self.columns = columns
        noteTitle = note
        let stretched = columns.firstIndex { $0.width == 0 } ?? columns.count - 1
        self.stretched = stretched
        var remaining = Array(columns.indices)
        // The margin at the right stays blank.
        let room = { (remaining: [Int]) in
            width - 2 - remaining.reduce(0) { $0 + ($1 == stretched ? 0 : columns[$1].width + 2) }
        }
        while room(remaining) < Self.leastToStretch,
            let next = remaining.max(by: { columns[$0].dropRank < columns[$1].dropRank }),
            columns[next].dropRank > 0
        {
            remaining.removeAll { $0 == next }
        }
        var start = 1
        for index in remaining {
            let end = start + (index == stretched ? max(1, room(remaining)) : columns[index].width)
            if index == stretched, !note.isEmpty, end - start >= Self.leastForNote {
                let middle = start + (end - start) * 3 / 5
                shown.append((index, start..<middle))
                notePlace = middle + 2..<end
            } else {
                shown.append((index, start..<end))
            }
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
            let note = notePlace == nil ? "" : noteTitle
            draw(Row(cells: columns.map(\.title), note: note, style: .faint), row: row, into: &buffer)
        }
        for (index, row) in zip(list.visible, layout.tableRows) {
            if index == list.selected { buffer.lay(.selected, row: row) }
            draw(makeRow(index), row: row, into: &buffer)
        }
    }

    private func draw(_ item: Row, row: Int, into buffer: inout CellBuffer) {
        let last = item.cells.count - 1
        for (number, (index, place)) in shown.enumerated() {
            let column = columns[index]
            if index >= last, last < columns.count - 1 {
                let rest = place.lowerBound..<max(place.upperBound, buffer.columns - 1)
                return buffer.draw(item.cells[last], in: rest, row: row, style: item.style)
            }
            if index == stretched {
                drawName(item, in: place, upTo: freeEnd(of: item, behind: number), row: row, into: &buffer)
            } else if column.isMap {
                RangeBar.draw(item.map, column: place.lowerBound, row: row, into: &buffer)
            }
            guard index != stretched, !column.isMap || item.map.isEmpty else { continue }
            let style = column.isDim && item.style != .faint ? .dim : item.style
            buffer.draw(
                item.cells[index],
                in: place,
                row: row,
                style: index == 0 ? item.signStyle ?? style : style,
                isRightAligned: column.isRightAligned
            )
        }
    }

    /// The end of the columns behind the name in which this row shows nothing.
    private func freeEnd(of item: Row, behind number: Int) -> Int {
        let free = shown.dropFirst(number + 1).prefix {
            item.cells[$0.index].isEmpty && (!columns[$0.index].isMap || item.map.isEmpty)
        }
        return free.last?.place.upperBound ?? notePlace?.upperBound ?? shown[number].place.upperBound
    }

    private func drawName(
        _ item: Row,
        in place: Range<Int>,
        upTo end: Int,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        let name = item.cells[stretched]
        let start = place.lowerBound
        guard item.failure.isEmpty else {
            // The name gives way to the reason for the failure, but some of it always stays.
            let room = max(Self.leastForName, end - start - item.failure.columns - 3)
            let limit = min(room, end - start)
            let nameEnd = buffer.draw(name, column: start, row: row, limit: limit, style: item.style)
            if nameEnd + 3 < end {
                buffer.draw(item.failure, in: nameEnd + 3..<end, row: row, style: item.style)
            }
            return
        }
        let nameEnd = buffer.draw(name, column: start, row: row, limit: place.count, style: item.style)
        item.matcher?.highlight(in: name, at: place, row: row, into: &buffer)
        let notePlace = notePlace ?? nameEnd + 2..<max(nameEnd + 2, place.upperBound)
        let isDim = item.style != .error && item.style != .faint
        guard notePlace.count >= Self.leastToRead else { return }
        buffer.draw(item.note, in: notePlace, row: row, style: isDim ? .dim : item.style)
        item.matcher?.highlight(in: item.note, at: notePlace, row: row, into: &buffer)
    }
}
