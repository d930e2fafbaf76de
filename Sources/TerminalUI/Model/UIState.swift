package import Media

/// Everything the screen shows, and how each event changes it.
///
/// Pure: no clock, terminal or player. Events go in, actions come out, views read the state.
package struct UIState: Sendable {
    /// The text being typed in the bottom line.
    private enum Typing {
        case nothing
        case command(CommandLine)
        case prompt(Prompt)
    }

    /// The rows that one notch of the mouse wheel scrolls.
    private static let wheelRows = 3
    /// The most sources that one paste adds; a longer paste is refused as a mistake.
    private static let mostPastedLines = 1_000
    /// The most lines in the history, more than anyone steps through key by key.
    private static let longestHistory = 500

    package let keyMap: KeyMap
    package private(set) var player = PlayerSnapshot()
    package private(set) var layout: ScreenLayout
    package private(set) var view = ViewName.queue
    package private(set) var queue = QueueViewState()
    package private(set) var playing = ListPosition()
    package private(set) var cache = CacheViewState()
    package private(set) var network = NetworkViewState()
    package private(set) var messages = MessagesViewState()
    package private(set) var help = ListPosition()
    package private(set) var answer: CommandAnswer?
    package private(set) var showsRemainingTime = false
    /// The spectrum and the level meters; `nil` while they are hidden.
    package private(set) var sound: SoundBars?
    /// `true` if the user asked to quit.
    package private(set) var isLeaving = false
    /// The view to return to from the help.
    private var viewBeforeHelp = ViewName.queue
    private var typing = Typing.nothing
    /// The lines entered so far, oldest first.
    private var history: [String]

    package init(columns: Int, rows: Int, keyMap: KeyMap = .standard, history: [String] = []) {
        self.keyMap = keyMap
        self.history = history.suffix(Self.longestHistory)
        layout = ScreenLayout(columns: columns, rows: rows)
        fitLists()
    }

    /// The command being typed; `nil` if none is.
    package var commandLine: CommandLine? { if case .command(let line) = typing { line } else { nil } }

    /// The search or filter being typed; `nil` if none is.
    package var prompt: Prompt? { if case .prompt(let prompt) = typing { prompt } else { nil } }

    /// The line being typed, and the label in front of it; `nil` if none is.
    var typed: (sign: SafeText, line: CommandLine)? {
        switch typing {
        case .nothing: nil
        case .command(let line): (":", line)
        case .prompt(let prompt): (prompt.kind.sign, prompt.line)
        }
    }

    /// The player's newest message; `nil` once a key was pressed while it was visible.
    package var message: SafeText? { messages.unseen }

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
        case .listed(let word, let paths):
            guard case .command(var line) = typing else { break }
            line.complete(word, with: paths)
            typing = .command(line)
        case .mouse(let event): return point(event)
        case .snapshot(let snapshot): return show(snapshot)
        case .cache(let report): answer = cache.show(report) ?? answer
        case .requests(let records, let count, let underWay):
            network.show(records, count: count, underWay: underWay)
        case .idle:
            queue.work(in: player)
            reportVainSearch()
        case .sound(let picture, let now): sound?.show(picture, at: now)
        case .resized(let columns, let rows): fitLayout(columns: columns, rows: rows)
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
        queue.show(snapshot, before: before)
        messages.show(snapshot.messages, columns: layout.columns)
        fitFacts()
        return snapshot.isOver ? [.leave] : []
    }

    // MARK: Typing

    private mutating func press(_ key: Key) -> [UIAction] {
        // While typed text or a reply covers the message, a key does not mark it as seen.
        if case .nothing = typing, answer == nil, layout.messageRow != nil { messages.markSeen() }
        answer = nil
        switch typing {
        // The stored line is dropped first, because editing a second copy would copy every character.
        case .command(var line):
            typing = .nothing
            return edit(&line, with: key)
        case .prompt(var prompt):
            typing = .nothing
            if prompt.apply(key, to: &queue, of: player) {
                typing = .prompt(prompt)
            } else if key == .enter {
                reportVainSearch()
            }
            return []
        case .nothing:
            guard let entry = keyMap.entry(for: key) else {
                return key == .control("c") ? run(.player(.quit)) : []
            }
            return run(entry.command)
        }
    }

    private mutating func edit(_ line: inout CommandLine, with key: Key) -> [UIAction] {
        switch line.apply(key) {
        case .editing: typing = .command(line)
        case .wantsPaths(let word):
            typing = .command(line)
            return [.listPaths(word)]
        case .cancelled: break
        case .entered(let line): return enter(line)
        }
        return []
    }

    private mutating func enter(_ line: String) -> [UIAction] {
        guard !line.allSatisfy(\.isWhitespace) else { return [] }
        // Mistyped lines enter the history too, so that the user can recall and correct them.
        if history.last != line { history.append(line) }
        if history.count > Self.longestHistory { history.removeFirst() }
        do {
            let actions = run(try ParsedCommand(parsing: line).command)
            return CommandLine.maySave(line) ? [.remember(line)] + actions : actions
        } catch {
            let help = error.isUnknownName ? keyMap.name(of: .toggleHelp) : nil
            answer = .error(error.message + (help.map { " (" + $0 + " lists them)" } ?? ""))
            return []
        }
    }

    /// Pasted text runs no keys: it is inserted into what is being typed, or else added to the queue line by
    /// line.
    private mutating func paste(_ text: String) -> [UIAction] {
        switch typing {
        case .command(var line):
            line.insert(text)
            typing = .command(line)
            return []
        case .prompt(var prompt):
            prompt.paste(text, to: &queue, of: player)
            typing = .prompt(prompt)
            return []
        case .nothing: break
        }
        let lines = text.split(whereSeparator: \.isNewline).compactMap { line in
            let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return line.isEmpty || line.hasPrefix("#") ? nil : line
        }
        guard lines.count <= Self.mostPastedLines else {
            let most = "Can't add more than \(Self.mostPastedLines) pasted lines"
            answer = .error(SafeText(most) + " – save them as a playlist")
            return []
        }
        return lines.map { .send(.add($0)) }
    }

    // MARK: Commands

    private mutating func run(_ command: UICommand) -> [UIAction] {
        if command != .removeSelected { cache.cancelDelete() }
        if command != .moveSelected(by: 1), command != .moveSelected(by: -1) { queue.endMoving() }
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
        case .playSelected, .removeSelected, .pinSelected, .playedSelected, .moveSelected:
            let outcome = onSelection(command)
            answer = outcome.answer ?? answer
            return outcome.actions
        case .toggleMark: if view == .queue { queue.toggleMark(in: player) }
        case .markAll: if view == .queue { queue.markAll(in: player) }
        case .unmarkAll: queue.unmarkAll()
        case .search(let text): return look(for: text, .search)
        case .filter(let text): return look(for: text, .filter)
        case .nextMatch(let step):
            if queue.findNext(step, in: player) {
                reportVainSearch()
            } else {
                answer = CommandAnswer(text: "No search yet", isError: false)
            }
        case .toggleRemainingTime: showsRemainingTime.toggle()
        case .toggleSound: return toggleSound()
        case .openCommandLine(let text): typing = .command(CommandLine(text, history: history))
        case .redraw: return [.redrawAll]
        }
        return []
    }

    /// Runs a command on the selected row or the marked tracks. Only the queue and the cache view have such
    /// commands; in other views nothing happens.
    private mutating func onSelection(_ command: UICommand) -> CommandOutcome {
        switch (view, command) {
        case (.queue, .playSelected): CommandOutcome(queue.selectedPlace.map { [.send(.jump($0 + 1))] } ?? [])
        case (.queue, .removeSelected): queue.removeChosen(from: player, keys: keyMap)
        case (.queue, .pinSelected): queue.pinChosen(in: player)
        case (.queue, .playedSelected): queue.togglePlayedChosen(in: player)
        case (.queue, .moveSelected(let rows)): queue.moveChosen(by: rows, in: player, keys: keyMap)
        case (.cache, .playSelected): cache.add()
        case (.cache, .removeSelected): cache.delete(key: keyMap.name(of: .removeSelected))
        case (.cache, .pinSelected): cache.togglePin()
        default: .nothing
        }
    }

    /// Searches or filters the queue by `text`, or opens the prompt if `text` is `nil`.
    private mutating func look(for text: String?, _ kind: Prompt.Kind) -> [UIAction] {
        let actions = open(.queue)
        guard let text else {
            typing = .prompt(Prompt(kind, of: queue))
            return actions
        }
        switch kind {
        case .filter: queue.setFilter(text, in: player)
        case .search: queue.find(text, from: queue.list.selected, isForward: true, in: player)
        }
        reportVainSearch()
        return actions
    }

    /// Reports a search without a match, once every row was examined and the user has finished typing.
    private mutating func reportVainSearch() {
        guard case .nothing = typing, let text = queue.vainSearch else { return }
        answer = .error(SafeText("No match for \"\(text)\""))
    }

    private mutating func toggleSound() -> [UIAction] {
        sound = sound == nil ? SoundBars() : nil
        fitLayout(columns: layout.columns, rows: layout.rows)
        if sound != nil, layout.soundRows.isEmpty {
            answer = CommandAnswer(text: "The spectrum needs a larger window", isError: false)
        }
        return [.watchSound(sound != nil)]
    }

    // MARK: Views and their lists

    private mutating func open(_ name: ViewName) -> [UIAction] {
        if name == .help, view != .help { viewBeforeHelp = view }
        let wasCache = view == .cache
        view = name
        fitFacts()
        if name == .cache { return [.watchCache(true)] }
        return wasCache ? [.watchCache(false)] : []
    }

    /// Closes what was opened last: a view, the filter, the marks.
    private mutating func goBack() -> [UIAction] {
        if view == .help { return open(viewBeforeHelp) }
        guard view == .queue else { return open(.queue) }
        if queue.filter != nil {
            queue.setFilter("", in: player)
        } else {
            queue.unmarkAll()
        }
        return []
    }

    private mutating func go(by rows: Int) {
        if view.hasSelection { list.select(by: rows) } else { list.scroll(by: rows) }
    }

    private mutating func fitLayout(columns: Int, rows: Int) {
        layout = ScreenLayout(columns: columns, rows: rows, showsSound: sound != nil)
        fitLists()
    }

    private mutating func fitLists() {
        let (height, table) = (layout.listRows.count, layout.tableRows.count)
        queue.resize(height: height, player: player)
        playing.resize(count: playing.count, height: height)
        cache.list.resize(count: cache.list.count, height: table)
        network.list.resize(count: network.list.count, height: table)
        messages.list.resize(count: messages.list.count, height: height)
        messages.show(player.messages, columns: layout.columns)
        help.resize(count: HelpView.rowCount(of: keyMap, columns: layout.columns), height: height)
    }

    /// Fits the list to the facts about the current track, which are collected only while they are visible.
    private mutating func fitFacts() {
        guard view == .playing else { return }
        playing.resize(count: PlayingFact.all(of: player, glyphs: .ascii).count, height: playing.height)
    }

    /// The list of the open view.
    private var list: ListPosition {
        get { self[keyPath: listPath] }
        set { self[keyPath: listPath] = newValue }
    }

    private var listPath: WritableKeyPath<UIState, ListPosition> {
        switch view {
        case .queue: \.queue.list
        case .playing: \.playing
        case .cache: \.cache.list
        case .network: \.network.list
        case .messages: \.messages.list
        case .help: \.help
        }
    }

    // MARK: Mouse

    private mutating func point(_ event: MouseEvent) -> [UIAction] {
        guard !layout.isTiny else { return [] }
        switch event.kind {
        case .wheelUp: list.scroll(by: -Self.wheelRows)
        case .wheelDown: list.scroll(by: Self.wheelRows)
        case .press:
            if event.row == layout.tabRow {
                let tabs = TabLine(open: view, columns: layout.columns)
                return tabs.view(at: event.column).map { run(.show($0)) } ?? []
            }
            if event.row == layout.barRow {
                let target = BarPart.seekTarget(at: event.column, columns: layout.columns, of: player)
                return target.map { run(.player(.seek($0))) } ?? []
            }
            if let row = listRow(at: event.row) { list.select(row) }
        case .doublePress:
            guard let row = listRow(at: event.row), row == list.selected else { return [] }
            return run(.playSelected)
        }
        return []
    }

    /// The list's row that is drawn at `row` of the window; `nil` if there is none.
    private func listRow(at row: Int) -> Int? {
        let rows = view.hasHeader ? layout.tableRows : layout.listRows
        guard rows.contains(row) else { return nil }
        let index = list.top + row - rows.lowerBound
        return list.visible.contains(index) ? index : nil
    }
}
