package import Media

/// All that the screen shows, and what each event does to it.
///
/// Pure: no clock, terminal or player. Events go in, actions come out, views read the rest.
package struct UIState: Sendable {
    /// A line about what was typed, shown until the next key.
    package struct Answer: Sendable, Equatable {
        package var text: SafeText
        package var isError: Bool
    }

    package private(set) var player = PlayerSnapshot()
    package internal(set) var view = ViewName.queue
    /// Where leaving the help leads back to.
    var viewBeforeHelp = ViewName.queue
    package internal(set) var queue = QueueViewState()
    package internal(set) var playing = ListPosition()
    package internal(set) var cache = CacheViewState()
    package internal(set) var network = NetworkViewState()
    package internal(set) var messages = MessagesViewState()
    package internal(set) var help = ListPosition()
    /// nil while no command is typed.
    package internal(set) var commandLine: CommandLine?
    /// nil while no text to look for is typed.
    package internal(set) var prompt: Prompt?
    package internal(set) var answer: Answer?
    /// The number of the last message that was in view when a key was pressed.
    private var seenMessage = 0
    package internal(set) var showsRemainingTime = false
    /// The picture of the sound; nil while it is hidden.
    package internal(set) var sound: SoundBars?
    /// Whether the listener has asked to leave.
    package internal(set) var isLeaving = false
    package private(set) var layout: ScreenLayout
    package let keyMap: KeyMap
    /// The lines that were entered behind `:`, also in earlier sessions.
    var history: CommandHistory

    /// The player's newest message, until a key was pressed with it in view.
    package var message: SafeText? {
        player.messages.last.flatMap { $0.number == seenMessage ? nil : $0.text }
    }

    /// Whether a slice of filtering or searching is to be done as soon as no key waits (`UIEvent.idle`).
    package var hasWork: Bool { queue.hasWork(in: player) }

    package init(
        columns: Int,
        rows: Int,
        keyMap: KeyMap = .standard,
        history: CommandHistory = CommandHistory()
    ) {
        self.keyMap = keyMap
        self.history = history
        layout = ScreenLayout(columns: columns, rows: rows)
        fitLists()
    }

    /// Applies one event and returns what the shell must do. Draws nothing.
    package mutating func apply(_ event: UIEvent) -> [UIAction] {
        switch event {
        case .key(let key): return press(key)
        case .pasted(let text):
            guard prompt == nil else {
                pasteIntoPrompt(text)
                return []
            }
            return paste(text)
        case .listed(let word, let paths): commandLine?.complete(word, with: paths)
        case .mouse(let event): return point(event)
        case .snapshot(let snapshot): return show(snapshot)
        case .kept(let report):
            cache.isThere = report != nil
            guard let report else { return [] }
            if let problem = report.problem { answer = Answer(text: problem, isError: true) }
            cache.show(report)
        case .requests(let records, let count, let underWay):
            network.show(records, count: count, underWay: underWay)
        case .idle:
            queue.work(in: player)
            tellSearch()
        case .sound(let picture, let now): sound?.show(picture, at: now)
        case .resized(let columns, let rows): fitLayout(columns: columns, rows: rows)
        case .endRequested:
            isLeaving = true
            return [.send(.quit)]
        }
        return []
    }

    private mutating func press(_ key: Key) -> [UIAction] {
        // What is typed and the answer to it hide the message, which is then still to be seen.
        if commandLine == nil, prompt == nil, answer == nil, layout.messageRow != nil {
            seenMessage = player.messages.last?.number ?? 0
        }
        answer = nil
        if commandLine != nil { return edit(key) }
        if prompt != nil { return editPrompt(key) }
        guard let command = keyMap.command(for: key) else {
            return key == .control("c") ? run(.player(.quit)) : []
        }
        return run(command)
    }

    private mutating func show(_ snapshot: PlayerSnapshot) -> [UIAction] {
        let before = player
        player = snapshot
        settleSound()
        queue.show(snapshot, before: before)
        messages.show(snapshot.messages, columns: layout.columns)
        fitFacts()
        return snapshot.isOver ? [.leave] : []
    }

    /// What is known of the music is put into words only where they are seen.
    mutating func fitFacts() {
        guard view == .playing else { return }
        playing.resize(count: PlayingFact.all(of: player, glyphs: .ascii).count, height: playing.height)
    }

    mutating func fitLayout(columns: Int, rows: Int) {
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

    /// The list of the open view.
    var list: ListPosition {
        get {
            switch view {
            case .queue: queue.list
            case .playing: playing
            case .cache: cache.list
            case .network: network.list
            case .messages: messages.list
            case .help: help
            }
        }
        set {
            switch view {
            case .queue: queue.list = newValue
            case .playing: playing = newValue
            case .cache: cache.list = newValue
            case .network: network.list = newValue
            case .messages: messages.list = newValue
            case .help: help = newValue
            }
        }
    }
}
