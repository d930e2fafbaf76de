import ArgumentParser
import Media
import System
import TerminalUI

/// The commands that `reprise remote` sends, and the events that it prints or waits for.
struct RemoteRequest: Sendable, Equatable {
    /// The commands, in their order.
    var lines: [String] = []
    /// `true` if the events that answer the commands are printed.
    var printsAnswers = false
    /// The event at which it ends.
    var awaited: String?
    /// `true` if all events are printed.
    var follows = false
    /// The player's process; `nil` for the first player.
    var process: Int32?
}

struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "Controls the player that runs, or shows its events.",
        usage: "reprise remote [--wait EVENT] [--follow] [--pid PID] [COMMAND [ARGUMENT ...]]",
        discussion: """
            COMMAND is one that the player reads from standard input (see man reprise), such as toggle, next, seek \
            +30, add SOURCE ..., status or list. The events that answer status and list are printed, as JSON. \
            Names of files are those of the current folder.

            Exit codes: 0 done; 1 no player runs, or it ended before EVENT; 2 the player has refused the command; \
            4 ended by a signal; 64 wrong usage.
            """
    )

    @Option(
        name: .customLong("wait"),
        help: ArgumentHelp("Print the next event of this name, and end with it.", valueName: "event"),
        completion: .list(EventLine.names),
        transform: {
            try OptionValue.accepted(
                EventLine.names.contains($0) ? $0 : nil,
                "use " + EventLine.names.joined(separator: ", ")
            )
        }
    )
    var awaited: String?

    @Flag(help: "Print all events, until the player ends.")
    var follow = false

    @Option(
        name: .customLong("pid"),
        help: ArgumentHelp("The player with this process number. (default: the first one)", valueName: "pid"),
        transform: { Int32(try OptionValue.number($0, in: 1...Int(Int32.max), "use a process number")) }
    )
    var process: Int32?

    @Argument(
        help: ArgumentHelp("The command, with its argument.", valueName: "command"),
        completion: .list(
            CommandTable.rows.filter { [.everywhere, .lines].contains($0.reach) }.map(\.name)
        )
    )
    var words: [String] = []

    /// `arguments` with the options first, which may also be typed behind the command, and then a `--`, since
    /// the argument of a command may begin with a hyphen: `seek -10`.
    private static func optionsFirst(_ arguments: [String]) -> [String] {
        var options: [String] = []
        var words: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                words += rest
                break
            }
            guard argument.hasPrefix("--") || argument == "-h" else {
                words.append(argument)
                continue
            }
            options.append(argument)
            if ["--wait", "--pid"].contains(argument), let value = rest.popFirst() { options.append(value) }
        }
        return options + ["--"] + words
    }

    /// The request of `arguments`, which are typed in `folder`.
    ///
    /// Throws `UsageError`, and the errors of ArgumentParser, which include texts to show.
    static func request(
        of arguments: [String],
        in folder: String = BasePaths.workingFolder
    ) throws -> RemoteRequest {
        try parse(optionsFirst(arguments)).request(in: folder)
    }

    private func request(in folder: String) throws(UsageError) -> RemoteRequest {
        var request = RemoteRequest(awaited: awaited, follows: follow, process: process)
        guard !words.isEmpty else {
            try UsageError.check(follow || awaited != nil, "remote needs a command, --wait or --follow")
            return request
        }
        let entry: ParsedCommand
        do {
            entry = try ParsedCommand(parsing: words.joined(separator: " "))
        } catch {
            throw UsageError(error.message.string)
        }
        guard case .player(let command) = entry.command else {
            throw UsageError(entry.row.needsScreenMessage.string)
        }
        request.printsAnswers = entry.row.reach == .lines
        switch command {
        case .add(let source):
            // Each word is a source of its own; `*.mp3` gives many.
            let sources = words.count > 1 ? Array(words.dropFirst()) : [source]
            try SourceList.check(sources)
            request.lines = sources.map { "add " + Self.source($0, in: folder) }
        case .save(let path): request.lines = ["save " + Self.absolute(path, in: folder)]
        default: request.lines = [entry.line]
        }
        try UsageError.check(
            !request.lines.contains { $0.contains(byte: UInt8(ascii: "\n")) },
            "remote takes no line break"
        )
        return request
    }

    /// A source as the player has to be told it, which runs in another folder.
    private static func source(_ word: String, in folder: String) -> String {
        let scheme = word.prefix { $0.isLetter || $0.isNumber || "+-.".contains($0) }
        let rest = word.dropFirst(scheme.count)
        if rest.hasPrefix("://") || (scheme.lowercased() == "file" && rest.hasPrefix(":/")) { return word }
        let path = absolute(word, in: folder)
        // A blank at the end of a line is no part of the command, and a line break ends it.
        let isPlain = path.last?.isWhitespace != true && !path.contains(byte: UInt8(ascii: "\n"))
        return isPlain ? path : "file://" + PercentEncoding.escaped(FileName.bytes(of: path))
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") || path.hasPrefix("~/") ? path : (folder == "/" ? "" : folder) + "/" + path
    }
}
