package import Media

/// The list of tracks; only the rows in view are made.
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

    /// Draws the rows in view, each asked of `makeRow` once: its place in the queue and what it shows.
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
        // The reason of a failure may take the place of what there is not.
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
        if let kept = columns.kept { drawRight(item.kept, in: kept, row: row, style: quiet, into: &buffer) }
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
            if filter.hasWork(in: player) { return "Looking" + glyphs.more }
            return SafeText("No track has \(filter.text)")
        }
        return player.state == .opening
            ? "Reading the list" + glyphs.more
            : "Nothing in the queue yet. Type :add and a file or URL"
    }
}
