package import Media

/// Everything the screen shows, and how each event changes it.
///
/// Pure: no clock, terminal or player. Events go in, actions come out, views read the state.
package struct UIState: Sendable {
    /// The rows that one notch of the mouse wheel scrolls.
    private static let wheelRows = 3
    /// The most sources that one paste adds; a longer paste is refused as a mistake.
    private static let mostPastedLines = 1_000

    package let keyMap: KeyMap
    package private(set) var player = PlayerSnapshot()
    package private(set) var layout: ScreenLayout
    private var lists = ViewLists()
    package private(set) var answer: CommandAnswer? {
        didSet { if answer != nil { answerCount += 1 } }
    }
    private var answerCount = 0
    package private(set) var showsRemainingTime = false
    /// The spectrum and the level meters; `nil` while they are hidden.
    package private(set) var sound: SoundBars?
    /// `true` if the user asked to quit.
    package private(set) var isLeaving = false
    private var typing: Typing
    /// The line that was entered last; `nil` once another key was pressed, or the notice after it has gone.
    private var enteredLine: String?
    /// `true` until the first key is pressed.
    private var isUntouched = true
    /// `true` after a key that opens a line was refused: the word typed after it must not run as keys.
    package private(set) var ignoresTyping = false
    /// `true` from the first snapshot on.
    private var hasSnapshot = false

    package init(columns: Int, rows: Int, keyMap: KeyMap = .standard, history: [String] = []) {
        self.keyMap = keyMap
        typing = Typing(history: history)
        layout = ScreenLayout(columns: columns, rows: rows)
        lists.fit(to: layout, player, keyMap)
    }

    package var view: ViewName { lists.open }
    package var queue: QueueViewState { lists.queue }
    package var playing: ListPosition { lists.playing }
    package var cache: CacheViewState { lists.cache }
    package var network: NetworkViewState { lists.network }
    package var messages: MessagesViewState { lists.messages }
    package var help: ListPosition { lists.help }

    /// The command being typed; `nil` if none is.
    package var commandLine: CommandLine? { typing.command }

    /// The search or filter being typed; `nil` if none is.
    package var prompt: Prompt? { typing.prompt }

    /// The line being typed, and the label in front of it; `nil` if none is.
    var typed: (sign: SafeText, line: CommandLine)? { typing.line }

    /// The player's newest message; `nil` once a key was pressed while it was visible.
    package var message: SafeText? { messages.unseen }

    /// Identifies the answer or the message at the bottom, which goes after a while; `nil` if there is none.
    package var notice: [Int]? {
        typed == nil && (answer != nil || message != nil) ? [answerCount, messages.newestNumber] : nil
    }

    /// `true` if a filter or search has tracks left to examine. Each `UIEvent.idle` examines one slice of
    /// them.
    package var hasWork: Bool { queue.hasWork(in: player) }

    /// `true` if the spectrum is visible and changes with the music.
    package var movesSound: Bool { sound != nil && !layout.soundRows.isEmpty && player.state == .playing }

    /// Applies one event and returns what the shell must do. Draws nothing.
    package mutating func apply(_ event: UIEvent) -> [UIAction] {
        switch event {
        case .key(let key): return press(key)
        case .pasted(let text): return paste(text)
        case .listed(let word, let paths): typing.complete(word, with: paths)
        case .mouse(let event): return point(event)
        case .snapshot(let snapshot): return show(snapshot)
        case .cache(let report): answer = lists.cache.show(report) ?? answer
        case .requests(let records, let count, let underWay):
            lists.network.show(records, count: count, underWay: underWay)
        case .idle:
            lists.queue.work(in: player)
            reportVainSearch()
        case .sound(let picture, let now): sound?.show(picture, at: now)
        case .resized(let columns, let rows): fitLayout(columns: columns, rows: rows)
        case .noticeExpired: clearNotice()
        case .typingPaused: ignoresTyping = false
        case .background: break
        case .endRequested:
            isLeaving = true
            return [.send(.quit)]
        }
        return []
    }

    private mutating func show(_ snapshot: PlayerSnapshot) -> [UIAction] {
        let before = player
        player = snapshot
        // The bars are cleared when playback stops or a track opens; while paused or buffering they stand
        // still.
        if sound != nil, [.stopped, .opening, .ended].contains(snapshot.state) { sound = SoundBars() }
        lists.queue.show(snapshot, before: before)
        let newest = messages.newestNumber
        lists.messages.show(snapshot.messages, columns: layout.columns)
        // The newest line is shown: a setting that changed, or a message.
        if let change = CommandReply.changes(from: before, to: snapshot).last, hasSnapshot, typed == nil {
            answer = .notice(change)
        } else if messages.newestNumber != newest, typed == nil {
            openFailedStart(snapshot)
            answer = snapshot.messages.last.flatMap { failure($0) }
            if answer != nil, let enteredLine { typing.open(enteredLine) }
            if answer != nil { lists.messages.markSeen() }
        }
        hasSnapshot = true
        lists.fitFacts(of: player)
        return snapshot.isOver ? [.leave] : []
    }

    /// After a start that brought no track, takes its last source for a line that was entered: it stays to be
    /// edited.
    private mutating func openFailedStart(_ snapshot: PlayerSnapshot) {
        guard isUntouched, snapshot.tracks.isEmpty,
            case .add(let source)? = snapshot.messages.last?.failed,
            // A password stays hidden.
            WebURL(source)?.userInfo == nil
        else { return }
        enteredLine = "add " + source
    }

    /// The answer to the last line that was entered, if it is the one that failed. If other keys were pressed
    /// since, it explains how to get the line back for editing.
    private func failure(_ message: PlayerMessage) -> CommandAnswer? {
        if let enteredLine, case .add(let source)? = message.failed, enteredLine == "add " + source {
            return .error(message.text)
        }
        guard let failed = message.failed, typing.recalls(failed),
            let key = keyMap.name(of: .openCommandLine(""))
        else { return nil }
        let way = enteredLine == nil ? " (" + key + " and Up bring the line back)" : ""
        return .error(message.text + way)
    }

    // MARK: Typing

    private mutating func press(_ key: Key) -> [UIAction] {
        isUntouched = false
        if ignoresTyping {
            switch key {
            case .character, .backspace: return []
            default: ignoresTyping = false
            }
            if key == .escape || key == .enter {
                clearNotice()
                return []
            }
        }
        let entry = keyMap.entry(for: key)
        if answer?.isError == true, entry?.command == .toggleHelp, typing.isUnknownCommand { typing.cancel() }
        clearNotice()
        if typing.command != nil { return edit(with: key) }
        if let isOpen = typing.prompt?.apply(key, to: &lists, of: player) {
            guard !isOpen else { return [] }
            typing.prompt = nil
            if key == .enter { reportVainSearch() }
            return []
        }
        if let entry {
            let actions = run(entry.command)
            ignoresTyping = entry.command.opensLine && answer?.isError == true
            return actions
        }
        if key == .control("c") { return run(.player(.quit)) }
        let help = keyMap.name(of: .toggleHelp).map { " (" + $0 + " for help)" } ?? ""
        answer = .notice(key.name + " is not bound" + help)
        return []
    }

    /// Removes the answer and the message at the bottom, unless typed text or the answer covers the message.
    private mutating func clearNotice() {
        enteredLine = nil
        if typed == nil, answer == nil, layout.messageRow != nil { lists.messages.markSeen() }
        answer = nil
    }

    private mutating func edit(with key: Key) -> [UIAction] {
        switch typing.edit(with: key) {
        case .editing, .cancelled: answer = typing.offer.map { .notice($0) }
        case .wantsPaths(let word): return [.listPaths(word)]
        case .entered(let text):
            enteredLine = text
            let actions = enter(text)
            // A line that failed stays to be edited.
            if answer?.isError == true { typing.open(text) }
            return actions
        }
        return []
    }

    private mutating func enter(_ line: String) -> [UIAction] {
        guard !line.allSatisfy(\.isWhitespace) else { return [] }
        // Habits of vi users. They are not in the table of commands, since scripts write whole names.
        if ["q", "q!", "wq"].contains(line) { return run(.player(.quit)) }
        do {
            let actions = run(try ParsedCommand(parsing: line).command)
            return CommandLine.maySave(line) ? [.remember(line)] + actions : actions
        } catch {
            let key = keyMap.name(of: .toggleHelp) ?? ":help"
            answer = .error(error.message + (error.isUnknownName ? " (" + key + " lists them)" : ""))
            return []
        }
    }

    /// Pasted text runs no keys: it is inserted into what is typed, or else added to the queue line by line.
    private mutating func paste(_ text: String) -> [UIAction] {
        if typing.command != nil {
            typing.insert(text)
            return []
        }
        if typing.prompt != nil {
            typing.prompt?.paste(text, to: &lists, of: player)
            return []
        }
        let lines = Typing.sources(in: text)
        guard lines.count <= Self.mostPastedLines else {
            let most = "Can't add more than \(Self.mostPastedLines) pasted lines"
            answer = .error(SafeText(most) + " – save them as a playlist")
            return []
        }
        return lines.map { .send(.add($0)) }
    }

    // MARK: Commands

    mutating func run(_ command: UICommand) -> [UIAction] {
        if command != .removeSelected { lists.cache.cancelDelete() }
        if command != .moveSelected(by: 1), command != .moveSelected(by: -1) { lists.queue.endMoving() }
        switch command {
        case .player(.quit):
            isLeaving = true
            return [.send(.quit), .leave]
        case .player(.sort) where view != .queue, .openCommandLine("sort ") where view != .queue:
            answer = notHere("sort")
        case .player(let command):
            answer = reply(to: .send(command)) ?? answer
            return answer?.isError == true ? [] : [.send(command)]
        case .show(let name): return open(name)
        case .nextView(let tabs): return open(view.next(by: tabs))
        case .toggleHelp: return open(view == .help ? lists.viewBeforeHelp : .help)
        case .back: return goBack()
        case .selectBy(let rows): lists.go(by: rows)
        case .selectByPage(let pages): lists.go(by: pages * max(1, lists.current.height))
        case .selectFirst: lists.go(by: -lists.current.count)
        case .selectLast: lists.go(by: lists.current.count)
        case .selectCurrent:
            guard let current = player.currentIndex else {
                answer = .error("Nothing is playing")
                return []
            }
            lists.queue.select(place: current, in: player)
            return open(.queue)
        case .playSelected, .removeSelected, .pinSelected, .playedSelected, .moveSelected:
            let outcome = onSelection(command)
            answer = outcome.answer ?? outcome.actions.compactMap { reply(to: $0) }.last ?? answer
            return outcome.actions
        case .toggleMark, .markAll, .unmarkAll: mark(command)
        case .search(let text): look(for: text, .search)
        case .filter(let text): look(for: text, .filter)
        case .nextMatch(let step):
            if lists.findNext(step, in: player) {
                reportVainSearch()
            } else {
                answer = .notice("No search yet")
            }
        case .toggleRemainingTime:
            showsRemainingTime.toggle()
            answer = .notice(showsRemainingTime ? "Remaining time" : "Elapsed time")
        case .toggleSound: return toggleSound()
        case .openCommandLine(let text): typing.open(text)
        case .redraw:
            answer = .notice("Redrawn")
            return [.redrawAll]
        }
        return []
    }

    private func reply(to action: UIAction) -> CommandAnswer? {
        guard case .send(let command) = action else { return nil }
        return CommandReply.answer(to: command, in: player, keys: keyMap)
    }

    /// Runs a command on the selected row or the marked tracks, which only the queue and the cache have.
    private mutating func onSelection(_ command: UICommand) -> CommandOutcome {
        switch (view, command) {
        case (.queue, _) where player.tracks.isEmpty: .error("The queue is empty")
        case (.queue, .playSelected):
            queue.selectedPlace.map { CommandOutcome([.send(.jump($0 + 1))]) } ?? .noSelection
        case (.queue, .removeSelected): lists.queue.removeChosen(from: player, keys: keyMap)
        case (.queue, .pinSelected): lists.queue.pinChosen(in: player)
        case (.queue, .playedSelected): lists.queue.togglePlayedChosen(in: player)
        case (.queue, .moveSelected(let rows)): lists.queue.moveChosen(by: rows, in: player, keys: keyMap)
        case (.cache, .playSelected): cache.add()
        case (.cache, .removeSelected): lists.cache.delete(key: keyMap.name(of: .removeSelected))
        case (.cache, .pinSelected): cache.togglePin()
        case (_, .playSelected): CommandOutcome(answer: notHere("play from"))
        case (_, .removeSelected): CommandOutcome(answer: notHere("remove from"))
        case (_, .pinSelected): CommandOutcome(answer: notHere("pin from"))
        case (_, .playedSelected): CommandOutcome(answer: notHere("mark episodes in"))
        default: CommandOutcome(answer: notHere("move rows in"))
        }
    }

    /// The answer to a command that the open view does not have.
    private func notHere(_ verb: SafeText) -> CommandAnswer {
        let way = keyMap.name(of: .show(.queue)).map { " (" + $0 + " opens the queue)" } ?? ""
        return .error("Can't " + verb + " this view" + way)
    }

    private mutating func mark(_ command: UICommand) {
        guard view == .queue else {
            answer = notHere("mark rows in")
            return
        }
        switch command {
        case .toggleMark: lists.queue.toggleMark(in: player)
        case .markAll: lists.queue.markAll(in: player)
        default: lists.queue.unmarkAll()
        }
        let count = queue.marks.count
        answer = .notice(SafeText(count == 0 ? "Nothing is marked" : "\(count) marked"))
    }

    /// Searches or filters the open list by `text`, or opens the prompt if `text` is `nil`.
    private mutating func look(for text: String?, _ kind: Prompt.Kind) {
        guard lists.allows(kind) else {
            answer = notHere(kind == .search ? "search" : "filter")
            return
        }
        guard let text else {
            typing.prompt = Prompt(kind, of: lists)
            return
        }
        switch kind {
        case .filter: lists.setFilter(text, in: player)
        case .search: lists.find(text, from: lists.current.selected, in: player)
        }
        reportVainSearch()
    }

    /// Reports a search without a match, once every row was examined and the user has finished typing.
    private mutating func reportVainSearch() {
        guard typed == nil, let text = lists.vainSearch else { return }
        answer = .error(SafeText("No match for \"\(text)\""))
    }

    private mutating func toggleSound() -> [UIAction] {
        sound = sound == nil ? SoundBars() : nil
        fitLayout(columns: layout.columns, rows: layout.rows)
        if sound != nil, layout.soundRows.isEmpty {
            answer = .error("The spectrum needs a larger window")
        } else {
            answer = .notice(sound == nil ? "Spectrum off" : "Spectrum on")
        }
        return [.watchSound(sound != nil)]
    }

    // MARK: Views and their lists

    private mutating func open(_ name: ViewName) -> [UIAction] {
        // A search or filter being typed belongs to the view before.
        typing.prompt = nil
        let wasCache = view == .cache
        lists.show(name)
        lists.fitFacts(of: player)
        if name == .cache { return [.watchCache(true)] }
        return wasCache ? [.watchCache(false)] : []
    }

    /// `true` if `back` has nothing to close, so that it ends the reading of sources.
    package var backStopsReading: Bool {
        player.isReading && view == .queue && queue.filter == nil && queue.marks.isEmpty
    }

    /// Closes what was opened last: the filter, a view, the marks; or else stops the reading of sources.
    private mutating func goBack() -> [UIAction] {
        if view == .help { return open(lists.viewBeforeHelp) }
        let hasFilter = (view == .queue || view == .cache) && !lists.filter.isEmpty
        if hasFilter {
            lists.setFilter("", in: player)
            answer = .notice("Filter off")
        } else if view != .queue {
            return open(.queue)
        } else if !queue.marks.isEmpty {
            mark(.unmarkAll)
        } else if backStopsReading {
            return run(.player(.stopReading))
        } else {
            answer = .notice("Nothing to close")
        }
        return []
    }

    private mutating func fitLayout(columns: Int, rows: Int) {
        layout = ScreenLayout(columns: columns, rows: rows, showsSound: sound != nil)
        lists.fit(to: layout, player, keyMap)
    }

    // MARK: Mouse

    private mutating func point(_ event: MouseEvent) -> [UIAction] {
        guard !layout.isTiny else { return [] }
        if event.kind == .press { clearNotice() }
        switch event.kind {
        case .wheelUp: lists.current.scroll(by: -Self.wheelRows)
        case .wheelDown: lists.current.scroll(by: Self.wheelRows)
        case .press:
            if event.row == layout.tabRow {
                let tabs = TabLine(open: view, columns: layout.columns)
                return tabs.view(at: event.column).map { run(.show($0)) } ?? []
            }
            if event.row == layout.barRow {
                let target = BarPart.seekTarget(at: event.column, columns: layout.columns, of: player)
                return target.map { run(.player(.seek($0))) } ?? []
            }
            if let row = lists.row(at: event.row, layout) { lists.current.select(row) }
        case .doublePress:
            guard let row = lists.row(at: event.row, layout), row == lists.current.selected else { return [] }
            return run(.playSelected)
        }
        return []
    }
}
