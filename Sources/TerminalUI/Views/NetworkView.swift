internal import Media

/// The newest requests: what was asked for, why, how fast it came and how it ended; and what is under way.
struct NetworkView {
    var glyphs: Glyphs
    var timeOfDay: @Sendable (Duration) -> SafeText

    func draw(_ state: NetworkViewState, layout: ScreenLayout, into buffer: inout CellBuffer) {
        guard state.list.count > 0 else {
            guard let row = layout.listRows.first else { return }
            let text: SafeText = "Nothing was asked of the network yet"
            buffer.draw(text, column: 1, row: row, style: .dim, ellipsis: glyphs.ellipsis)
            return
        }
        let table = RowTable(NetworkRow.columns, width: layout.columns, glyphs: glyphs)
        if layout.tableRows != layout.listRows {
            table.drawTitles(row: layout.listRows.lowerBound, into: &buffer)
        }
        for (index, row) in zip(state.list.visible, layout.tableRows) {
            let item = self.row(index, of: state)
            let isSelected = index == state.list.selected
            if isSelected { buffer.fill(row: row, style: .selected) }
            let style = isSelected ? Style.selected : item.isError ? .error : .normal
            table.draw(
                item.cells,
                row: row,
                styles: { $0 == 0 && !isSelected ? .dim : style },
                into: &buffer
            )
            guard !item.reason.isEmpty else { continue }
            // Behind the time, where there is room for that, and the decision.
            table.draw(item.reason, from: table.shows(0) ? 2 : 1, row: row, style: style, into: &buffer)
        }
    }

    private func row(_ index: Int, of state: NetworkViewState) -> NetworkRow {
        let record = state[index]
        guard case .request(let request) = record.event, index >= state.records.count else {
            return NetworkRow(record, time: timeOfDay(record.time), glyphs: glyphs)
        }
        let began = timeOfDay(request.startedAt)
        return NetworkRow(underWay: request, of: record.resource, began: began, glyphs: glyphs)
    }
}
