package import Media

/// Everything the screen shows, and how each event changes it.
///
/// Pure: no clock, terminal or player. Events go in, actions come out, views read the state.
package struct UIState: Sendable {
    /// The rows that one notch of the mouse wheel scrolls.
    private static let wheelRows = 3
    /// The most sources that one paste adds; a longer paste is refused as a mistake.
    private static let mostPastedLines = 1_000

    private(set) var context: ViewContext
    private(set) var lists = ViewLists()
    package private(set) var answer: CommandAnswer? {
        didSet { if answer != nil { answerCount += 1 } }
    }
    private var answerCount = 0
    package private(set) var showsRemainingTime = false
    /// The spectrum and the level meters; `nil` while they are hidden.
    package private(set) var sound: SoundBars?
    /// `true` if the levels of the channels stand below the spectrum.
    package private(set) var showsLevels = false
    /// `true` if the user asked to quit.
    package private(set) var isLeaving = false
    /// The cell of the bar to which the mouse drags the position; `nil` if it does not.
    private(set) var barPointer: Int?
    private var typing: Typing
    private var themes: ThemeShelf
    /// The line that was entered last; `nil` once another key was pressed, or the notice after it has gone.
    private var enteredLine: String?
    /// `true` until the first key is pressed.
    private var isUntouched = true
    /// `true` after a key that opens a line was refused: the word typed after it must not run as keys.
    package private(set) var ignoresTyping = false
    /// The number of the newest message that was visible when a key was pressed.
    private var seenNumber = 0
    /// `true` until the place of the match is reported that the last key has searched for.
    private var owesSearchPlace = false
    /// `true` from the first snapshot on.
    private var hasSnapshot = false

    package init(
        columns: Int,
        rows: Int,
        keyMap: KeyMap = .standard,
        history: [String] = [],
        theme: Theme = .auto
    ) {
        context = ViewContext(keyMap: keyMap, layout: ScreenLayout(columns: columns, rows: rows))
        typing = Typing(history: history)
        themes = ThemeShelf(theme)
        lists.update(to: context, from: player)
    }

    package var keyMap: KeyMap { context.keyMap }
    package var player: PlayerSnapshot { context.player }
    package var layout: ScreenLayout { context.layout }
    package var view: ViewName { lists.open }
    package var queue: QueueView { lists.view() }

    /// The command being typed; `nil` if none is.
    package var commandLine: CommandLine? { typing.command }

    /// The theme of the screen: the one that is named in the line being typed, or else the chosen one.
    package var theme: Theme { themes.shown(while: typing.command) }

    /// The search or filter being typed; `nil` if none is.
    package var prompt: Prompt? { typing.prompt }

    /// The log-in being typed; `nil` if none is.
    var login: LoginPrompt? { typing.login }

    /// The line being typed, and the label in front of it; `nil` if none is.
    var typed: (sign: SafeText, line: CommandLine)? { typing.line }

    /// The player's newest message; `nil` once a key was pressed while it was visible.
    package var message: PlayerMessage? {
        player.messages.last.flatMap { $0.number == seenNumber ? nil : $0 }
    }

    /// Identifies the answer or the message at the bottom, which goes after a while; `nil` if there is none.
    package var notice: [Int]? {
        typed == nil && (answer != nil || message != nil) ? [answerCount, player.newestMessage] : nil
    }

    /// `true` if a filter or search has tracks left to examine. Each `UIEvent.idle` examines one slice of
    /// them.
    package var hasWork: Bool { lists.hasWork(in: player) }

    /// `true` if the spectrum is visible and changes with the music.
    package var movesSound: Bool { sound != nil && !layout.soundRows.isEmpty && player.state == .playing }

    /// Applies one event and returns what the shell must do. Draws nothing.
    package mutating func apply(_ event: UIEvent) -> [UIAction] {
        switch event {
        case .key(let key): return press(key)
        case .pasted(let text): return paste(text)
        case .listed(let word, let paths): typing.command?.complete(word, with: paths)
        case .themes(let choices, let word): receive(choices, for: word)
        case .devices(let names, let word): typing.command?.complete(word, withDevices: names)
        case .mouse(let event): return point(event)
        case .snapshot(let snapshot): return show(snapshot)
        case .cache, .requests: answer = lists.receive(event) ?? answer
        case .login(let question): ask(question)
        case .loginKept(let error):
            answer =
                error.map { .error("The log-in is for this session only: " + $0.safeText) }
                ?? .notice("Log-in kept")
        case .idle:
            lists.work(in: player)
            if owesSearchPlace { reportSearch() }
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
        context.player = snapshot
        if snapshot.currentTrack?.id != before.currentTrack?.id { barPointer = nil }
        // The bars are cleared when playback stops or a track opens; while paused or buffering they stand
        // still.
        if sound != nil, [.stopped, .opening, .ended].contains(snapshot.state) { sound = SoundBars() }
        lists.update(to: context, from: before)
        // The newest line is shown: a setting that changed, or a message.
        if let change = CommandReply.changes(from: before, to: snapshot).last, hasSnapshot, typed == nil {
            answer = .notice(change)
        } else if snapshot.newestMessage != before.newestMessage, typed == nil {
            openFailedStart(snapshot)
            let reply = snapshot.messages.last.flatMap { failure($0) }
            if reply != nil || answer?.isQuestion != true { answer = reply }
            if reply != nil, let enteredLine { typing.open(enteredLine) }
            if reply != nil { seenNumber = snapshot.newestMessage }
        }
        hasSnapshot = true
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
        barPointer = nil
        if let login = typing.login { return type(key, into: login) }
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
        if answer?.isError == true, entry?.command == .toggleHelp, typing.isUnknownCommand {
            typing.command = nil
        }
        clearNotice()
        if typing.command != nil { return edit(with: key) }
        if let isOpen = typing.prompt?.apply(key, to: &lists, of: context.player) {
            guard !isOpen else { return [] }
            typing.prompt = nil
            if key == .enter { reportSearch() }
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
        owesSearchPlace = false
        if typed == nil, answer == nil, layout.messageRow != nil { seenNumber = player.newestMessage }
        answer = nil
    }

    /// Opens the question as soon as nothing else is typed, and the window shows who asks.
    private mutating func ask(_ question: LoginQuestion) {
        guard typed == nil, !layout.isTiny else { return }
        let login = LoginPrompt(question)
        typing.login = login
        answer = CommandAnswer(text: login.text, isQuestion: true)
    }

    private mutating func type(_ key: Key, into login: LoginPrompt) -> [UIAction] {
        var login = login
        let given = login.apply(key)
        typing.login = given == nil ? login : nil
        answer = given == nil ? CommandAnswer(text: login.text, isQuestion: true) : nil
        return given.map { [.answer(login.question.number, $0)] } ?? []
    }

    private mutating func edit(with key: Key) -> [UIAction] {
        switch typing.edit(with: key) {
        case .editing, .cancelled: break
        case .wantsPaths(let word): return [.listPaths(word)]
        case .wantsThemes(let word): return [.listThemes(word)]
        case .wantsDevices(let word): return [.listDevices(word)]
        case .entered(let text):
            enteredLine = text
            let actions = enter(text)
            // A line that failed stays to be edited.
            if answer?.isError == true { typing.open(text) }
            return actions
        }
        return []
    }

    /// Completes the word before the cursor, and shows the theme that was chosen before these were read.
    private mutating func receive(_ choices: [ThemeChoice], for word: String) {
        if let reply = themes.receive(choices) {
            answer = reply
            // As a line that fails at once.
            if reply.isError, typed == nil, let enteredLine { typing.open(enteredLine) }
        }
        typing.command?.complete(word, withThemes: choices.map(\.name))
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
            typing.command?.insert(text)
            return []
        }
        if typing.prompt != nil {
            typing.prompt?.paste(text, to: &lists, of: context.player)
            return []
        }
        if typing.login != nil {
            typing.login?.paste(text)
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
        let outcome = lists.run(command, in: context) ?? runAnywhere(command)
        let given = outcome.answer ?? outcome.actions.compactMap { reply(to: $0) }.last
        answer = given ?? answer
        return outcome.answer == nil && given?.isError == true ? [] : outcome.actions
    }

    /// Runs a command to which the open view gives no meaning of its own.
    private mutating func runAnywhere(_ command: UICommand) -> CommandOutcome {
        switch command {
        case .player(.quit):
            isLeaving = true
            return CommandOutcome([.send(.quit), .leave])
        case .player(.sort) where view != .queue, .openCommandLine("sort ") where view != .queue:
            return notHere("sort")
        case .player(.listDevices):
            typing.open("device ")
            return CommandOutcome([.listDevices("")])
        case .player(let command): return CommandOutcome([.send(command)])
        case .nextView(let tabs): return open(view.next(by: tabs))
        case .toggleHelp: return open(view == .help ? lists.viewBelow : .help)
        case .showFacts, .show(.facts):
            guard view != .facts else { return open(lists.viewBelow) }
            guard lists.takeFacts(in: context) else { return .error("No row is selected") }
            return open(.facts)
        case .show(let name): return open(name)
        case .back: return goBack()
        case .closeOrQuit: return view == .help ? goBack() : runAnywhere(.player(.quit))
        case .selectBy(let rows): lists.go(by: rows)
        case .selectByPage(let pages): lists.go(by: pages * max(1, lists.list.height))
        case .selectFirst: lists.go(by: -lists.list.count)
        case .selectLast: lists.go(by: lists.list.count)
        case .selectCurrent:
            guard player.currentIndex != nil else { return .error("Nothing is playing") }
            return CommandOutcome(open(.queue).actions + run(command))
        case .search(let text): find(text, .search)
        case .filter(let text): find(text, .filter)
        case .nextMatch(let step):
            guard lists.findNext(step, in: player) else { return .notice("No search yet") }
            reportSearch()
        case .toggleRemainingTime:
            showsRemainingTime.toggle()
            return .notice(showsRemainingTime ? "Remaining time" : "Elapsed time")
        case .toggleSound: return toggleSound()
        case .toggleLevels:
            showsLevels = sound == nil || !showsLevels
            if sound == nil { return toggleSound() }
            return .notice(showsLevels ? "Levels on" : "Levels off")
        case .theme(let name?): return CommandOutcome([.listThemes("")], answer: themes.choose(name))
        case .theme(nil):
            typing.open("theme ")
            return CommandOutcome([.listThemes("")])
        case .openCommandLine(let text): typing.open(text)
        case .redraw: return .notice("Redrawn", [.redrawAll])
        case .playSelected: return notHere("play from")
        case .removeSelected: return notHere("remove from")
        case .pinSelected: return notHere("pin from")
        case .downloadSelected: return notHere("download from")
        case .playedSelected: return notHere("mark episodes in")
        case .playNextSelected: return notHere("queue tracks from")
        case .toggleFold: return notHere("fold groups in")
        case .moveSelected: return notHere("move rows in")
        case .toggleMark, .markAll, .unmarkAll: return notHere("mark rows in")
        }
        return CommandOutcome()
    }

    private func reply(to action: UIAction) -> CommandAnswer? {
        guard case .send(let command) = action else { return nil }
        return CommandReply.answer(to: command, in: player, keys: keyMap)
    }

    /// The answer to a command that the open view does not have.
    private func notHere(_ verb: SafeText) -> CommandOutcome {
        let way = keyMap.name(of: .show(.queue)).map { " (" + $0 + " opens the queue)" } ?? ""
        return .error("Can't " + verb + " this view" + way)
    }

    /// Searches or filters the open list by `text`, or opens the prompt if `text` is `nil`.
    private mutating func find(_ text: String?, _ asked: Prompt.Kind) {
        // A view that can only be filtered takes a search for a filter.
        let kind = lists.allows(asked) ? asked : .filter
        guard lists.allows(kind) else {
            answer = notHere(asked == .search ? "search" : "filter").answer
            return
        }
        guard let text else {
            typing.prompt = Prompt(kind, of: lists)
            return
        }
        switch kind {
        case .filter: lists.setFilter(text, in: player)
        case .search:
            lists.find(text, from: lists.current.searchStart, in: player)
            reportSearch()
        }
    }

    /// Reports the place of the match among all matches, or that there is none, once every row was examined
    /// and the user has finished typing.
    private mutating func reportSearch() {
        owesSearchPlace = lists.isSearching(in: player)
        guard typed == nil, !owesSearchPlace else { return }
        if let text = lists.vainSearch(in: player) {
            answer = .error(SafeText("No match for \"\(text)\""))
        } else if let place = lists.searchPlace {
            answer = .notice(place)
        }
    }

    private mutating func toggleSound() -> CommandOutcome {
        sound = sound == nil ? SoundBars() : nil
        fitLayout(columns: layout.columns, rows: layout.rows)
        let watch = [UIAction.watchSound(sound != nil)]
        if sound != nil, layout.soundRows.isEmpty {
            return CommandOutcome(watch, answer: .error("The spectrum needs a larger window"))
        }
        return .notice(sound == nil ? "Spectrum off" : "Spectrum on", watch)
    }

    // MARK: Views and their lists

    private mutating func open(_ name: ViewName) -> CommandOutcome {
        // A search or filter being typed belongs to the view before.
        typing.prompt = nil
        let actions = lists.show(name)
        lists.update(to: context, from: player)
        return CommandOutcome(actions)
    }

    /// `true` if `back` has nothing to close, so that it ends the reading of sources.
    package var backStopsReading: Bool {
        player.isReading && view == .queue && queue.filter == nil && queue.marks.isEmpty
            && lists.searched == nil
    }

    /// Closes what was opened last: the search, the filter or the view; or else stops the reading of sources.
    private mutating func goBack() -> CommandOutcome {
        if view.isAbove { return open(lists.viewBelow) }
        if lists.searched != nil {
            lists.hideSearch()
            return .notice("Search off")
        }
        if !lists.filterText.isEmpty {
            lists.setFilter("", in: player)
            return .notice("Filter off")
        }
        if view != .queue { return open(.queue) }
        return backStopsReading ? CommandOutcome([.send(.stopReading)]) : .notice("Nothing to close")
    }

    private mutating func fitLayout(columns: Int, rows: Int) {
        barPointer = nil
        context.layout = ScreenLayout(columns: columns, rows: rows, showsSound: sound != nil)
        lists.update(to: context, from: player)
    }

    // MARK: Mouse

    /// The layout without the rows under the candidates for a command.
    private var shownLayout: ScreenLayout { PaletteView(of: self)?.layoutAbove ?? layout }

    private mutating func point(_ event: MouseEvent) -> [UIAction] {
        // A click removes the answer, but who asks for a log-in must stay in sight while it is typed.
        guard !layout.isTiny, typing.login == nil else { return [] }
        let messageRows = BottomLineView.messageRows(in: self)
        if event.kind == .press {
            // A release can get lost.
            barPointer = nil
            clearNotice()
        }
        switch event.kind {
        case .wheelUp: return turnWheel(1, at: event)
        case .wheelDown: return turnWheel(-1, at: event)
        case .drag:
            if barPointer != nil { pointBar(at: event) }
        case .release:
            guard let cell = barPointer else { return [] }
            barPointer = nil
            let target = BarPart.seekTarget(at: cell, columns: layout.inner.count, of: player)
            return target.map { run(.player(.seek($0))) } ?? []
        case .press:
            if event.row == layout.tabRow {
                let tabs = TabLine(open: view, columns: layout.columns)
                return tabs.view(at: event.column).map { run(.show($0)) } ?? []
            }
            if layout.barRows.contains(event.row) {
                pointBar(at: event)
                return []
            }
            if messageRows?.contains(event.row) == true { return run(.show(.messages)) }
            if let row = lists.row(at: event, shownLayout) { lists.list.select(row) }
        case .doublePress:
            guard let row = lists.row(at: event, shownLayout), row == lists.list.selected else { return [] }
            return run(.playSelected)
        }
        return []
    }

    /// Shows the time of the cell of the bar that is nearest to the mouse. The release of the button seeks to
    /// it, so that a drag makes no requests on its way.
    private mutating func pointBar(at event: MouseEvent) {
        let cell = min(max(0, event.column - layout.inner.lowerBound), layout.inner.count - 1)
        guard case .to(let time)? = BarPart.seekTarget(at: cell, columns: layout.inner.count, of: player)
        else { return }
        barPointer = cell
        answer = .notice("To " + SafeText(time.clockTime))
    }

    /// `notches` is 1 for up, or away from the user, and -1 for down.
    private mutating func turnWheel(_ notches: Int, at event: MouseEvent) -> [UIAction] {
        if layout.barRows.contains(event.row) {
            return run(.player(.seek(.by(.seconds(5 * notches)))))
        }
        if event.row == layout.statusRow, StatusView.volumeColumns(in: self)?.contains(event.column) == true {
            return run(.player(.changeVolume(by: 5 * notches)))
        }
        lists.list.scroll(by: -Self.wheelRows * notches)
        return []
    }
}

extension PlayerSnapshot {
    /// The number of the newest message; 0 before the first.
    fileprivate var newestMessage: Int { messages.last?.number ?? 0 }
}
