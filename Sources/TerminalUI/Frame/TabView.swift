package import Media

/// The top line: a tab for each view, and at the right the number of entries in the open view, with the place
/// in it if not all are in view.
enum TabView {
    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let line = TabLine(open: state.view, columns: buffer.columns)
        for tab in line.tabs {
            let isOpen = tab.view == state.view
            let style = isOpen ? Style.title : .dim
            if isOpen {
                let chip = tab.columns.lowerBound - 1..<tab.columns.upperBound + 1
                buffer.lay(.selected, row: row, columns: chip)
            }
            buffer.draw(tab.text, column: tab.columns.lowerBound, row: row, style: style)
        }
        let room = buffer.columns - line.end - 3
        let amounts = state.lists.current.amounts(in: state.context, glyphs: buffer.glyphs)
        guard let text = amounts.first(where: { $0.columns <= room }) else { return }
        buffer.draw(text, column: buffer.columns - text.columns - 1, row: row, style: .dim)
    }
}

/// The columns of the tabs, for drawing them and for clicks on them. Pure.
///
/// If not all titles fit, only the open view keeps its title and the others show their numbers. If even these
/// do not fit, only the tab of the open view remains.
package struct TabLine: Sendable, Equatable {
    package struct Tab: Sendable, Equatable {
        package var view: ViewName
        package var text: SafeText
        package var columns: Range<Int>
    }

    package let tabs: [Tab]

    package init(open view: ViewName, columns: Int) {
        let full = Self.tabs(view) { "\($0.number) " + $0.title.string }
        let short = Self.tabs(view) { $0 == view ? "\($0.number) " + $0.title.string : "\($0.number)" }
        let fitting = [full, short].first { ($0.last?.columns.upperBound ?? 0) < columns }
        let alone = Tab(view: view, text: view.title, columns: 1..<1 + view.title.columns)
        tabs = fitting ?? [alone]
    }

    /// The first column after the tabs.
    var end: Int { tabs.last?.columns.upperBound ?? 0 }

    /// The view whose tab is at `column`; `nil` between tabs.
    func view(at column: Int) -> ViewName? { tabs.first { $0.columns.contains(column) }?.view }

    private static func tabs(_ open: ViewName, _ text: (ViewName) -> String) -> [Tab] {
        var column = 1
        return open.tabs.map { view in
            let text = SafeText(text(view))
            defer { column += text.columns + 2 }
            return Tab(view: view, text: text, columns: column..<column + text.columns)
        }
    }
}
