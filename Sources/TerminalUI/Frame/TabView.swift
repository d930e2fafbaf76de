package import Media

/// The top line: a tab for each view, and at the right the number of entries in the open view, with the place
/// in it if not all are in view.
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
        case .queue: queueAmounts(state, glyphs)
        case .cache: cacheAmounts(state.cache)
        case .network: [SafeText(CountText.of(state.network.recordCount, "entry", "entries"))]
        case .messages: [SafeText(CountText.of(state.player.messages.count, "message"))]
        case .playing: pages(of: state.playing)
        case .help: pages(of: state.help)
        }
    }

    /// `9 tracks`, or `1207 of 3000 tracks` for the selected one of a longer list; with a filter `4 of 9`, or
    /// `4… of 9` until all tracks were examined.
    private static func queueAmounts(_ state: UIState, _ glyphs: Glyphs) -> [SafeText] {
        let all = state.player.tracks.count
        let list = state.queue.list
        guard let filter = state.queue.filter else {
            let place = place(in: list)
            let tracks = CountText.of(all, "track")
            return [
                SafeText(place + tracks), SafeText(place.isEmpty ? tracks : place + "\(all)"),
                SafeText(tracks),
            ]
        }
        let more = filter.hasWork(in: state.player) ? glyphs.more : ""
        return [SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")]
    }

    /// `61 tracks, 2 lists, 1.9 of 10 GB`, or `12 of 61 tracks, …`; with a filter, the tracks and bytes of
    /// the matches.
    private static func cacheAmounts(_ cache: CacheViewState) -> [SafeText] {
        let stored = cache.entries.reduce(0) { $0 &+ $1.stored.byteCount }
        let all = cache.report.entries?.count ?? 0
        guard cache.filter.isEmpty else {
            let matches = "\(cache.entries.count) of \(all)"
            return [SafeText("\(matches) tracks, \(SizeText.text(stored))"), SafeText(matches)]
        }
        let size = cache.report.budget.map { SizeText.text(stored, of: $0) } ?? SizeText.text(stored)
        let lists = cache.report.listCount
        let tracks = CountText.of(all - lists, "track")
        let both = CountText.tracks(all - lists, lists: lists)
        // With lists among the rows, the selected row has no place among the tracks.
        let place = lists == 0 ? place(in: cache.list) : ""
        return [
            SafeText(place + "\(both), \(size)"), SafeText("\(both), \(size)"),
            SafeText("\(tracks), \(size)"),
            SafeText(size),
        ]
    }

    /// `12 of `, the selected row of a list that is longer than the window; else empty.
    private static func place(in list: ListPosition) -> String {
        list.isCut ? "\(list.selected + 1) of " : ""
    }

    /// `2/4` for a text that is longer than the window.
    private static func pages(of list: ListPosition) -> [SafeText] {
        list.isCut ? [SafeText("\(list.page.number)/\(list.page.count)")] : []
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
