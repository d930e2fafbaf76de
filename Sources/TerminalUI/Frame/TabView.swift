package import Media

/// The top line: a tab for each view, and the number of entries in the open view at the right.
enum TabView {
    static func draw(_ state: UIState, row: Int, into buffer: inout CellBuffer) {
        let line = TabLine(open: state.view, columns: buffer.columns)
        for tab in line.tabs {
            let style = tab.view == state.view ? Style.title : .dim
            buffer.draw(tab.text, column: tab.columns.lowerBound, row: row, style: style)
        }
        let room = buffer.columns - line.end - 3
        guard let text = amounts(state, buffer.glyphs).first(where: { $0.columns <= room }) else { return }
        buffer.draw(text, column: buffer.columns - text.columns - 1, row: row, style: .dim)
    }

    /// The texts for the open view, the longest first.
    private static func amounts(_ state: UIState, _ glyphs: Glyphs) -> [SafeText] {
        switch state.view {
        case .queue: [queueAmount(state, glyphs)]
        case .cache: cacheAmounts(state.cache)
        case .network: [SafeText(count(state.network.recordCount, "entry", "entries"))]
        case .messages: [SafeText(count(state.player.messages.count, "message"))]
        case .playing, .help: []
        }
    }

    /// `9 tracks`; with a filter `4 of 9`, or `4… of 9` until all tracks were examined.
    private static func queueAmount(_ state: UIState, _ glyphs: Glyphs) -> SafeText {
        let all = state.player.tracks.count
        guard let filter = state.queue.filter else { return SafeText(count(all, "track")) }
        let more = filter.hasWork(in: state.player) ? glyphs.more : ""
        return SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")
    }

    /// `61 tracks, 1.9 of 10 GB`; with a filter, the tracks and bytes of the matches.
    private static func cacheAmounts(_ cache: CacheViewState) -> [SafeText] {
        let stored = cache.entries.reduce(0) { $0 &+ $1.stored.byteCount }
        let all = cache.report.entries?.count ?? 0
        guard cache.filter.isEmpty else {
            let matches = "\(cache.entries.count) of \(all)"
            return [SafeText("\(matches) tracks, \(ByteText.text(stored))"), SafeText(matches)]
        }
        let size = cache.report.budget.map { ByteText.text(stored, of: $0) } ?? ByteText.text(stored)
        return [SafeText("\(count(all, "track")), \(size)"), SafeText(size)]
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
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
