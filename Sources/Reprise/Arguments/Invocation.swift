import ArgumentParser
import Glibc
import Media
import System

enum Invocation {
    case play(Options)
    case cache(CacheRequest)
    /// Writes a new secret for `--cache-secret`.
    case makeSecret(path: String)
    /// Lists every setting and its value.
    case configuration
    /// Controls the player that runs.
    case remote(RemoteRequest)
    /// Prints a text on standard output, and does nothing else: help, version, completions.
    case show(String)

    static let version = "0.1.0"

    /// Parses the arguments after the program's name.
    ///
    /// ArgumentParser cannot have sources and subcommands at one level, so the first argument decides:
    /// `cache`, `config` and `remote` are commands, and files of these names must be typed as `./cache` and
    /// so on.
    static func parse(
        _ arguments: [String],
        fileExists: (String) -> Bool = { access(FileName.cString($0), F_OK) == 0 }
    ) throws(UsageError) -> Invocation {
        switch arguments.first {
        case "cache": return try cache(Array(arguments.dropFirst()))
        case "config": return try configuration(Array(arguments.dropFirst()))
        case "remote": return try remote(Array(arguments.dropFirst()))
        case let word? where CompletionRoot.isRequested(by: word):
            let invocation = try shown(by: CompletionRoot.self) {
                _ = try CompletionRoot.parseAsRoot(arguments)
                return .show(CompletionRoot.helpMessage())
            }
            guard case .show(let script) = invocation else { return invocation }
            return .show(CompletionScript.mended(script, commands: CompletionRoot.commands))
        default: break
        }
        let invocation = try play(arguments)
        guard case .play(let options) = invocation else { return invocation }
        let commands = CompletionRoot.commands
        if let word = options.sources.first, !commands.contains(word), !word.contains("/"),
            options.sources.allSatisfy({ !fileExists($0) && WebURL($0) == nil }),
            case let hint = Spelling.hint(for: word, among: commands), !hint.isEmpty
        {
            throw UsageError("there is no file \(word)" + hint)
        }
        guard let name = options.sources.first(where: { commands.contains($0) }), !fileExists(name)
        else { return invocation }
        throw UsageError(
            "there is no file \(name); did you mean: reprise \(name) … --cache-dir FOLDER, the options last?"
        )
    }

    private static func play(_ arguments: [String]) throws(UsageError) -> Invocation {
        try shown(by: Options.self, of: arguments) {
            guard let options = try Options.parseAsRoot(arguments) as? Options else {
                return .show(Options.helpMessage())
            }
            return .play(options)
        }
    }

    /// `reprise config` accepts the options for playing, and shows the settings with those options applied.
    private static func configuration(_ arguments: [String]) throws(UsageError) -> Invocation {
        if arguments.contains("--help") || arguments.contains("-h") {
            return .show(ConfigCommand.helpMessage())
        }
        if arguments.contains("--sample") {
            guard arguments.count == 1 else { throw configRefusal("--sample takes no other option") }
            return .show(Configuration.sample.joined(separator: "\n"))
        }
        switch try play(arguments) {
        case .play(let options):
            guard let word = options.sources.first else { return .configuration }
            throw configRefusal("\(word): takes options only")
        case let other: return other
        }
    }

    private static func configRefusal(_ reason: String) -> UsageError {
        var error = UsageError("config " + reason)
        error.help = "reprise config --help"
        return error
    }

    private static func remote(_ arguments: [String]) throws(UsageError) -> Invocation {
        do throws(UsageError) {
            return try shown(by: RemoteCommand.self, of: arguments) {
                .remote(try RemoteCommand.request(of: arguments))
            }
        } catch {
            var error = error
            error.help = "reprise remote --help"
            throw error
        }
    }

    private static func cache(_ arguments: [String]) throws(UsageError) -> Invocation {
        var arguments = CacheCommands.nameFirst(arguments)
        if arguments.first == "help" { arguments = Array(arguments.dropFirst()) + ["--help"] }
        let names = CacheCommands.names.joined(separator: ", ")
        guard let name = arguments.first else { throw UsageError("cache needs a command: \(names)") }
        if !name.hasPrefix("-"), !CacheCommands.names.contains(name) {
            let hint = Spelling.hint(for: name, among: CacheCommands.names)
            throw UsageError(
                "cache \(name): no such command" + (hint.isEmpty ? "; there are \(names)" : hint)
            )
        }
        do throws(UsageError) {
            let invocation = try shown(by: CacheCommands.Root.self, of: ["cache"] + arguments) {
                try CacheCommands.invocation(of: arguments)
            }
            guard case .show(let text) = invocation else { return invocation }
            // Replaces the hint of ArgumentParser itself: `reprise help cache` is not a command here.
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
                $0.contains("'reprise help cache") ? "  reprise cache COMMAND --help explains each." : $0
            }
            return .show(lines.joined(separator: "\n"))
        } catch {
            var error = error
            error.help = SafeText("reprise cache \(name.hasPrefix("-") ? "" : name + " ")--help")
            throw error
        }
    }

    /// The result of `parse`. ArgumentParser throws help and completions, which become a text to show; every
    /// other error becomes a refusal: of an unknown option among `arguments`, if `command` lacks one of them.
    private static func shown(
        by command: any ParsableCommand.Type,
        of arguments: [String] = [],
        _ parse: () throws -> Invocation
    ) throws(UsageError) -> Invocation {
        do {
            return try parse()
        } catch let error as UsageError {
            throw error
        } catch {
            guard command.exitCode(for: error).isSuccess else {
                throw UsageError(unknownOption(in: arguments, of: command) ?? command.message(for: error))
            }
            return .show(command.fullMessage(for: error))
        }
    }

    /// The refusal of the first option that `command`, or its subcommand that `arguments` name, lacks; `nil`
    /// if there is none. ArgumentParser has one too, but it never guesses that `--help` was meant.
    private static func unknownOption(in arguments: [String], of command: any ParsableCommand.Type) -> String?
    {
        var declared = DeclaredCommand(command)
        for name in arguments {
            guard let found = declared.subcommands?.first(where: { $0.commandName == name }) else { break }
            declared = found
        }
        let names = declared.options.flatMap(\.longNames) + ["--help"]
        let typed = arguments.prefix { $0 != "--" }.map { String($0.prefix { $0 != "=" }) }
        let unknown = typed.first { $0.hasPrefix("--") && !names.contains($0) }
        return unknown.map { "Unknown option '\($0)'" + Spelling.hint(for: $0, among: names) }
    }
}

/// The help of `reprise config`, which accepts the options for playing too.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Lists every setting, its value and where the value comes from.",
        usage: "reprise config [--sample] [OPTIONS]",
        discussion: """
            Settings are read from ~/.config/reprise/config.toml. If the file has errors, they follow with their \
            lines. With options for playing (see reprise --help), the list has their values.
            """
    )

    @Flag(help: "Print a configuration file with every setting, commented out.")
    var sample = false
}

/// The command from which completions are generated: the options for playing, and the commands.
///
/// Parses only `--generate-completion-script`: with options and commands at one level, ArgumentParser takes
/// `cache list` for two files.
struct CompletionRoot: ParsableCommand {
    /// `true` if `word`, the first argument, requests completions, perhaps with the name of a shell after
    /// `=`.
    static func isRequested(by word: String) -> Bool {
        word.split(separator: "=", maxSplits: 1).first == "--generate-completion-script"
    }

    static let configuration = CommandConfiguration(
        commandName: "reprise",
        version: Invocation.version,
        subcommands: [CacheCommands.self, ConfigCommand.self, RemoteCommand.self]
    )

    static let commands = configuration.subcommands.compactMap { $0.configuration.commandName }

    @OptionGroup var options: Options
}

/// The refusal of a command line or of the configuration file; ends the process with 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    var message: SafeText
    /// The command that prints the matching help.
    var help: SafeText = "reprise --help"

    init(_ message: String) { self.message = SafeText(message) }

    var description: String { message.string }

    static func check(_ isAccepted: Bool, _ refusal: String) throws(UsageError) {
        guard isAccepted else { throw UsageError(refusal) }
    }
}
