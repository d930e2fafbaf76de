import ArgumentParser
import Glibc
import Media

/// A parsed command line.
enum Invocation {
    case play(Options)
    case cache(CacheRequest)
    /// Writes a new secret for `--cache-secret`.
    case makeSecret(path: String)
    /// Lists every setting and its value.
    case configuration
    /// Prints a text on standard output, and does nothing else: help, version, completions.
    case show(String)

    static let version = "0.1.0"

    /// Parses the arguments after the program's name.
    ///
    /// ArgumentParser cannot have sources and subcommands at one level, so the first argument decides:
    /// `cache` and `config` are commands, and files of these names must be typed as `./cache` and `./config`.
    static func parse(
        _ arguments: [String],
        fileExists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) throws(UsageError) -> Invocation {
        switch arguments.first {
        case "cache": return try cache(Array(arguments.dropFirst()))
        case "config": return try configuration(Array(arguments.dropFirst()))
        case "--generate-completion-script":
            return try shown(by: CompletionRoot.self) {
                _ = try CompletionRoot.parseAsRoot(arguments)
                return .show(CompletionRoot.helpMessage())
            }
        default: break
        }
        let invocation = try play(arguments)
        guard case .play(let options) = invocation,
            let name = options.sources.first(where: { $0 == "cache" || $0 == "config" }), !fileExists(name)
        else { return invocation }
        throw UsageError(
            "there is no file \(name); did you mean: reprise \(name) … --cache-dir FOLDER, the options last?"
        )
    }

    private static func play(_ arguments: [String]) throws(UsageError) -> Invocation {
        try shown(by: Options.self) {
            guard let options = try Options.parseAsRoot(arguments) as? Options else {
                return .show(Options.helpMessage())
            }
            return .play(options)
        }
    }

    /// `reprise config` accepts the options for playing, and shows the settings with those options applied.
    private static func configuration(_ arguments: [String]) throws(UsageError) -> Invocation {
        switch try play(arguments) {
        case .play(let options):
            guard let word = options.sources.first else { return .configuration }
            throw UsageError(
                "config \(word): reprise config takes options only, and lists the settings with them"
            )
        case let other: return other
        }
    }

    private static func cache(_ arguments: [String]) throws(UsageError) -> Invocation {
        var arguments = CacheCommands.nameFirst(arguments)
        if arguments.first == "help" { arguments = Array(arguments.dropFirst()) + ["--help"] }
        let names = CacheCommands.names.joined(separator: ", ")
        guard let name = arguments.first else { throw UsageError("cache needs a command: \(names)") }
        if !name.hasPrefix("-"), !CacheCommands.names.contains(name) {
            throw UsageError("cache \(name): no such command; there are \(names)")
        }
        do throws(UsageError) {
            let invocation = try shown(by: CacheCommands.Root.self) {
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
    /// other error becomes a refusal.
    private static func shown(
        by command: any ParsableCommand.Type,
        _ parse: () throws -> Invocation
    ) throws(UsageError) -> Invocation {
        do {
            return try parse()
        } catch let error as UsageError {
            throw error
        } catch {
            guard command.exitCode(for: error).isSuccess else {
                throw UsageError(command.message(for: error))
            }
            return .show(command.fullMessage(for: error))
        }
    }
}

/// The command from which completions are generated: the options for playing, and the commands.
///
/// Parses only `--generate-completion-script`: with options and commands at one level, ArgumentParser takes
/// `cache list` for two files.
private struct CompletionRoot: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprise",
        version: Invocation.version,
        subcommands: [CacheCommands.self]
    )

    @OptionGroup var options: Options
}

/// The refusal of a command line or of the configuration file; ends the process with 64.
struct UsageError: Error, Equatable, CustomStringConvertible {
    var message: SafeText
    /// The command that prints the matching help.
    var help: SafeText = "reprise --help"

    init(_ message: String) { self.message = SafeText(message) }

    var description: String { message.string }

    /// Throws `refusal` unless `isAccepted`.
    static func check(_ isAccepted: Bool, _ refusal: String) throws(UsageError) {
        guard isAccepted else { throw UsageError(refusal) }
    }
}
