package import Media

/// The views of the screen, in the order of their numbers and of `Tab`.
enum ViewTable {
    static let rows: [any ListView] = [
        QueueView(), PlayingView(), CacheView(), NetworkView(), MessagesView(), HelpView(),
        DownloadsView(), FactsView(),
    ]
}

/// One view of the screen: a list, the commands on its rows, and how it is drawn. Pure.
///
/// A view writes only the members that differ from the defaults below.
protocol ListView: Sendable {
    static var name: ViewName { get }
    /// The uses of a typed text.
    static var prompts: [Prompt.Kind] { get }
    /// `false` if the list only scrolls; by default, if no text can be typed.
    static var selectsRows: Bool { get }

    var list: ListPosition { get set }
    /// The text that rows must match to be shown; empty if all are shown.
    var filterText: String { get }

    init()

    /// The rows of the window that show rows of the list.
    func rows(in layout: ScreenLayout) -> Range<Int>

    /// The columns of the window that show them.
    func columns(in layout: ScreenLayout) -> Range<Int>

    /// Fits the list to a new size or to a snapshot that replaces `before`; also called if the view is
    /// opened.
    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool)

    /// Fits the list to the room that a box over it leaves.
    mutating func fit(to layout: ScreenLayout)

    /// The first row of a pop-up; `nil` without one.
    var boxTop: Int? { get }

    /// Returns an event for `receive` if the surroundings have changed in something that this view shows;
    /// `nil` if not.
    func news(in surroundings: ScreenSurroundings, isOpen: Bool) -> UIEvent?

    /// Takes over news from elsewhere than the player, and returns a problem that they report.
    mutating func receive(_ event: UIEvent) -> CommandAnswer?

    /// The actions of the shell for opening (`isOpen`) or closing the view.
    func watch(_ isOpen: Bool) -> [UIAction]

    /// Runs a command of the open view; `nil` if this view gives it no meaning of its own.
    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome?

    mutating func setFilter(_ text: String, in player: PlayerSnapshot)

    /// `true` if `work` has rows left to examine for the filter.
    func hasWork(in player: PlayerSnapshot) -> Bool

    /// Examines the next slice of rows for the filter.
    mutating func work(in player: PlayerSnapshot)

    /// The number of items that a search looks through; by default, these are the rows.
    func searchedCount(in player: PlayerSnapshot) -> Int

    /// The item at the selected row.
    var searchStart: Int { get }

    /// `true` if a search finds the item.
    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool

    /// Selects an item that a search has found.
    mutating func select(found item: Int, in player: PlayerSnapshot)

    /// The facts about the selected row; empty if no row is selected.
    func facts(in context: ViewContext) -> [Fact]

    /// The size of the list, for the end of the line of tabs, the longest text first.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText]

    /// The commands that the bottom line names, with a word for each.
    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)]

    /// `timeOfDay` formats a time of the player's clock in eight columns.
    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer)
}

extension ListView {
    static var prompts: [Prompt.Kind] { [] }
    static var selectsRows: Bool { !prompts.isEmpty }
    var filterText: String { "" }
    var boxTop: Int? { nil }

    func rows(in layout: ScreenLayout) -> Range<Int> { layout.listRows }
    func columns(in layout: ScreenLayout) -> Range<Int> { 0..<layout.columns }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        resize(count: list.count, in: context)
    }

    mutating func resize(count: Int, in context: ViewContext) {
        list.resize(count: count, height: rows(in: context.layout).count)
    }

    mutating func fit(to layout: ScreenLayout) {
        list.resize(count: list.count, height: rows(in: layout).count)
    }

    func news(in surroundings: ScreenSurroundings, isOpen: Bool) -> UIEvent? { nil }
    mutating func receive(_ event: UIEvent) -> CommandAnswer? { nil }
    func watch(_ isOpen: Bool) -> [UIAction] { [] }
    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? { nil }
    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {}
    func hasWork(in player: PlayerSnapshot) -> Bool { false }
    mutating func work(in player: PlayerSnapshot) {}
    func searchedCount(in player: PlayerSnapshot) -> Int { list.count }
    var searchStart: Int { list.selected }
    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool { false }
    func facts(in context: ViewContext) -> [Fact] { [] }

    mutating func select(found item: Int, in player: PlayerSnapshot) {
        list.select(item, context: RowSearch.context)
    }

    /// `2/4` for a text that is longer than the window.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        list.isCut ? [SafeText("\(list.page.number)/\(list.page.count)")] : []
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        [(.selectBy(1), "down"), (.selectBy(-1), "up")]
    }
}

/// Names a view.
package struct ViewName: Sendable, Hashable {
    /// The word that opens it.
    package let word: String
    let help: SafeText
    /// `false` if it has neither a key nor, unless it is open, a tab: a command opens it.
    var hasTab = true
    /// `true` if `back` returns to the view from which it was opened.
    var isAbove = false
    /// `true` if it is drawn over a part of that view, which goes on.
    var isPopUp = false

    /// In the order of their numbers.
    package static let allCases = ViewTable.rows.map { type(of: $0).name }

    /// The views that have a tab while this one is open.
    var tabs: [ViewName] { Self.allCases.filter { $0.hasTab || $0 == self } }

    /// The text of its tab.
    package var title: SafeText { SafeText(word.prefix(1).uppercased() + word.dropFirst()) }

    /// The number of its key, from 1.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    /// The view `count` tabs further on, wrapping around.
    func next(by count: Int) -> ViewName {
        let all = tabs
        let place = all.firstIndex(of: self) ?? 0
        return all[(place + count % all.count + all.count) % all.count]
    }
}

/// The state that all views share: they draw it, and their commands act on it.
struct ViewContext: Sendable {
    let keyMap: KeyMap
    var player = PlayerSnapshot()
    var layout: ScreenLayout
    /// Set for drawing: shows the matches of the open view's search.
    var searched: TrackMatcher?
}
