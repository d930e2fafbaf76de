import ArgumentParser
import Glibc
import Media

/// What a command line asks for.
enum Invocation: Equatable {
    case play(Options)
    case cache(CacheRequest)
    /// A new secret for `--cache-secret`.
    case makeSecret(path: String)
    /// What holds of every setting with these arguments.
    case configuration(arguments: [String])
    /// Text for standard output, and nothing else to do: help, version, completions.
    case show(String)

    /// The version that `--version` shows.
    static let version = "0.1.0"

    /// Reads the arguments behind the program's name.
    ///
    /// ArgumentParser cannot express sources and sub-commands at one level, so the first argument
    /// decides: `cache` and `config` go their own way, and a file so named is `./cache`.
    static func parse(
        _ arguments: [String],
        defaultCacheFolder: () -> String?,
        fileExists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) throws(UsageError) -> Invocation {
        switch arguments.first {
        case "cache": try cache(Array(arguments.dropFirst()), defaultCacheFolder: defaultCacheFolder)
        case "config": try configuration(Array(arguments.dropFirst()), defaultCacheFolder: defaultCacheFolder)
        case "--generate-completion-script": try completions(arguments)
        default:
            try play(arguments, defaultCacheFolder: defaultCacheFolder, fileExists: fileExists)
        }
    }

    /// `reprise config` takes the options that play, and says what would hold with them.
    private static func configuration(
        _ arguments: [String],
        defaultCacheFolder: () -> String?
    ) throws(UsageError) -> Invocation {
        if let word = arguments.first, !word.hasPrefix("-") {
            throw UsageError(
                "config \(word): reprise config takes options only, and says what would hold with them"
            )
        }
        let parsed = try play(arguments, defaultCacheFolder: defaultCacheFolder, fileExists: { _ in true })
        if case .show = parsed { return parsed }
        return .configuration(arguments: arguments)
    }

    /// The script that completes the options and the commands in a shell.
    private static func completions(_ arguments: [String]) throws(UsageError) -> Invocation {
        do {
            _ = try CompletionRoot.parseAsRoot(arguments)
            return .show(CompletionRoot.helpMessage())
        } catch {
            return try shownOrRefused(error, by: CompletionRoot.self)
        }
    }

    private static func play(
        _ arguments: [String],
        defaultCacheFolder: () -> String?,
        fileExists: (String) -> Bool
    ) throws(UsageError) -> Invocation {
        let text: PlayText
        do {
            // Only help and completions are commands of another type; they throw what they print.
            guard let declared = try PlayCommand.text(of: arguments) else {
                return .show(PlayCommand.helpMessage())
            }
            text = declared
        } catch {
            return try shownOrRefused(error, by: PlayCommand.self)
        }
        if text.version { return .show("reprise \(version)") }
        // Options may stand behind a command and not before it, which nobody has to know.
        let name = text.sources.first { $0 == "cache" || $0 == "config" }
        if let name, !fileExists(name) {
            throw UsageError(
                "there is no file \(name); did you mean: reprise \(name) … --cache-dir FOLDER, the options last?"
            )
        }
        return .play(try text.options(defaultCacheFolder: defaultCacheFolder))
    }

    private static func cache(
        _ arguments: [String],
        defaultCacheFolder: () -> String?
    ) throws(UsageError) -> Invocation {
        var arguments = CacheCommands.commandFirst(arguments)
        if arguments.first == "help" { arguments = Array(arguments.dropFirst()) + ["--help"] }
        let names = CacheCommands.names.joined(separator: ", ")
        guard let name = arguments.first else { throw UsageError("cache needs a command: \(names)") }
        if !name.hasPrefix("-"), !CacheCommands.names.contains(name) {
            throw UsageError("cache \(name): no such command; there are \(names)")
        }
        do {
            return try cacheCommand(arguments, defaultCacheFolder: defaultCacheFolder)
        } catch {
            var error = error
            error.help = SafeText("reprise cache \(name.hasPrefix("-") ? "" : name + " ")--help")
            throw error
        }
    }

    private static func cacheCommand(
        _ arguments: [String],
        defaultCacheFolder: () -> String?
    ) throws(UsageError) -> Invocation {
        let command: any ParsableCommand
        do {
            var parsed = try CacheCommandRoot.parseAsRoot(["cache"] + arguments)
            // Only help is a command of another type; running it throws what it prints.
            if !(parsed is any CacheSubcommand) { try parsed.run() }
            command = parsed
        } catch {
            guard case .show(let text) = try shownOrRefused(error, by: CacheCommandRoot.self) else {
                return .show(CacheCommandRoot.helpMessage(for: CacheCommands.self))
            }
            // The parser's own hint leads to a command that plays.
            return .show(
                text.split(separator: "\n", omittingEmptySubsequences: false).map {
                    $0.contains("'reprise help cache")
                        ? "  reprise cache COMMAND --help tells more of each." : $0
                }.joined(separator: "\n")
            )
        }
        guard let command = command as? any CacheSubcommand else {
            return .show(CacheCommandRoot.helpMessage(for: CacheCommands.self))
        }
        return try command.invocation(defaultCacheFolder: defaultCacheFolder)
    }

    /// Help and completions arrive as errors with exit code 0; all others are refusals.
    private static func shownOrRefused(
        _ error: any Error,
        by command: (some ParsableArguments).Type
    ) throws(UsageError) -> Invocation {
        guard command.exitCode(for: error).isSuccess else {
            throw UsageError(command.message(for: error))
        }
        return .show(command.fullMessage(for: error))
    }
}
