import ArgumentParser

/// A command of `reprise cache`.
protocol CacheSubcommand: ParsableCommand {
    /// What is asked for, checked.
    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation
}

/// The name that the commands of `reprise cache` stand under in their help.
struct CacheCommandRoot: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reprise", subcommands: [CacheCommands.self])
}

/// `reprise cache`.
struct CacheCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Shows what is kept of the music, checks it, drops it, and fetches more of it.",
        discussion: """
            Every command but keygen takes --cache-dir, --cache-secret and --cache-identity as playing does.
            SOURCE is a URL; for evict, pin, unpin and fetch also a file, folder or playlist.

            Exit codes: 0 done; 1 the cache cannot be used; 2 nothing could be done; \
            3 some could not, or something is damaged or missing; 4 ended by a signal; 64 wrong usage.
            """,
        subcommands: [
            ListArguments.self, InfoArguments.self, VerifyArguments.self, EvictArguments.self,
            ClearArguments.self, ExportArguments.self, PinArguments.self, UnpinArguments.self,
            FetchArguments.self, KeygenArguments.self,
        ]
    )

    /// The names of the commands, in the order of the help.
    static let names: [String] = configuration.subcommands.compactMap { $0.configuration.commandName }

    /// `arguments` with the options before the command's name put behind it, where they are understood.
    ///
    /// An option that takes a value stands before it in a word of its own, unless it has a `=`.
    static func commandFirst(_ arguments: [String]) -> [String] {
        var index = 0
        while index < arguments.count, arguments[index].hasPrefix("-") {
            index += takingValues.contains(arguments[index]) ? 2 : 1
        }
        guard index > 0, index < arguments.count else { return arguments }
        return [arguments[index]] + arguments[..<index] + arguments[(index + 1)...]
    }

    private static let takingValues: Set<String> = ["--cache-dir", "--cache-secret", "--cache-identity"]
}

/// What completions are made of: the options that play, and the commands.
///
/// Never parsed: with both at one level a parser takes `cache list` for two files.
struct CompletionRoot: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "reprise", subcommands: [CacheCommands.self])

    @OptionGroup var arguments: PlayArguments
}
