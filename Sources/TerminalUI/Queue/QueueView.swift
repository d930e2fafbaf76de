internal import Media

/// Draws the queue; creates only the rows in view.
enum QueueView {
    static func draw(
        _ state: QueueViewState,
        of player: PlayerSnapshot,
        rows: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        guard state.list.count > 0 else {
            return buffer.drawPlaceholder(emptyText(state, player, buffer.glyphs), rows: rows)
        }
        let items = state.list.visible.map { row in
            let place = state.place(ofRow: row)
            let isMarked = !state.marks.isEmpty && state.marks.contains(player.tracks[place].id)
            return QueueRow(player, index: place, isMarked: isMarked, glyphs: buffer.glyphs)
        }
        let columns = QueueColumns(columns: buffer.columns, count: player.tracks.count, rows: items)
        for (offset, (item, row)) in zip(items, rows).enumerated() {
            let isSelected = state.list.top + offset == state.list.selected
            draw(item, columns, row: row, isSelected: isSelected, into: &buffer)
        }
    }

    private static func draw(
        _ item: QueueRow,
        _ columns: QueueColumns,
        row: Int,
        isSelected: Bool,
        into buffer: inout CellBuffer
    ) {
        let style = isSelected ? Style.selected : item.style
        let quiet = isSelected ? Style.selected : .dim
        if isSelected { buffer.fill(row: row, style: .selected) }
        buffer.draw(item.mark, column: 0, row: row, style: style)
        if item.isMarked {
            buffer.draw(buffer.glyphs.mark, column: 1, row: row, style: isSelected ? .selected : .marked)
        }
        func drawRight(_ text: SafeText, in columns: Range<Int>?) {
            guard let columns else { return }
            buffer.draw(text, in: columns, row: row, style: quiet, isRightAligned: true)
        }
        drawRight(SafeText("\(item.number)"), in: columns.number)
        drawRight(item.date, in: columns.date)
        if item.failure.isEmpty {
            let title = columns.artist == nil ? item.name(buffer.glyphs) : item.title
            buffer.draw(title, in: columns.title, row: row, style: style)
            if let artist = columns.artist { buffer.draw(item.artist, in: artist, row: row, style: quiet) }
        } else {
            // The name gives way to the reason for the failure, but some of it always stays.
            let start = columns.title.lowerBound
            let end = (columns.artist ?? columns.title).upperBound
            let room = max(QueueColumns.leastForTitle, end - start - item.failure.columns - 3)
            let name = item.name(buffer.glyphs)
            let nameEnd = buffer.draw(
                name,
                column: start,
                row: row,
                limit: min(room, end - start),
                style: style
            )
            if nameEnd + 3 < end { buffer.draw(item.failure, in: nameEnd + 3..<end, row: row, style: style) }
        }
        if let pin = columns.pin, item.isPinned {
            buffer.draw(buffer.glyphs.pin, column: pin, row: row, style: quiet)
        }
        if let map = columns.map {
            RangeBar.draw(item.map, column: map, row: row, isSelected: isSelected, into: &buffer)
        }
        drawRight(item.duration, in: columns.duration)
    }

    private static func emptyText(
        _ state: QueueViewState,
        _ player: PlayerSnapshot,
        _ glyphs: Glyphs
    ) -> SafeText {
        if let filter = state.filter {
            if filter.hasWork(in: player) { return "Searching" + glyphs.more }
            return SafeText("No match for \"\(filter.text)\"")
        }
        return player.state == .opening
            ? "Reading the playlist" + glyphs.more
            : "The queue is empty. Type :add and a file or URL"
    }
}

/// The columns of a row, for a window's width and the rows in view. Pure.
///
/// The narrower the window, the more columns are dropped: first the artist's own, then an episode's date and the
/// map of the cached bytes, then the duration. The title always stays.
struct QueueColumns: Equatable {
    /// The fewest columns of a window for a column with the artists.
    private static let leastForArtist = 100
    private static let leastForMap = 60
    private static let leastForDate = 60
    fileprivate static let leastForTitle = 12

    let number: Range<Int>
    /// The days of episodes.
    var date: Range<Int>?
    let title: Range<Int>
    var artist: Range<Int>?
    var pin: Int?
    /// The first column of the map.
    var map: Int?
    /// Right-aligned.
    var duration: Range<Int>?

    init(columns: Int, count: Int, rows: [QueueRow]) {
        number = 2..<2 + String(max(1, count)).count
        var end = columns
        var start = number.upperBound + 1
        let day = rows.map(\.date.columns).max() ?? 0
        if day > 0, columns >= Self.leastForDate {
            date = start..<start + day
            start += day + 2
        }
        let widest = rows.map(\.duration.columns).max() ?? 0
        if widest > 0, end - widest - 2 - start >= Self.leastForTitle {
            duration = end - widest..<end
            end -= widest + 2
        }
        let isAnyCached = rows.contains { $0.isPinned || $0.map.contains { $0 != .missing } }
        if isAnyCached, columns >= Self.leastForMap {
            map = end - RangeBar.columns
            pin = end - RangeBar.columns - 2
            end -= RangeBar.columns + 4
        }
        if columns >= Self.leastForArtist, rows.contains(where: { !$0.artist.isEmpty }) {
            let room = end - start
            let titleEnd = start + room * 3 / 5
            title = start..<titleEnd
            artist = titleEnd + 2..<end
        } else {
            title = start..<max(start, end)
        }
    }
}
