package import Media

/// The one vocabulary of keys, of the `:` line and, as far as no screen is needed, of standard input.
extension UICommand {
    /// What only a screen has.
    private static let screenCommands: [(name: String, command: UICommand)] = [
        ("select-down", .selectBy(1)), ("select-up", .selectBy(-1)),
        ("page-down", .selectByPage(1)), ("page-up", .selectByPage(-1)),
        ("select-first", .selectFirst), ("select-last", .selectLast),
        ("play-selected", .playSelected), ("remove-selected", .removeSelected),
        ("pin-selected", .pinSelected),
        ("move-down", .moveSelected(by: 1)), ("move-up", .moveSelected(by: -1)),
        ("select-current", .selectCurrent), ("mark", .toggleMark), ("mark-all", .markAll),
        ("unmark-all", .unmarkAll), ("search-next", .nextMatch(1)), ("search-previous", .nextMatch(-1)),
        ("next-view", .nextView(by: 1)), ("previous-view", .nextView(by: -1)),
        ("time-left", .toggleRemainingTime), ("sound", .toggleSound), ("help", .toggleHelp), ("back", .back),
        ("redraw", .redraw),
    ]

    /// What may stand behind the names of those that take something.
    private static let argumentsOfOthers: [(String, CommandArgument)] = [
        ("view", .words(ViewName.allCases.map(\.rawValue))), ("search", .other), ("filter", .other),
        ("command", .other),
    ]

    /// The names of all commands and what may stand behind each, for completion.
    static let arguments: [String: CommandArgument] = Dictionary(
        uniqueKeysWithValues: screenCommands.map { ($0.name, .none) } + argumentsOfOthers
            + PlayerCommand.arguments
    )

    /// Parses one line, as typed after `:` or written behind a key in the configuration.
    package init(parsing line: some StringProtocol) throws(PlayerCommand.ParseError) {
        let words = String(line).split(whereSeparator: \.isWhitespace)
        if let command = try Self.withText(words) {
            self = command
            return
        }
        if let known = Self.screenCommands.first(where: { $0.name == words.first ?? "" }) {
            guard words.count == 1 else {
                throw PlayerCommand.ParseError(message: SafeText("\(known.name) takes nothing after it"))
            }
            self = known.command
            return
        }
        let command = try PlayerCommand(parsing: line)
        self = command == .quit ? .quit : .player(command)
    }

    /// The command as it is typed; `init(parsing:)` gives it back.
    package var line: String {
        switch self {
        case .player(let command): command.line
        case .quit: "quit"
        case .show(let view): "view \(view.rawValue)"
        case .search(let text): text.map { "search \($0)" } ?? "search"
        case .filter(let text): text.map { "filter \($0)" } ?? "filter"
        case .openCommandLine(let text): text.isEmpty ? "command" : "command \(text.dropLast())"
        default: Self.screenCommands.first { $0.command == self }?.name ?? ""
        }
    }

    /// A command that takes words behind its name; nil for all others.
    private static func withText(_ words: [Substring]) throws(PlayerCommand.ParseError) -> UICommand? {
        let text = words.dropFirst().joined(separator: " ")
        switch words.first {
        case "view":
            guard let view = ViewName(rawValue: text) else {
                let names = ViewName.allCases.map(\.rawValue).joined(separator: ", ")
                throw PlayerCommand.ParseError(message: SafeText("view takes one of \(names)"))
            }
            return .show(view)
        case "search": return .search(text.isEmpty ? nil : text)
        case "filter": return .filter(text.isEmpty ? nil : text)
        // With a blank behind it, so that one can type on.
        case "command": return .openCommandLine(text.isEmpty ? "" : text + " ")
        default: return nil
        }
    }

    /// The command for the player where no screen is needed for it; else nil.
    package var withoutScreen: PlayerCommand? {
        switch self {
        case .player(let command): command
        case .quit: .quit
        default: nil
        }
    }
}

/// What may stand behind the name of a command.
enum CommandArgument: Sendable, Equatable {
    case none
    /// One of these words, or something that cannot be completed.
    case words([String])
    /// A file or folder.
    case path
    /// A number, a time.
    case other
}

extension PlayerCommand {
    fileprivate static let arguments: [(String, CommandArgument)] = [
        ("play", .none), ("pause", .none), ("toggle", .none), ("stop", .none), ("next", .none),
        ("previous", .none), ("jump", .other), ("seek", .other), ("volume", .other), ("mute", .none),
        ("shuffle", .words(["now"])), ("undo", .none),
        ("sort", .words(SortKey.allCases.map(\.rawValue))),
        ("repeat", .words(RepeatMode.allCases.map(\.rawValue))),
        ("gain", .words(GainMode.allCases.map(\.rawValue))), ("add", .path),
        ("remove", .other), ("move", .other), ("clear", .none), ("save", .path), ("reload", .none),
        ("pin", .other), ("status", .none), ("quit", .none),
    ]
}
