package import Media

/// The screen's keys without a screen: what each does, and what is said of it, a line each.
///
/// Pure. The same state as the screen's decides; here what it would show is told in words.
package struct PlainState: Sendable {
    private var ui: UIState
    private let glyphs: Glyphs

    package init(keyMap: KeyMap, history: [String], glyphs: Glyphs) {
        // A page is what a window of the usual size would show.
        ui = UIState(columns: 80, rows: 24, keyMap: keyMap, history: CommandHistory(history))
        self.glyphs = glyphs
    }

    /// Whether a line is to be typed now.
    package var wantsLine: Bool { ui.commandLine != nil }
    /// What was typed of it already.
    package var begun: SafeText { ui.commandLine?.parts.before ?? "" }

    /// A key was typed.
    package mutating func typed(_ key: Key) -> (actions: [UIAction], lines: [SafeText]) {
        // Typed so fast behind the colon that the terminal had no time to take the line over.
        if wantsLine { return key == .enter ? entered("") : told { $0.apply(.key(key)) } }
        guard let command = ui.keyMap.command(for: key), command != .back, command != .redraw else {
            return ([], [])
        }
        return linesInstead(of: command).map { ([], $0) } ?? told { $0.apply(.key(key)) }
    }

    /// Text was pasted: what is to be played, a line each, or a part of the line that is typed.
    package mutating func pasted(_ text: String) -> (actions: [UIAction], lines: [SafeText]) {
        told { $0.apply(.pasted(text)) }
    }

    /// A line was typed after `:`; nil leaves it.
    package mutating func entered(_ line: String?) -> (actions: [UIAction], lines: [SafeText]) {
        guard let line else { return (ui.apply(.key(.escape)), []) }
        let whole = (ui.commandLine?.text ?? "") + line
        if let lines = (try? UICommand(parsing: whole)).flatMap({ linesInstead(of: $0) }) {
            return (ui.apply(.key(.escape)), lines)
        }
        var (actions, lines) = told { ui in ui.apply(.pasted(line)) + ui.apply(.key(.enter)) }
        if actions.contains(.send(.status)) {
            actions.removeAll { $0 == .send(.status) }
            lines.append(timeLine)
        }
        return (actions, lines)
    }

    /// The player's newest snapshot.
    package mutating func take(_ snapshot: PlayerSnapshot) -> [SafeText] {
        let old = ui.player
        _ = ui.apply(.snapshot(snapshot))
        var lines: [SafeText] = []
        if old.volume != snapshot.volume { lines.append(SafeText("Volume \(snapshot.volume) %")) }
        if old.isMuted != snapshot.isMuted { lines.append(snapshot.isMuted ? "Muted" : "Not muted") }
        if old.isShuffled != snapshot.isShuffled {
            lines.append(snapshot.isShuffled ? "Shuffle on" : "Shuffle off")
        }
        if old.repeatMode != snapshot.repeatMode {
            lines.append(SafeText("Repeat \(snapshot.repeatMode.rawValue)"))
        }
        if old.gainMode != snapshot.gainMode { lines.append(SafeText("Gain \(snapshot.gainMode.rawValue)")) }
        return lines
    }

    private mutating func told(
        _ change: (inout UIState) -> [UIAction]
    ) -> (actions: [UIAction], lines: [SafeText]) {
        let selected = ui.queue.list.selected
        let actions = change(&ui)
        var lines: [SafeText] = []
        if ui.queue.list.selected != selected { lines.append(selectionLine) }
        if let answer = ui.answer { lines.append(answer.text) }
        return (actions, lines)
    }

    /// The lines printed for a command that would only change what a screen shows; `nil` for all others.
    private func linesInstead(of command: UICommand) -> [SafeText]? {
        switch command {
        case .toggleHelp: helpLines
        case .toggleRemainingTime: [timeLine]
        default: command.row.reach == .screen ? [command.needsScreenMessage] : nil
        }
    }

    /// `3 Wander – Reprise, 0:12`.
    private var selectionLine: SafeText {
        let index = ui.queue.list.selected
        guard ui.player.tracks.indices.contains(index) else { return "There is no track" }
        let track = ui.player.tracks[index]
        let name = QueueRow.name(of: track, tags: ui.player.learned[track.id]?.tags, glyphs: glyphs)
        let time = track.duration.map { ", " + $0.clockTime } ?? ""
        return SafeText("\(index + 1) ") + name + SafeText(time)
    }

    /// `Playing 2 of 9: River – Reprise, 0:06 of 0:15`.
    private var timeLine: SafeText {
        let player = ui.player
        let state = player.state.rawValue
        let word = SafeText(state.prefix(1).uppercased() + state.dropFirst())
        guard let index = player.currentIndex, player.tracks.indices.contains(index) else { return word }
        let name = QueueRow.name(of: player.tracks[index], tags: player.info?.tags, glyphs: glyphs)
        let time = (player.isExact ? "" : "about ") + player.position.clockTime
        let whole = player.duration.map { " of " + $0.clockTime } ?? ""
        return word + SafeText(" \(index + 1) of \(player.tracks.count): ") + name
            + SafeText(", \(time)\(whole)")
    }

    private var helpLines: [SafeText] {
        ui.keyMap.bindings.filter { $0.command.row.reach != .screen }.map { binding in
            SafeText(binding.keys.map(\.name.string).joined(separator: " ")) + ": " + binding.help
        }
    }
}
