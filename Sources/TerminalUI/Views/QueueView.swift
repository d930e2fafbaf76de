package import Media

/// The list of tracks; only the rows in view are made.
package struct QueueView {
    package var glyphs: Glyphs

    package init(glyphs: Glyphs) { self.glyphs = glyphs }

    package func draw(
        _ player: PlayerSnapshot,
        at position: ListPosition,
        rows: Range<Int>,
        into buffer: inout CellBuffer
    ) {
        guard position.count > 0 else {
            if let row = rows.first {
                let text: SafeText = "Nothing in the queue yet. Type :add and a file or URL"
                buffer.draw(text, column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            }
            return
        }
        draw(at: position, rows: rows, into: &buffer) { QueueRow(player, index: $0, glyphs: glyphs) }
    }

    /// Draws the rows in view, each asked of `makeRow` once.
    package func draw(
        at position: ListPosition,
        rows: Range<Int>,
        into buffer: inout CellBuffer,
        makeRow: (Int) -> QueueRow
    ) {
        let numberColumns = String(position.count).count
        for (index, row) in zip(position.visible, rows) {
            let item = makeRow(index)
            let isSelected = index == position.selected
            let style = isSelected ? Style.selected : item.style
            let quiet = isSelected ? Style.selected : .dim
            if isSelected { buffer.fill(row: row, style: .selected) }
            buffer.draw(item.mark, column: 0, row: row, style: style)
            let number = String(index + 1)
            let padding = String(repeating: " ", count: max(0, numberColumns - number.count))
            let textColumn = buffer.draw(SafeText(padding + number), column: 2, row: row, style: quiet) + 1
            let durationColumn = buffer.columns - item.duration.columns
            // A narrow window keeps the title and lets go of the duration.
            let hasRoom = durationColumn - textColumn > 8
            // What is here of a track is shown where half of the row is left for its title.
            let keptColumn = durationColumn - 2 - item.kept.columns
            let showsKept = !item.kept.isEmpty && keptColumn - textColumn >= buffer.columns / 2
            let end = showsKept ? keptColumn : hasRoom ? durationColumn : buffer.columns + 1
            buffer.draw(
                item.text,
                column: textColumn,
                row: row,
                limit: end - 1 - textColumn,
                style: style,
                ellipsis: glyphs.ellipsis
            )
            if showsKept { buffer.draw(item.kept, column: keptColumn, row: row, style: quiet) }
            if hasRoom { buffer.draw(item.duration, column: durationColumn, row: row, style: quiet) }
        }
    }
}
