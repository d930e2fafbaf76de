package import Media

/// Draws the queue; creates only the rows in view.
package struct QueueView {
    package var glyphs: Glyphs

    package init(glyphs: Glyphs) { self.glyphs = glyphs }

    package func draw(
        _ state: QueueViewState,
        of player: PlayerSnapshot,
        rows: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        guard state.list.count > 0 else {
            guard let row = rows.first else { return }
            buffer.draw(emptyText(state, player), column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            return
        }
        draw(at: state.list, count: player.tracks.count, rows: rows, into: &buffer) { row in
            let place = state.place(ofRow: row)
            let isMarked = !state.marks.isEmpty && state.marks.contains(player.tracks[place].id)
            return (place, QueueRow(player, index: place, isMarked: isMarked, glyphs: glyphs))
        }
    }

    /// Draws the rows in view. `makeRow` is called once for each and returns its position in the queue too.
    package func draw(
        at position: ListPosition,
        count: Int,
        rows: Range<Int>,
        into buffer: inout CellBuffer,
        makeRow: (Int) -> (place: Int, row: QueueRow)
    ) {
        let items = position.visible.map(makeRow)
        let columns = QueueColumns(columns: buffer.columns, count: count, rows: items.map(\.row))
        for (offset, row) in zip(items.indices, rows) {
            let isSelected = position.top + offset == position.selected
            draw(items[offset].row, items[offset].place, isSelected, columns, row: row, into: &buffer)
        }
    }

    private func draw(
        _ item: QueueRow,
        _ place: Int,
        _ isSelected: Bool,
        _ columns: QueueColumns,
        row: Int,
        into buffer: inout CellBuffer
    ) {
        let style = isSelected ? Style.selected : item.style
        let quiet = isSelected ? Style.selected : .dim
        if isSelected { buffer.fill(row: row, style: .selected) }
        buffer.draw(item.mark, column: 0, row: row, style: style)
        if item.isMarked {
            buffer.draw(glyphs.mark, column: 1, row: row, style: isSelected ? .selected : .marked)
        }
        drawRight(SafeText("\(place + 1)"), in: columns.number, row: row, style: quiet, into: &buffer)
        // The reason for a failure takes the columns of the title and the artist.
        let text = columns.artist == nil || !item.failure.isEmpty ? item.name(glyphs: glyphs) : item.title
        let whole = item.failure.isEmpty ? text : text + ": " + item.failure
        let end =
            item.failure.isEmpty
            ? columns.title.upperBound : columns.artist?.upperBound ?? columns.title.upperBound
        draw(whole, in: columns.title.lowerBound..<end, row: row, style: style, into: &buffer)
        if let artist = columns.artist, item.failure.isEmpty {
            draw(item.artist, in: artist, row: row, style: quiet, into: &buffer)
        }
        if let playsTo = columns.playsTo {
            drawRight(item.playsTo, in: playsTo, row: row, style: quiet, into: &buffer)
        }
        if let pin = columns.pin, item.isPinned {
            buffer.draw(glyphs.pin, column: pin, row: row, style: quiet)
        }
        if let cached = columns.cached {
            drawRight(item.cached, in: cached, row: row, style: quiet, into: &buffer)
        }
        if let duration = columns.duration {
            drawRight(item.duration, in: duration, row: row, style: quiet, into: &buffer)
        }
    }

    private func draw(
        _ text: SafeText,
        in columns: Range<Int>,
        row: Int,
        style: Style,
        into buffer: inout CellBuffer
    ) {
        buffer.draw(
            text,
            column: columns.lowerBound,
            row: row,
            limit: columns.count,
            style: style,
            ellipsis: glyphs.ellipsis
        )
    }

    private func drawRight(
        _ text: SafeText,
        in columns: Range<Int>,
        row: Int,
        style: Style,
        into buffer: inout CellBuffer
    ) {
        let start = max(columns.lowerBound, columns.upperBound - text.columns)
        draw(text, in: start..<columns.upperBound, row: row, style: style, into: &buffer)
    }

    private func emptyText(_ state: QueueViewState, _ player: PlayerSnapshot) -> SafeText {
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
/// A narrow window keeps the title and drops the rest: the time cached from the start, the artist's own column, the
/// cached share, the duration.
struct QueueColumns: Equatable {
    /// The fewest columns of a window for a column with the artists.
    private static let leastForArtist = 100
    private static let leastForCached = 48
    private static let leastForPlaysTo = 72
    private static let leastForTitle = 12

    let number: Range<Int>
    let title: Range<Int>
    var artist: Range<Int>?
    var playsTo: Range<Int>?
    var pin: Int?
    /// Right-aligned, as is the duration.
    var cached: Range<Int>?
    var duration: Range<Int>?

    init(columns: Int, count: Int, rows: [QueueRow]) {
        number = 2..<2 + String(max(1, count)).count
        var end = columns
        let start = number.upperBound + 1
        let widest = rows.map(\.duration.columns).max() ?? 0
        if widest > 0, end - widest - 2 - start >= Self.leastForTitle {
            duration = end - widest..<end
            end -= widest + 2
        }
        let isAnyCached = rows.contains { !$0.cached.isEmpty || $0.isPinned }
        if isAnyCached, columns >= Self.leastForCached {
            cached = end - 4..<end
            pin = end - 6
            end -= 8
            let longest = rows.map(\.playsTo.columns).max() ?? 0
            if longest > 0, columns >= Self.leastForPlaysTo {
                playsTo = end - longest..<end
                end -= longest + 2
            }
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
