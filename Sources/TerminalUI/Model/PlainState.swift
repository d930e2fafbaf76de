package import Media

/// The keys in plain mode: the commands they run, and the lines printed in reply.
///
/// Pure. Runs the state of the full screen and prints the changes that the screen would show.
package struct PlainState: Sendable {
    /// The result of a key or a line: actions for the player, and lines to print.
    package struct Reply: Sendable {
        package var actions: [UIAction] = []
        package var lines: [SafeText] = []
    }

    private var ui: UIState
    private let glyphs: Glyphs

    package init(keyMap: KeyMap, history: [String], glyphs: Glyphs) {
        // The size determines how far the page keys go.
        ui = UIState(columns: 80, rows: 24, keyMap: keyMap, history: history)
        self.glyphs = glyphs
    }

    /// `true` if a command line is to be typed now.
    package var wantsLine: Bool { ui.commandLine != nil }
    /// The part of that line typed already.
    package var begun: SafeText { ui.commandLine?.parts.before ?? "" }

    /// Applies one key.
    package mutating func typed(_ key: Key) -> Reply {
        // The key was typed directly after the colon, before the terminal took over the editing.
        if wantsLine { return key == .enter ? entered("") : answered { $0.apply(.key(key)) } }
        guard let entry = ui.keyMap.entry(for: key) else { return answered { $0.apply(.key(key)) } }
        guard entry.command != .redraw else { return Reply() }
        if entry.command == .back {
            return ui.backStopsReading ? answered { $0.apply(.key(key)) } : Reply()
        }
        switch entry.command {
        // The next characters are the text of the search or filter: they must not run as keys.
        case .search(nil), .filter(nil):
            var reply = answered { $0.run(.openCommandLine(entry.row.name + " ")) }
            reply.lines.append(entry.row.needsScreenMessage + " (Enter leaves this line)")
            return reply
        default: break
        }
        return linesInstead(of: entry).map { Reply(lines: $0) } ?? answered { $0.apply(.key(key)) }
    }

    /// Applies pasted text: sources to add, line by line, or a part of the line being typed.
    package mutating func pasted(_ text: String) -> Reply { answered { $0.apply(.pasted(text)) } }

    /// Applies the line typed after `:`; `nil` cancels it.
    package mutating func entered(_ line: String?) -> Reply {
        guard let line else { return Reply(actions: ui.apply(.key(.escape))) }
        let whole = (ui.commandLine?.text ?? "") + line
        if let lines = (try? ParsedCommand(parsing: whole)).flatMap({ linesInstead(of: $0) }) {
            return Reply(actions: ui.apply(.key(.escape)), lines: lines)
        }
        // The screen would offer the names for completion.
        if (try? ParsedCommand(parsing: whole))?.command == .player(.listDevices) {
            return Reply(actions: ui.apply(.key(.escape)) + [.send(.listDevices)])
        }
        var reply = answered { ui in ui.apply(.pasted(line)) + ui.apply(.key(.enter)) }
        // A line that failed stays to be edited on the screen; here it is typed again.
        if ui.answer?.isError == true { _ = ui.apply(.key(.escape)) }
        if reply.actions.contains(.send(.status)) {
            reply.actions.removeAll { $0 == .send(.status) }
            reply.lines.append(timeLine)
        }
        return reply
    }

    /// Applies the player's newest snapshot. Returns a line for each setting that has changed, and one with
    /// the key that ends the reading of a slow source.
    package mutating func receive(_ snapshot: PlayerSnapshot) -> [SafeText] {
        let old = ui.player
        let wantedLine = wantsLine
        _ = ui.apply(.snapshot(snapshot))
        // On the screen, a line that failed is opened again.
        if wantsLine, !wantedLine { _ = ui.apply(.key(.escape)) }
        let isSlow = old.awaitedSource == nil && snapshot.awaitedSource != nil
        let key = isSlow ? ui.keyMap.name(of: .back) : nil
        return CommandReply.changes(from: old, to: snapshot) + (key.map { [$0 + " stops reading"] } ?? [])
    }

    private mutating func answered(_ change: (inout UIState) -> [UIAction]) -> Reply {
        let selected = ui.queue.list.selected
        let actions = change(&ui)
        var lines: [SafeText] = []
        if ui.queue.list.selected != selected { lines.append(selectionLine) }
        // The start, the end and the position of the music are printed as they happen.
        let isNarrated = actions.contains {
            if case .send(let command) = $0 { command.isNarrated } else { false }
        }
        if let answer = ui.answer, !isNarrated { lines.append(answer.text) }
        return Reply(actions: actions, lines: lines)
    }

    /// The lines printed for a command that would only change what a screen shows; `nil` for all others.
    private func linesInstead(of entry: ParsedCommand) -> [SafeText]? {
        switch entry.command {
        case .toggleHelp: helpLines
        case .toggleRemainingTime: [timeLine]
        default: entry.row.reach == .screen ? [entry.row.needsScreenMessage] : nil
        }
    }

    /// The selected track: `3 Wander – Reprise, 0:12`; or the selected group: `Blue Hour, 8 tracks · 3:40`.
    private var selectionLine: SafeText {
        guard let item = ui.queue.selectedItem else { return "The queue is empty" }
        if let heading = ui.queue.heading(item, in: ui.player, glyphs) { return heading.line(glyphs) }
        let index = item.place
        let track = ui.player.tracks[index]
        let name = QueueRow.name(of: track, tags: ui.player.learned[track.id]?.tags, glyphs: glyphs)
        let time = track.duration.map { ", " + $0.clockTime } ?? ""
        return SafeText("\(index + 1) ") + name + SafeText(time)
    }

    private var timeLine: SafeText { CommandReply.time(of: ui.player, glyphs: glyphs) }

    private var helpLines: [SafeText] {
        ui.keyMap.bindings.filter { $0.entry.row.reach != .screen }.map { binding in
            SafeText(binding.keys.map(\.name.string).joined(separator: " ")) + ": " + binding.help
        }
    }
}

extension PlayerCommand {
    /// `true` if plain mode prints an event that shows the result.
    fileprivate var isNarrated: Bool {
        switch self {
        case .play, .pause, .toggle, .next, .previous, .jump, .seek, .status, .list: true
        default: false
        }
    }
}
