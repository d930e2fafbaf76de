import ArgumentParser
import Glibc
import Media

/// What a command line asks for.
enum Invocation: Equatable {
    case play(Options)
    case cache(CacheRequest)
    /// Text for standard output, and nothing else to do: help, version, completions.
    case show(String)

    /// The version that `--version` shows.
    static let version = "0.1.0"

    /// Options of the contract that are still to come: named, so that they are refused as such.
    static let notBuilt: Set<String> = [
        "--cache-identity", "--cache-secret", "--min-free", "--fresh", "--gain",
    ]

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
        case "config": throw UsageError("config: not built yet")
        default:
            try play(arguments, defaultCacheFolder: defaultCacheFolder, fileExists: fileExists)
        }
    }

    private static func play(
        _ arguments: [String],
        defaultCacheFolder: () -> String?,
        fileExists: (String) -> Bool
    ) throws(UsageError) -> Invocation {
        let command: PlayCommand
        do {
            guard let parsed = try PlayCommand.parseAsRoot(arguments) as? PlayCommand else {
                // Only help and completions are commands of another type; they throw what they print.
                return .show(PlayCommand.helpMessage())
            }
            command = parsed
        } catch {
            if let option = arguments.lazy.map({ String($0.prefix { $0 != "=" }) }).first(
                where: notBuilt.contains
            ) {
                throw UsageError("\(option): not built yet")
            }
            return try shownOrRefused(error, by: PlayCommand.self)
        }
        if command.arguments.version { return .show("reprise \(version)") }
        // Options may stand behind a command and not before it, which nobody has to know.
        let name = command.arguments.sources.first { $0 == "cache" || $0 == "config" }
        if let name, !fileExists(name) {
            throw UsageError(
                "there is no file \(name); did you mean: reprise \(name) … --cache-dir FOLDER, the options last?"
            )
        }
        return .play(try command.arguments.options(defaultCacheFolder: defaultCacheFolder))
    }

    private static func cache(
        _ arguments: [String],
        defaultCacheFolder: () -> String?
    ) throws(UsageError) -> Invocation {
        if let name = arguments.first, CacheArguments.notBuilt.contains(name) {
            throw UsageError("cache \(name): not built yet")
        }
        let command: CacheArguments
        do {
            guard let parsed = try CacheArguments.parseAsRoot(arguments) as? CacheArguments else {
                return .show(CacheArguments.helpMessage())
            }
            command = parsed
        } catch {
            return try shownOrRefused(error, by: CacheArguments.self)
        }
        return .cache(try command.request(defaultCacheFolder: defaultCacheFolder))
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
