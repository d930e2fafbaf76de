internal import Media

/// A text to look for, while it is typed.
package struct Prompt: Sendable, Equatable {
    package enum Kind: Sendable {
        case search
        case filter

        /// What stands before the text.
        var sign: SafeText { self == .search ? "/" : "filter: " }
    }

    package var kind: Kind
    package var line = CommandLine()
    /// The row that was selected when it was opened.
    var origin: Int
    /// What was filtered by then.
    var before: String
}

// Looking for tracks: every letter counts as soon as it is typed.
extension UIState {
    /// Looks for `text`, or asks for one. Only the queue is looked through.
    mutating func look(for text: String?, kind: Prompt.Kind) -> [UIAction] {
        let actions = open(.queue)
        guard let text else {
            prompt = Prompt(kind: kind, origin: queue.list.selected, before: queue.filter?.text ?? "")
            // A filter is changed more often than it is replaced.
            if kind == .filter { prompt?.line.insert(queue.filter?.text ?? "") }
            return actions
        }
        switch kind {
        case .filter: queue.setFilter(text, in: player)
        case .search: queue.find(text, from: queue.list.selected, isForward: true, in: player)
        }
        tellSearch()
        return actions
    }

    mutating func editPrompt(_ key: Key) -> [UIAction] {
        // There is nothing to complete.
        guard var open = prompt, key != .tab, key != .backTab else { return [] }
        switch open.line.apply(key) {
        case .entered:
            prompt = nil
            tellSearch()
        case .cancelled:
            prompt = nil
            if open.kind == .filter {
                queue.setFilter(open.before, in: player)
            } else {
                queue.search = nil
            }
            queue.list.select(open.origin)
        case .editing, .wantsPaths:
            prompt = open
            follow(open)
        }
        return []
    }

    mutating func pasteIntoPrompt(_ text: String) {
        prompt?.line.insert(text)
        if let prompt { follow(prompt) }
    }

    /// Shows at once what the prompt means by now.
    mutating func follow(_ open: Prompt) {
        switch open.kind {
        case .filter: queue.setFilter(open.line.text, in: player)
        case .search where open.line.text.isEmpty:
            queue.search = nil
            queue.list.select(open.origin)
        case .search:
            guard open.line.text != queue.search?.text else { return }
            queue.find(open.line.text, from: open.origin, isForward: true, in: player)
            if queue.search?.found == nil { queue.list.select(open.origin) }
        }
    }

    mutating func nextMatch(_ step: Int) {
        guard let last = queue.search, queue.list.count > 0 else {
            answer = Answer(text: "nothing was searched for yet", isError: false)
            return
        }
        let count = queue.list.count
        let start = ((queue.list.selected + step) % count + count) % count
        queue.find(last.text, from: start, isForward: step > 0, in: player)
        tellSearch()
    }

    /// Says that nothing was found, once that is certain and no more is typed.
    mutating func tellSearch() {
        guard prompt == nil, let search = queue.search, search.found == nil,
            !search.hasWork(rows: queue.list.count)
        else { return }
        answer = Answer(text: SafeText("no track has " + search.text), isError: true)
    }
}
