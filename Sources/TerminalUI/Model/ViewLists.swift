internal import Media

/// The views, which of them is open, and their lists. Pure.
struct ViewLists: Sendable {
    private(set) var open = ViewName.queue
    var queue = QueueViewState()
    private(set) var playing = ListPosition()
    var cache = CacheViewState()
    var network = NetworkViewState()
    var messages = MessagesViewState()
    private(set) var help = ListPosition()
    /// The view to return to from the help.
    private(set) var viewBeforeHelp = ViewName.queue
    /// The last text searched in each view, except in the queue, which has a search of its own.
    private var searched: [ViewName: String] = [:]
    /// The text of the last search outside of the queue; `nil` if it found something.
    private var vainText: String?

    mutating func show(_ view: ViewName) {
        if view == .help, open != .help { viewBeforeHelp = open }
        open = view
        vainText = nil
    }

    /// The list of the open view.
    var current: ListPosition {
        get { self[keyPath: path] }
        set { self[keyPath: path] = newValue }
    }

    private var path: WritableKeyPath<ViewLists, ListPosition> {
        switch open {
        case .queue: \.queue.list
        case .playing: \.playing
        case .cache: \.cache.list
        case .network: \.network.list
        case .messages: \.messages.list
        case .help: \.help
        }
    }

    mutating func go(by rows: Int) {
        if open.hasSelection { current.select(by: rows) } else { current.scroll(by: rows) }
    }

    mutating func fit(to layout: ScreenLayout, _ player: PlayerSnapshot, _ keyMap: KeyMap) {
        let height = layout.listRows.count
        let table = layout.tableRows.count
        queue.resize(height: height, player: player)
        playing.resize(count: playing.count, height: height)
        cache.list.resize(count: cache.list.count, height: table)
        network.list.resize(count: network.list.count, height: table)
        messages.list.resize(count: messages.list.count, height: height)
        messages.show(player.messages, columns: layout.columns)
        help.resize(count: HelpView.rowCount(of: keyMap, columns: layout.columns), height: height)
    }

    /// Fits the list to the facts about the current track, which are collected only while they are visible.
    mutating func fitFacts(of player: PlayerSnapshot) {
        guard open == .playing else { return }
        playing.resize(count: PlayingFact.all(of: player, glyphs: .ascii).count, height: playing.height)
    }

    /// The row of the open list that is drawn at `row` of the window; `nil` if there is none.
    func row(at row: Int, _ layout: ScreenLayout) -> Int? {
        let rows = open.hasHeader ? layout.tableRows : layout.listRows
        guard rows.contains(row) else { return nil }
        let index = current.top + row - rows.lowerBound
        return current.visible.contains(index) ? index : nil
    }

    // MARK: Searching and filtering the open list

    func allows(_ kind: Prompt.Kind) -> Bool {
        switch open {
        case .queue, .cache: true
        case .network, .messages: kind == .search
        case .playing, .help: false
        }
    }

    /// The filter of the open list; empty if there is none.
    var filter: String { open == .cache ? cache.filter : queue.filter?.text ?? "" }

    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        switch open {
        case .queue: queue.setFilter(text, in: player)
        case .cache: cache.setFilter(text)
        case .playing, .network, .messages, .help: break
        }
    }

    /// Selects the nearest row that matches `text`, from `row` on or, with a `step` of -1, back from it.
    mutating func find(_ text: String, from row: Int, step: Int = 1, in player: PlayerSnapshot) {
        guard open != .queue else {
            return queue.find(text, from: row, isForward: step > 0, in: player)
        }
        let count = current.count
        let matcher = TrackMatcher(text)
        searched[open] = text
        let found = (0..<count).lazy.map { ((row + $0 * step) % count + count) % count }
            .first { matcher.matches(self.text(ofRow: $0)) }
        if let found { current.select(found) }
        vainText = found == nil ? text : nil
    }

    /// Repeats the search, beginning `step` rows further on; `false` if there was none.
    mutating func findNext(_ step: Int, in player: PlayerSnapshot) -> Bool {
        guard open != .queue else { return queue.findNext(step, in: player) }
        guard let text = searched[open] else { return false }
        find(text, from: current.selected + step, step: step, in: player)
        return true
    }

    mutating func endSearch() {
        vainText = nil
        if open == .queue { queue.endSearch() } else { searched[open] = nil }
    }

    /// `true` if the last search selected a row, or is still running.
    var hasFound: Bool { open == .queue ? queue.search?.found != nil : vainText == nil }

    /// The text being searched; `nil` if there is no search.
    var searchText: String? { open == .queue ? queue.search?.text : searched[open] }

    /// The text of a search that found no match in any row; `nil` if it found one or is still running.
    var vainSearch: String? { open == .queue ? queue.vainSearch : vainText }

    private func text(ofRow row: Int) -> String {
        switch open {
        case .cache: cache.text(ofRow: row)
        case .network: network.text(ofRow: row)
        case .messages: messages.lines[row].text.string
        case .queue, .playing, .help: ""
        }
    }
}
