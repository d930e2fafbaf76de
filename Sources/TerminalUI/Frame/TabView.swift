package import Media

/// The top line: a tab for each view, and the size of the open one at the right.
struct TabView {
    var glyphs: Glyphs

    func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let line = TabLine(open: state.view, columns: buffer.columns)
        for tab in line.tabs {
            buffer.draw(
                tab.text,
                column: tab.columns.lowerBound,
                row: row,
                style: tab.view == state.view ? .title : .dim,
                ellipsis: glyphs.ellipsis
            )
        }
        let text = amount(state)
        let column = buffer.columns - text.columns - 1
        if column > line.end + 1 { buffer.draw(text, column: column, row: row, style: .dim) }
    }

    private func amount(_ state: UIState) -> SafeText {
        switch state.view {
        case .queue: queueAmount(state)
        case .cache:
            SafeText(
                "\(Self.count(state.cache.entries.count, "track")), "
                    + ByteText.text(state.cache.entries.reduce(0) { $0 &+ $1.stored.byteCount })
            )
        case .network: SafeText(Self.count(state.network.recordCount, "entry", "entries"))
        case .messages: SafeText(Self.count(state.player.messages.count, "message"))
        case .playing, .help: ""
        }
    }

    /// `9 tracks`; with a filter `4 of 9`, or `4… of 9` until all tracks were examined.
    private func queueAmount(_ state: UIState) -> SafeText {
        let all = state.player.tracks.count
        guard let filter = state.queue.filter else { return SafeText(Self.count(all, "track")) }
        let more = filter.hasWork(in: state.player) ? glyphs.more : ""
        return SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }
}

/// The columns of the tabs, for drawing them and for clicks on them. Pure.
///
/// If not all titles fit, only the open view keeps its title and the others show their numbers.
package struct TabLine: Sendable, Equatable {
    package struct Tab: Sendable, Equatable {
        package var view: ViewName
        package var text: SafeText
        package var columns: Range<Int>
    }

    package let tabs: [Tab]

    package init(open view: ViewName, columns: Int) {
        let full = Self.tabs { "\($0.number) " + $0.title.string }
        let short = Self.tabs { $0 == view ? "\($0.number) " + $0.title.string : "\($0.number)" }
        let fitting = [full, short].first { ($0.last?.columns.upperBound ?? 0) < columns }
        let alone = Tab(view: view, text: view.title, columns: 1..<1 + view.title.columns)
        tabs = fitting ?? [alone]
    }

    /// The first column after the tabs.
    var end: Int { tabs.last?.columns.upperBound ?? 0 }

    /// The view whose tab is at `column`; `nil` between tabs.
    func view(at column: Int) -> ViewName? {
        tabs.first { $0.columns.contains(column) }?.view
    }

    private static func tabs(_ text: (ViewName) -> String) -> [Tab] {
        var column = 1
        return ViewName.allCases.map { view in
            let text = SafeText(text(view))
            defer { column += text.columns + 2 }
            return Tab(view: view, text: text, columns: column..<column + text.columns)
        }
    }
}
