internal import Media

/// The views, which of them is open, and the search in each. Pure.
struct ViewLists: Sendable {
    private var views = ViewTable.rows
    /// The index of the open view.
    private var place = 0
    private(set) var viewBeforeHelp = ViewName.queue
    /// The running search in each view, or the last one, which `findNext` repeats.
    private var searches: [ViewName: RowSearch] = [:]

    var current: any ListView { views[place] }

    var open: ViewName { type(of: current).name }

    /// The list of the open view.
    var list: ListPosition {
        get { views[place].list }
        set { views[place].list = newValue }
    }

    func view<View: ListView>(_: View.Type = View.self) -> View {
        views.lazy.compactMap { $0 as? View }.first ?? View()
    }

    /// Opens a view and returns what the shell must do for it and the one before.
    mutating func show(_ view: ViewName) -> [UIAction] {
        if view == .help, open != .help { viewBeforeHelp = open }
        let left = view == open ? [] : current.watch(false)
        place = view.number - 1
        return left + current.watch(true)
    }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot) {
        for index in views.indices {
            views[index].update(to: context, from: before, isOpen: index == place)
        }
    }

    func news(in surroundings: ScreenSurroundings) -> [UIEvent] {
        views.indices.compactMap { views[$0].news(in: surroundings, isOpen: $0 == place) }
    }

    mutating func receive(_ event: UIEvent) -> CommandAnswer? {
        views.indices.compactMap { views[$0].receive(event) }.last
    }

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        views[place].run(command, in: context)
    }

    mutating func go(by rows: Int) {
        if type(of: current).prompts.isEmpty { list.scroll(by: rows) } else { list.select(by: rows) }
    }

    /// The row of the open list that is drawn at `row` of the window; `nil` if there is none.
    func row(at row: Int, _ layout: ScreenLayout) -> Int? {
        let rows = current.rows(in: layout)
        guard rows.contains(row) else { return nil }
        let index = list.top + row - rows.lowerBound
        return list.visible.contains(index) ? index : nil
    }

    // MARK: Searching and filtering the open list

    func allows(_ kind: Prompt.Kind) -> Bool { type(of: current).prompts.contains(kind) }

    var filterText: String { current.filterText }

    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        guard text != filterText else { return }
        searches[open] = nil
        views[place].setFilter(text, in: player)
    }

    /// `true` if a filter or the open view's search has rows left to examine.
    func hasWork(in player: PlayerSnapshot) -> Bool {
        isSearching || views.contains { $0.hasWork(in: player) }
    }

    /// `true` if the search in the open view has rows left to examine.
    var isSearching: Bool { searches[open]?.hasWork(rows: list.count) == true }

    /// Examines the next slice of rows, for each filter or else for the search.
    mutating func work(in player: PlayerSnapshot) {
        for index in views.indices where views[index].hasWork(in: player) {
            return views[index].work(in: player)
        }
        guard isSearching else { return }
        let view = current
        searches[open]?.examine(rows: view.list.count) { view.matches($0, row: $1, in: player) }
        if let found = searches[open]?.found { list.select(found) }
    }

    /// Selects the nearest row that matches `text`, from `row` on or, with a `step` of -1, back from it.
    mutating func find(_ text: String, from row: Int, step: Int = 1, in player: PlayerSnapshot) {
        searches[open] = RowSearch(text, from: row, step: step)
        work(in: player)
    }

    /// Repeats the search, beginning `step` rows further on; `false` if there was none.
    mutating func findNext(_ step: Int, in player: PlayerSnapshot) -> Bool {
        guard let text = searchText else { return false }
        find(text, from: list.selected + step, step: step, in: player)
        return true
    }

    mutating func endSearch() { searches[open] = nil }

    /// `true` if the last search selected a row.
    var hasFound: Bool { searches[open]?.found != nil }

    var searchText: String? { searches[open]?.text }

    /// The text of a search that found no match in any row; `nil` if it found one or is still running.
    var vainSearch: String? { isSearching || hasFound ? nil : searchText }
}

/// A search for the nearest row that matches a text, slice by slice. It wraps around at the end of the list.
struct RowSearch: Sendable {
    let text: String
    private let matcher: TrackMatcher
    /// The row examined first.
    private let start: Int
    /// 1 is forwards, -1 is backwards.
    private let step: Int
    private var examinedCount = 0
    /// `true` once all rows were examined: rows that are added later do not begin the search again.
    private var isOver = false
    private(set) var found: Int?

    init(_ text: String, from start: Int, step: Int) {
        self.text = text
        self.start = start
        self.step = step
        matcher = TrackMatcher(text)
    }

    /// `true` until a row is found or all are examined.
    func hasWork(rows: Int) -> Bool { found == nil && !isOver && examinedCount < rows }

    /// Examines the next of `rows` rows.
    mutating func examine(rows: Int, matches: (TrackMatcher, _ row: Int) -> Bool) {
        let end = min(rows, examinedCount + QueueFilter.slice)
        while found == nil, examinedCount < end {
            let row = ((start + examinedCount * step) % rows + rows) % rows
            if matches(matcher, row) { found = row }
            examinedCount += 1
        }
        isOver = examinedCount >= rows
    }
}
