internal import Media

/// A search or filter text while it is typed. The queue is searched or filtered again after each key.
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
    private let earlierFilter: String

    /// A filter prompt starts with the current filter, which is edited more often than replaced.
    init(_ kind: Kind, of queue: QueueViewState) {
        self.kind = kind
        origin = queue.list.selected
        earlierFilter = queue.filter?.text ?? ""
        if kind == .filter { line.insert(earlierFilter) }
    }

    /// Applies one key to the text and the result to `queue`; `false` if the prompt is closed.
    mutating func apply(_ key: Key, to queue: inout QueueViewState, of player: PlayerSnapshot) -> Bool {
        // There is nothing to complete.
        guard key != .tab, key != .backTab else { return true }
        switch line.apply(key) {
        case .entered: return false
        case .cancelled:
            switch kind {
            case .filter: queue.setFilter(earlierFilter, in: player)
            case .search: queue.endSearch()
            }
            queue.list.select(origin)
            return false
        case .editing, .wantsPaths:
            show(in: &queue, of: player)
            return true
        }
    }

    mutating func paste(_ text: String, to queue: inout QueueViewState, of player: PlayerSnapshot) {
        line.insert(text)
        show(in: &queue, of: player)
    }

    private func show(in queue: inout QueueViewState, of player: PlayerSnapshot) {
        switch kind {
        case .filter: queue.setFilter(line.text, in: player)
        case .search where line.text.isEmpty:
            queue.endSearch()
            queue.list.select(origin)
        case .search:
            guard line.text != queue.search?.text else { return }
            queue.find(line.text, from: origin, isForward: true, in: player)
            if queue.search?.found == nil { queue.list.select(origin) }
        }
    }
}
