internal import Media

/// A search or filter text while it is typed. The open list is searched or filtered again after each key.
package struct Prompt: Sendable {
    package enum Kind: Sendable {
        case search
        case filter

        /// The label in front of the text.
        var sign: SafeText { self == .search ? "/" : "filter: " }
    }

    package let kind: Kind
    /// Limited, because each key examines the queue again with the whole text.
    package private(set) var line = CommandLine(limit: 256)
    /// The row and the filter to return to when the prompt is cancelled.
    private let origin: Int
    /// The item from which to search.
    private let start: Int
    private let earlierFilter: String

    /// A filter prompt starts with the current filter, which is edited more often than replaced.
    init(_ kind: Kind, of lists: ViewLists) {
        self.kind = kind
        origin = lists.list.selected
        start = lists.current.searchStart
        earlierFilter = lists.filterText
        if kind == .filter { line.insert(earlierFilter) }
    }

    /// Applies one key to the text and the result to the open list; `false` if the prompt is closed.
    mutating func apply(_ key: Key, to lists: inout ViewLists, of player: PlayerSnapshot) -> Bool {
        // There is nothing to complete.
        guard key != .tab, key != .backTab else { return true }
        switch line.apply(key) {
        case .entered: return false
        case .cancelled:
            switch kind {
            case .filter: lists.setFilter(earlierFilter, in: player)
            case .search: lists.endSearch()
            }
            lists.list.select(origin)
            return false
        case .editing, .wantsPaths, .wantsThemes, .wantsDevices:
            show(in: &lists, of: player)
            return true
        }
    }

    mutating func paste(_ text: String, to lists: inout ViewLists, of player: PlayerSnapshot) {
        line.insert(text)
        show(in: &lists, of: player)
    }

    private func show(in lists: inout ViewLists, of player: PlayerSnapshot) {
        switch kind {
        case .filter: lists.setFilter(line.text, in: player)
        case .search where line.text.isEmpty:
            lists.endSearch()
            lists.list.select(origin)
        case .search:
            guard line.text != lists.searchText else { return }
            lists.find(line.text, from: start, in: player)
            if !lists.hasFound { lists.list.select(origin) }
        }
    }
}
