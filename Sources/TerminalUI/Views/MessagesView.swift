internal import Media

/// What the player had to say so far, each with its time.
struct MessagesView {
    var glyphs: Glyphs
    var timeOfDay: @Sendable (Duration) -> SafeText

    func draw(_ state: MessagesViewState, rows: Range<Int>, into buffer: inout CellBuffer) {
        guard !state.lines.isEmpty else {
            guard let row = rows.first else { return }
            buffer.draw("Nothing was said yet", column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            return
        }
        for (index, row) in zip(state.list.visible, rows) {
            let line = state.lines[index]
            let isSelected = index == state.list.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            if let time = line.time {
                let style = isSelected ? Style.selected : .dim
                buffer.draw(timeOfDay(time), column: 1, row: row, limit: 8, style: style)
            }
            buffer.draw(
                line.text,
                column: MessagesViewState.timeColumns,
                row: row,
                style: isSelected ? .selected : .normal,
                ellipsis: glyphs.ellipsis
            )
        }
    }
}
