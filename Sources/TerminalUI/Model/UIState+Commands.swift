internal import Media

// What commands do, by key or typed.
extension UIState {
    mutating func run(_ command: UICommand) -> [UIAction] {
        if command != .removeSelected { cache.doomed = nil }
        if !command.isMove { queue.movedGroup = nil }
        switch command {
        case .player(.quit):
            isLeaving = true
            return [.send(.quit), .leave]
        case .player(let command): return [.send(command)]
        case .show(let name): return open(name)
        case .nextView(let tabs): return open(view.next(by: tabs))
        case .toggleHelp: return open(view == .help ? viewBeforeHelp : .help)
        case .back: return goBack()
        case .selectBy(let rows): go(by: rows)
        case .selectByPage(let pages): go(by: pages * max(1, list.height))
        case .selectFirst: go(by: -list.count)
        case .selectLast: go(by: list.count)
        case .selectCurrent:
            if let current = player.currentIndex { queue.select(place: current, in: player) }
            return open(.queue)
        case .playSelected: return playSelected()
        case .removeSelected: return removeSelected()
        case .pinSelected: return pinSelected()
        // What is not in view stays as it is: nothing happens to a row that nobody sees.
        case .moveSelected(let rows):
            guard view == .queue else { return [] }
            guard queue.filter == nil else {
                let key = keyMap.name(of: .back).map { " (" + $0 + ")" } ?? ""
                answer = Answer(text: "leave the filter first" + key, isError: true)
                return []
            }
            guard let move = queue.move(by: rows, in: player) else { return [] }
            return [.send(move)]
        case .toggleMark: if view == .queue { queue.toggleMark(in: player) }
        case .markAll: if view == .queue { queue.markAll(in: player) }
        case .unmarkAll: queue.marks = []
        case .search(let text): return look(for: text, kind: .search)
        case .filter(let text): return look(for: text, kind: .filter)
        case .nextMatch(let step): nextMatch(step)
        case .toggleRemainingTime: showsRemainingTime.toggle()
        case .toggleSound: return toggleSound()
        case .openCommandLine(let text):
            commandLine = CommandLine(text, history: history)
        case .redraw: return [.redrawAll]
        }
        return []
    }

    private mutating func go(by rows: Int) {
        if view.hasSelection { list.select(by: rows) } else { list.scroll(by: rows) }
    }

    mutating func open(_ name: ViewName) -> [UIAction] {
        if name == .help, view != .help { viewBeforeHelp = view }
        let wasCache = view == .cache
        view = name
        fitFacts()
        if name == .cache { return [.watchCache(true)] }
        return wasCache ? [.watchCache(false)] : []
    }

    /// Leaves the innermost of what is open: a view, a filter, the marks.
    private mutating func goBack() -> [UIAction] {
        if view == .help { return open(viewBeforeHelp) }
        guard view == .queue else { return open(.queue) }
        if queue.filter != nil {
            queue.setFilter("", in: player)
        } else {
            queue.marks = []
        }
        return []
    }

    private mutating func playSelected() -> [UIAction] {
        switch view {
        case .queue: return queue.selectedPlace.map { [.send(.jump($0 + 1))] } ?? []
        case .cache:
            guard let entry = cache.selected else { return [] }
            // What is shown is without the query, which can hold secrets: it is not the whole address.
            guard !entry.source.string.hasSuffix("…") else {
                answer = Answer(text: "only a part of this address is kept; add it by hand", isError: true)
                return []
            }
            answer = Answer(text: entry.name(dash: "-") + " is at the end of the queue now", isError: false)
            return [.send(.add(entry.source.string))]
        case .playing, .network, .messages, .help: return []
        }
    }

    private mutating func removeSelected() -> [UIAction] {
        switch view {
        case .queue:
            guard let removal = queue.remove(from: player), case .remove(let numbers) = removal else {
                return []
            }
            answer = Answer(text: removed(numbers), isError: false)
            return [.send(removal)]
        case .cache: return evictSelected()
        case .playing, .network, .messages, .help: return []
        }
    }

    private func removed(_ numbers: TrackNumbers) -> SafeText {
        let what = numbers.count == 1 ? "1 track" : "\(numbers.count) tracks"
        guard let key = keyMap.name(of: .player(.undo)) else { return SafeText("\(what) removed") }
        return SafeText("\(what) removed; ") + key + " undoes it"
    }

    /// What was fetched is not dropped by a slip: the key is asked for twice.
    private mutating func evictSelected() -> [UIAction] {
        guard let entry = cache.selected else { return [] }
        if entry.isPinned {
            cache.doomed = nil
            answer = Answer(text: "it is pinned; unpin it first", isError: true)
            return []
        }
        guard cache.doomed == entry.id else {
            cache.doomed = entry.id
            let size = SafeText(ByteText.text(entry.stored.byteCount))
            answer = Answer(
                text: "once more drops " + size + " of " + entry.name(dash: "-"),
                isError: false
            )
            return []
        }
        cache.doomed = nil
        return [.evict(entry.id)]
    }

    /// More at once would fill the disk by a slip.
    private static let mostPinned = 1_000

    private mutating func pinSelected() -> [UIAction] {
        switch view {
        case .queue:
            let places = queue.pinPlaces(in: player)
            guard places.count <= Self.mostPinned else {
                let text = "\(places.count) tracks are marked; at most \(Self.mostPinned) are pinned at once"
                answer = Answer(text: SafeText(text), isError: true)
                return []
            }
            queue.marks = []
            return places.map { .send(.pin($0 + 1)) }
        case .cache: return cache.selected.map { [.pinKept($0.id, !$0.isPinned)] } ?? []
        case .playing, .network, .messages, .help: return []
        }
    }
}

extension UICommand {
    fileprivate var isMove: Bool {
        if case .moveSelected = self { true } else { false }
    }
}
