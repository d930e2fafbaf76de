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
        ("time-left", .toggleRemainingTime), ("command", .openCommandLine),
        ("help", .toggleHelp), ("close-help", .closeHelp), ("redraw", .redraw),
    ]

    /// The names of all commands and what may stand behind each, for completion.
    static let arguments: [String: CommandArgument] = Dictionary(
        uniqueKeysWithValues: screenCommands.map { ($0.name, .none) } + PlayerCommand.arguments
    )

    /// Parses one line, as typed after `:` or written behind a key in the configuration.
    package init(parsing line: some StringProtocol) throws(PlayerCommand.ParseError) {
        let words = String(line).split(whereSeparator: \.isWhitespace)
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
        default: Self.screenCommands.first { $0.command == self }?.name ?? ""
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
