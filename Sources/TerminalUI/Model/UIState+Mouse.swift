internal import Media

// What the mouse points at.
extension UIState {
    /// How far one notch of the wheel goes.
    static let wheelRows = 3

    mutating func point(_ event: MouseEvent) -> [UIAction] {
        guard !layout.isTiny else { return [] }
        switch event.kind {
        case .wheelUp: list.scroll(by: -Self.wheelRows)
        case .wheelDown: list.scroll(by: Self.wheelRows)
        case .press: return press(event)
        case .doublePress:
            guard let row = listRow(at: event.row), row == list.selected else { return [] }
            return run(.playSelected)
        }
        return []
    }

    private mutating func press(_ event: MouseEvent) -> [UIAction] {
        if event.row == layout.tabRow {
            let tabs = TabLine(open: view, columns: layout.columns)
            return tabs.view(at: event.column).map { run(.show($0)) } ?? []
        }
        if event.row == layout.barRow { return seek(to: event.column) }
        if let row = listRow(at: event.row) { list.select(row) }
        return []
    }

    private mutating func seek(to column: Int) -> [UIAction] {
        guard let target = BarPart.seekTarget(at: column, columns: layout.columns, of: player) else {
            return []
        }
        return run(.player(.seek(target)))
    }

    /// The row of the open view's list that is drawn at `row` of the window.
    private func listRow(at row: Int) -> Int? {
        let rows = view.hasHeader ? layout.tableRows : layout.listRows
        guard rows.contains(row) else { return nil }
        let place = list.top + row - rows.lowerBound
        return list.visible.contains(place) ? place : nil
    }
}
