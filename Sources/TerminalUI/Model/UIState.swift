package import Media

/// All that the screen shows, and what each event does to it.
///
/// Pure: no clock, terminal or player. Events go in, actions come out, views read the rest.
package struct UIState: Sendable {
    package enum Mode: Sendable, Equatable {
        case queue
        case help
    }

    /// A line about what was typed, shown until the next key.
    package struct Answer: Sendable, Equatable {
        package var text: SafeText
        package var isError: Bool
    }

    package private(set) var player = PlayerSnapshot()
    package private(set) var mode = Mode.queue
    package private(set) var queue = ListPosition()
    package private(set) var help = ListPosition()
    /// nil while no command is typed.
    package internal(set) var commandLine: CommandLine?
    package internal(set) var answer: Answer?
    /// The number of the last message that was in view when a key was pressed.
    private var seenMessage = 0
    package private(set) var showsRemainingTime = false
    /// Whether the listener has asked to leave.
    package private(set) var isLeaving = false
    package private(set) var layout: ScreenLayout
    package let keyMap: KeyMap
    /// The lines that were entered behind `:`, also in earlier sessions.
    var history: CommandHistory

    /// The player's newest message, until a key was pressed with it in view.
    package var message: SafeText? {
        player.messages.last.flatMap { $0.number == seenMessage ? nil : $0.text }
    }

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
        case .key(let key):
            // What is typed and the answer to it hide the message, which is then still to be seen.
            if commandLine == nil, answer == nil, layout.messageRow != nil {
                seenMessage = player.messages.last?.number ?? 0
            }
            answer = nil
            if commandLine != nil { return edit(key) }
            guard let command = keyMap.command(for: key) else {
                return key == .control("c") ? run(.quit) : []
            }
            return run(command)
        case .pasted(let text):
            return paste(text)
        case .listed(let word, let paths):
            commandLine?.complete(word, with: paths)
            return []
        case .mouse: return []
        case .snapshot(let snapshot):
            return show(snapshot)
        case .resized(let columns, let rows):
            layout = ScreenLayout(columns: columns, rows: rows)
            fitLists()
            return []
        case .endRequested:
            isLeaving = true
            return [.send(.quit)]
        }
    }

    private mutating func show(_ snapshot: PlayerSnapshot) -> [UIAction] {
        // The selection stays with what is heard for as long as it was there.
        let follows = queue.selected == player.currentIndex || player.tracks.isEmpty
        player = snapshot
        fitLists()
        if follows, let current = snapshot.currentIndex { queue.select(current) }
        return snapshot.isOver ? [.leave] : []
    }

    mutating func run(_ command: UICommand) -> [UIAction] {
        if mode == .help, runInHelp(command) { return [] }
        switch command {
        case .player(let command): return [.send(command)]
        case .selectBy(let rows): queue.select(by: rows)
        case .selectByPage(let pages): queue.select(by: pages * max(1, queue.height))
        case .selectFirst: queue.select(0)
        case .selectLast: queue.select(queue.count - 1)
        case .playSelected:
            return queue.count > 0 ? [.send(.jump(queue.selected + 1))] : []
        case .removeSelected:
            return queue.count > 0 ? [.send(.remove(TrackNumbers(queue.selected + 1)))] : []
        case .pinSelected:
            return queue.count > 0 ? [.send(.pin(queue.selected + 1))] : []
        case .moveSelected(let rows):
            return moveSelected(by: rows)
        case .toggleRemainingTime: showsRemainingTime.toggle()
        case .openCommandLine: commandLine = CommandLine(history: history)
        case .toggleHelp: mode = mode == .help ? .queue : .help
        case .closeHelp: mode = .queue
        case .redraw: return [.redrawAll]
        case .quit:
            isLeaving = true
            return [.send(.quit), .leave]
        }
        return []
    }

    /// Scrolls the help; false for a command that means the same in every view.
    private mutating func runInHelp(_ command: UICommand) -> Bool {
        switch command {
        case .selectBy(let rows): help.select(by: rows)
        case .selectByPage(let pages): help.select(by: pages * max(1, help.height))
        case .selectFirst: help.select(0)
        case .selectLast: help.select(help.count - 1)
        // The queue is not in view: nothing happens to a row that nobody sees.
        case .playSelected, .removeSelected, .pinSelected, .moveSelected: break
        case .player, .toggleRemainingTime, .openCommandLine, .toggleHelp, .closeHelp, .redraw, .quit:
            return false
        }
        return true
    }

    private mutating func moveSelected(by rows: Int) -> [UIAction] {
        let target = queue.selected + rows
        guard (0..<queue.count).contains(target) else { return [] }
        let move = PlayerCommand.move(TrackNumbers(queue.selected + 1), to: target + 1)
        // The selection goes along at once, so that the key can be held down.
        queue.select(target)
        return [.send(move)]
    }

    private mutating func fitLists() {
        queue.resize(count: player.tracks.count, height: layout.listRows.count)
        help.resize(count: keyMap.bindings.count, height: layout.listRows.count)
    }
}
