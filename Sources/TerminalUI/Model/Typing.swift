internal import Media

/// The line being typed at the bottom, if any: a command, a search or filter, or a log-in. Pure.
struct Typing: Sendable {
    /// The longest history, more lines than anyone steps through key by key.
    private static let longestHistory = 500

    /// At most one of the three is typed.
    var command: CommandLine?
    var prompt: Prompt?
    var login: LoginPrompt?
    /// The lines entered so far, oldest first.
    private var history: [String]

    init(history: [String]) { self.history = history.suffix(Self.longestHistory) }

    /// The line, and the label in front of it; `nil` if none is typed.
    var line: (sign: SafeText, line: CommandLine)? {
        command.map { (":", $0) } ?? prompt.map { ($0.kind.sign, $0.line) } ?? login?.shown
    }

    /// `true` if `command` is the last one that was entered, so that the key `Up` brings its line back.
    func recalls(_ command: PlayerCommand) -> Bool {
        guard let line = history.last, let last = try? ParsedCommand(parsing: line) else { return false }
        return last.command == .player(command)
    }

    /// `true` if no command has the typed name, or one like it.
    var isUnknownCommand: Bool {
        guard let command else { return false }
        do {
            _ = try ParsedCommand(parsing: command.text)
            return false
        } catch {
            return error.isUnknownName
        }
    }

    mutating func open(_ text: String) { command = CommandLine(text, history: history) }

    /// Applies a key to the command. A cancelled or entered command is closed.
    mutating func edit(with key: Key) -> CommandLine.Outcome {
        guard let outcome = command?.apply(key) else { return .editing }
        switch outcome {
        case .editing, .wantsPaths, .wantsThemes, .wantsDevices: break
        case .cancelled: command = nil
        case .entered(let text):
            command = nil
            // Mistyped lines enter the history too, so that the user can recall and correct them.
            guard text.contains(where: { !$0.isWhitespace }) else { break }
            if history.last != text { history.append(text) }
            if history.count > Self.longestHistory { history.removeFirst() }
        }
        return outcome
    }

    /// The sources in pasted text: its lines, except blank ones and comments.
    static func sources(in pasted: String) -> [String] {
        pasted.split(whereSeparator: \.isNewline).compactMap { line in
            let line = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return line.isEmpty || line.hasPrefix("#") ? nil : line
        }
    }
}
