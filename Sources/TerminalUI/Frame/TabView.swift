package import Media

/// The top line: a tab for each view, and at the right the size of the list in the open view, or the state of
/// the connection if it has no list.
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
        let texts = amounts.isEmpty ? connection(state.player, buffer.glyphs) : amounts
        guard let text = texts.first(where: { $0.columns <= room }) else { return }
        buffer.draw(text, column: buffer.columns - text.columns - 1, row: row, style: .dim)
    }

    /// `● online · 412 kB/s`, the longest text first; the rate is missing while nothing is downloaded. Empty
    /// if the current track does not come from a server.
    private static func connection(_ player: PlayerSnapshot, _ glyphs: Glyphs) -> [SafeText] {
        guard case .web? = player.currentTrack?.location else { return [] }
        let line = glyphs.connection(isOnline: !player.connectivity.isOffline)
        guard let rate = player.load.bytesPerSecond, !player.load.inFlight.isEmpty else { return [line] }
        return [glyphs.joined([line, SafeText(SizeText.rate(rate))]), line]
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
