internal import Media

/// The views, which of them is open, and the search in each. Pure.
struct ViewLists: Sendable {
    private var views = ViewTable.rows
    /// The index of the open view.
    private var place = 0
    /// The views below the open one, the topmost last; empty if the open one is not above others.
    private var below: [ViewName] = []
    /// The running search in each view, or the last one, which `findNext` repeats.
    private var searches: [ViewName: RowSearch] = [:]

    var current: any ListView { views[place] }

    var open: ViewName { type(of: current).name }

    /// The view to which `back` returns from one above it.
    var viewBelow: ViewName { below.last ?? .queue }

    /// The list of the open view.
    var list: ListPosition {
        get { views[place].list }
        set { views[place].list = newValue }
    }

    func view<View: ListView>(_: View.Type = View.self) -> View {
        views.lazy.compactMap { $0 as? View }.first ?? View()
    }

    /// The views that can be seen: the open one, behind the one that it covers in part.
    var visible: [any ListView] { visiblePlaces.map { views[$0] } }

    private var visiblePlaces: [Int] { (open.isPopUp ? [viewBelow.number - 1] : []) + [place] }

    /// Opens a view and returns what the shell must do for it and those before.
    mutating func show(_ view: ViewName) -> [UIAction] {
        let before = visiblePlaces
        if !view.isAbove {
            below = []
        } else if let place = below.firstIndex(of: view) {
            below.removeSubrange(place...)
        } else if view != open {
            below.append(open)
        }
        place = view.number - 1
        let after = visiblePlaces
        return before.filter { !after.contains($0) }.flatMap { views[$0].watch(false) }
            + after.filter { !before.contains($0) || $0 == place }.flatMap { views[$0].watch(true) }
    }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot) {
        let visible = visiblePlaces
        for index in views.indices {
            views[index].update(to: context, from: before, isOpen: visible.contains(index))
        }
    }

    func news(in surroundings: ScreenSurroundings) -> [UIEvent] {
        let visible = visiblePlaces
        return views.indices.compactMap {
            views[$0].news(in: surroundings, isOpen: visible.contains($0))
        }
    }

    mutating func receive(_ event: UIEvent) -> CommandAnswer? {
        views.indices.compactMap { views[$0].receive(event) }.last
    }

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        views[place].run(command, in: context)
    }

    /// Fills the view of facts with those of the selected row; `false` if no row is selected.
    mutating func takeFacts(in context: ViewContext) -> Bool {
        let found = current.facts(in: context)
        guard !found.isEmpty else { return false }
        var view = FactsView()
        view.show(found, in: context)
        views[ViewName.facts.number - 1] = view
        return true
    }

    mutating func go(by rows: Int) {
        if type(of: current).selectsRows { list.select(by: rows) } else { list.scroll(by: rows) }
    }

    /// The row of the open list that is drawn at the cell of a mouse event; `nil` if the cell shows no row.
    func row(at event: MouseEvent, _ layout: ScreenLayout) -> Int? {
        var view = current
        if layout.isCovered { view.fit(to: layout) }
        let rows = view.rows(in: layout)
        guard rows.contains(event.row), view.columns(in: layout).contains(event.column) else { return nil }
        let index = view.list.top + event.row - rows.lowerBound
        return view.list.visible.contains(index) ? index : nil
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
        isSearching(in: player) || views.contains { $0.hasWork(in: player) }
    }

    /// `true` if the search in the open view has items left to examine.
    func isSearching(in player: PlayerSnapshot) -> Bool {
        searches[open]?.hasWork(of: current.searchedCount(in: player)) == true
    }

    /// Examines the next slice of rows, for each filter or else for the search.
    mutating func work(in player: PlayerSnapshot) {
        for index in views.indices where views[index].hasWork(in: player) {
            return views[index].work(in: player)
        }
        guard isSearching(in: player) else { return }
        let view = current
        let before = searches[open]?.found
        searches[open]?.examine(items: view.searchedCount(in: player)) {
            view.matches($0, item: $1, in: player)
        }
        if let found = searches[open]?.found, before == nil {
            views[place].select(found: found, in: player)
        }
    }

    /// Selects the nearest item that matches `text`, from `start` on or, with a `step` of -1, back from it.
    mutating func find(_ text: String, from start: Int, step: Int = 1, in player: PlayerSnapshot) {
        searches[open] = RowSearch(text, from: start, step: step, revision: Self.revision(of: player))
        work(in: player)
    }

    /// Repeats the search, beginning at the item `step` further on; `false` if there was none.
    mutating func findNext(_ step: Int, in player: PlayerSnapshot) -> Bool {
        guard var search = searches[open] else { return false }
        let start = current.searchStart
        let count = current.searchedCount(in: player)
        if search.select(from: start, step: step, of: count, revision: Self.revision(of: player)) {
            searches[open] = search
            if let found = search.found { views[place].select(found: found, in: player) }
        } else {
            find(search.text, from: start + step, step: step, in: player)
        }
        return true
    }

    private static func revision(of player: PlayerSnapshot) -> [Int] {
        [player.queueRevision, player.learned.revision]
    }

    /// Shows the matches of a search no more; it can be repeated.
    mutating func hideSearch() { searches[open]?.isShown = false }

    mutating func endSearch() { searches[open] = nil }

    /// `true` if the last search selected a row.
    var hasFound: Bool { searches[open]?.found != nil }

    var searchText: String? { searches[open]?.text }

    /// The text that is searched for in the open view; `nil` if no matches are shown.
    var searched: TrackMatcher? {
        searches[open].flatMap { $0.isShown && !$0.isBlank ? $0.matcher : nil }
    }

    /// The place of the match among all: `2 of 9`, and if the search went on at the other end of the list.
    /// `nil` while it is running, and if nothing was found.
    var searchPlace: SafeText? { searches[open]?.placeText }

    /// The text of a search that found no match in any row; `nil` if it found one or is still running.
    func vainSearch(in player: PlayerSnapshot) -> String? {
        isSearching(in: player) || hasFound ? nil : searchText
    }
}

/// A search for the nearest item that matches a text, slice by slice. It wraps around at the end of the list,
/// and then goes on to count all matches.
struct RowSearch: Sendable {
    /// The rows of the list that are kept in view above and below a match.
    static let context = 3

    let text: String
    let matcher: TrackMatcher
    /// `true` if the matches are highlighted.
    var isShown = true
    /// The item examined first.
    private let start: Int
    /// 1 is forwards, -1 is backwards.
    private let step: Int
    /// The direction of the last step.
    private var direction: Int
    private let revision: [Int]
    private var examinedCount = 0
    /// The items that match, in order once all were examined.
    private var matches: [Int] = []
    /// `true` once all items were examined: items that are added later do not begin the search again.
    private var isOver = false
    private(set) var found: Int?
    /// `true` if the search has gone past the end of the list, or past its start.
    private var isWrapped = false

    /// The matches are valid while `revision`, which counts the changes of what is shown, stays the same.
    init(_ text: String, from start: Int, step: Int, revision: [Int]) {
        self.text = text
        self.start = start
        self.step = step
        direction = step
        self.revision = revision
        matcher = TrackMatcher(text)
    }

    var isBlank: Bool { text.allSatisfy(\.isWhitespace) }

    /// `true` until all items are examined.
    func hasWork(of items: Int) -> Bool { !isOver && examinedCount < items }

    /// Examines the next of `items` items.
    mutating func examine(items: Int, matches isMatch: (TrackMatcher, _ item: Int) -> Bool) {
        let end = min(items, examinedCount + QueueFilter.slice)
        while examinedCount < end {
            let place = start + examinedCount * step
            let item = (place % items + items) % items
            if isMatch(matcher, item) {
                matches.append(item)
                if found == nil {
                    found = item
                    isWrapped = place != item
                }
            }
            examinedCount += 1
        }
        guard examinedCount >= items else { return }
        isOver = true
        matches.sort()
    }

    /// Selects the next match after `start`, or with a `step` of -1 the one before it. Returns `false` if not
    /// all of `count` items were examined, or if they have changed since: then they must be examined again.
    mutating func select(from start: Int, step: Int, of count: Int, revision: [Int]) -> Bool {
        guard isOver, examinedCount == count, revision == self.revision else { return false }
        isShown = true
        guard let first = matches.first, let last = matches.last else { return true }
        let next = matches.partitioningIndex { step > 0 ? $0 > start : $0 >= start } - (step > 0 ? 0 : 1)
        isWrapped = !matches.indices.contains(next)
        found = isWrapped ? step > 0 ? first : last : matches[next]
        direction = step
        return true
    }

    /// `2 of 9`; `nil` until all items were examined, and if none matches.
    var placeText: SafeText? {
        guard isOver, let found else { return nil }
        let number = matches.partitioningIndex { $0 >= found } + 1
        let wrap = !isWrapped ? "" : direction > 0 ? " (from the top again)" : " (from the bottom again)"
        return SafeText("\(number) of \(matches.count)" + wrap)
    }
}
