import ArgumentParser
import Media

struct CacheCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Lists, checks, downloads, pins, exports and deletes cached music.",
        discussion: """
            Every command but keygen takes --cache-dir, --cache-secret and --cache-identity as playing does.
            SOURCE is a URL, or a word that only one cached track has (see list); for evict, pin, unpin and fetch also \
            a file, folder or playlist. Downloading a track counts as playing it. Of an HLS stream, each quality \
            that was played is an entry of its own; its URL names the one that was played last, and for evict all.

            Exit codes: 0 done; 1 the cache cannot be used; 2 nothing could be done; \
            3 some could not, or something is damaged or missing; 4 ended by a signal; 64 wrong usage.
            """,
        subcommands: [
            ListCommand.self, InfoCommand.self, SavingsCommand.self, VerifyCommand.self, EvictCommand.self,
            ClearCommand.self,
            ExportCommand.self, PinCommand.self, UnpinCommand.self, FetchCommand.self, KeygenCommand.self,
        ]
    )

    /// The command as the help shows it: `reprise cache`.
    struct Root: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reprise",
            subcommands: [CacheCommands.self]
        )
    }

    /// The names of the commands, in the order of the help.
    static let names = configuration.subcommands.compactMap { $0.configuration.commandName }

    /// The settings of the configuration file for which the command `name` has options.
    static func settings(of name: String) -> [Setting] {
        let command = configuration.subcommands.first { $0.configuration.commandName == name }
        return (command as? any CacheSubcommand.Type)?.settings ?? []
    }

    /// `arguments` with the name of the command moved before the options, which may be typed in either order.
    static func nameFirst(_ arguments: [String]) -> [String] {
        // An option's value is a separate argument, unless the option has a `=`.
        let valued = CacheLocationOptions.settings.map(\.option)
        var index = 0
        while index < arguments.count, arguments[index].hasPrefix("-") {
            index += valued.contains(arguments[index]) ? 2 : 1
        }
        guard index > 0, index < arguments.count else { return arguments }
        return [arguments[index]] + arguments[..<index] + arguments[(index + 1)...]
    }
}

private protocol CacheSubcommand: ParsableCommand {
    /// The settings of the configuration file for which the command has options.
    static var settings: [Setting] { get }

    func invocation() throws(UsageError) -> Invocation
}

extension CacheSubcommand {
    static var settings: [Setting] { CacheLocationOptions.settings }
}

extension CacheCommands {
    /// Parses `arguments`, which begin with the name of a command.
    ///
    /// Throws `UsageError`, and the errors of ArgumentParser, which include texts to show.
    static func invocation(of arguments: [String]) throws -> Invocation {
        var command = try Root.parseAsRoot(["cache"] + arguments)
        if let subcommand = command as? any CacheSubcommand { return try subcommand.invocation() }
        // Any other command only shows its help, by throwing it.
        try command.run()
        return .show(Root.helpMessage(for: CacheCommands.self))
    }
}

private struct ListCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists cached tracks: size, cached share and its map, last played, age, pin (*) and title.",
        discussion: """
            Each WORD must occur in the source, title or artist, in any case and with or without accents. \
            With --json each entry is an object: source, title, artist, duration (seconds), type, size, stored \
            (bytes), lastPlayed (seconds since 1970), created, allocated (bytes on disk), complete, pinned; \
            if known, album, year, trackNumber, albumArtist, disc, genre.
            """
    )

    @Argument(help: ArgumentHelp("Words that must occur.", valueName: "word"))
    var words: [String] = []

    @Option(
        help: ArgumentHelp(
            "By last played, size, cached share (stored), age or source. (default: played)",
            valueName: "order"
        ),
        completion: .list(EntrySelection.Order.allCases.map(\.rawValue)),
        transform: {
            try OptionValue.accepted(
                EntrySelection.Order(rawValue: $0),
                "use " + EntrySelection.Order.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
    )
    var sort: EntrySelection.Order?

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Flag(help: "Only pinned tracks.")
    var pinned = false

    @Flag(help: "Only tracks that are cached whole.")
    var complete = false

    @Flag(help: "Only tracks that are cached in part.")
    var partial = false

    @Flag(help: "One JSON object per entry.")
    var json = false

    @OptionGroup var location: CacheLocationOptions

    func validate() throws {
        try UsageError.check(!(complete && partial), "--complete and --partial exclude each other")
    }

    func invocation() throws(UsageError) -> Invocation {
        let selection = EntrySelection(
            words: words,
            order: sort ?? .played,
            isReversed: reverse,
            isPinnedOnly: pinned,
            isComplete: complete ? true : partial ? false : nil
        )
        return .cache(try CacheRequest(.list(selection), location, isJSON: json))
    }
}

private struct InfoCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Shows one track: its cached ranges, validators, duration, pin and other names.",
        discussion: """
            With --json one object: the fields of list, and ranges (pairs of offsets, the second exclusive), \
            etag, lastModified, seekable, alsoAs. Exit code 2 if nothing of it is cached.
            """
    )

    @Argument(help: "The URL of the track, as it is played, or a word that only this track has.")
    var source: String

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var location: CacheLocationOptions

    func invocation() throws(UsageError) -> Invocation {
        .cache(try CacheRequest(.info(source: source), location, isJSON: json))
    }
}

private struct SavingsCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "savings",
        abstract: "Shows what was heard from the cache instead of downloaded again, by time and host.",
        discussion: """
            Of the bytes that were decoded, those count that were cached before that playing began; the percentage is \
            their share. Live streams, local files and downloads do not count. 31 days and 12 months are kept, \
            also if the music is deleted. With --json one object: today, month, total (each \
            with saved and heard in bytes) and hosts (the same with host, in all).
            """
    )

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var location: CacheLocationOptions

    func invocation() throws(UsageError) -> Invocation {
        .cache(try CacheRequest(.savings, location, isJSON: json))
    }
}

private struct VerifyCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every cached byte and deletes the damaged ones, so that they are downloaded again.",
        discussion: """
            Of a FLAC file that is cached as a whole, also checks its MD5: if that is wrong, the server's file is \
            damaged, and nothing is deleted. Exit code 3 if something was damaged. With --json each damaged entry is \
            an object: source, damaged (byte ranges, the second offset exclusive), or damagedAtServer; a last object \
            sums up: entries, bytes, damagedEntries, damagedBytes, damagedAtServer, undroppedBytes, strayFiles, \
            reclaimedBytes, indexLost.
            """
    )

    @Flag(help: "One JSON object per damaged entry, and one that sums up.")
    var json = false

    @OptionGroup var location: CacheLocationOptions

    func invocation() throws(UsageError) -> Invocation {
        .cache(try CacheRequest(.verify, location, isJSON: json))
    }
}

private struct EvictCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Deletes SOURCE from the cache, or the least recently played tracks until SIZE is left.",
        discussion: """
            Tracks that are being played stay, pinned ones too unless --pinned is given. Exit code 3 if some \
            stayed, 2 if nothing was deleted. With --json one object: removed, bytes, pinned, inUse, unknown.
            """
    )
    static let settings = CacheLocationOptions.settings + NetworkOptions.settings

    @Argument(help: ArgumentHelp("Files, folders, playlists or URLs, as for playing.", valueName: "source"))
    var sources: [String] = []

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("How much may stay, as 500M or 10GB.", valueName: "size"),
        transform: { try OptionValue.size($0) }
    )
    var size: Int64?

    @Flag(help: "Pinned tracks too.")
    var pinned = false

    @Flag(help: "With --to: only print what would be deleted.")
    var dryRun = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var location: CacheLocationOptions
    @OptionGroup var network: NetworkOptions

    func validate() throws {
        try UsageError.check(
            sources.isEmpty == (size != nil),
            "cache evict takes either SOURCE … or --to SIZE"
        )
        try UsageError.check(
            !dryRun || size != nil && !pinned,
            "cache evict takes --dry-run with --to SIZE, and without --pinned"
        )
        try SourceList.check(sources)
    }

    func invocation() throws(UsageError) -> Invocation {
        let action: CacheRequest.Action =
            switch size {
            case .some(let size) where dryRun: .forecast(to: size)
            case .some(let size): .shrink(to: size, includesPinned: pinned)
            case .none: .evict(sources: sources, includesPinned: pinned)
            }
        return .cache(try CacheRequest(action, location, network: network, isJSON: json))
    }
}

private struct ClearCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Deletes everything from the cache that is not being played; asks first.",
        discussion: """
            Pinned tracks stay unless --pinned is given. Without a terminal to ask on, --yes is needed. \
            With --json one object: removed, bytes, pinned, inUse, unknown.
            """
    )

    @Flag(help: "Don't ask.")
    var yes = false

    @Flag(help: "Pinned tracks too.")
    var pinned = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var location: CacheLocationOptions

    func invocation() throws(UsageError) -> Invocation {
        let action = CacheRequest.Action.clear(isConfirmed: yes, includesPinned: pinned)
        return .cache(try CacheRequest(action, location, isJSON: json))
    }
}

private struct ExportCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a cached track to a file, byte for byte as its server sent it.",
        discussion: """
            If the track has gaps nothing is written: the gaps are listed, and the exit code is 3. With --partial \
            it is written with zeros in the gaps. FILE appears whole or not at all. A recorded HLS stream is \
            written as one file, which is not byte for byte what the server sent: AAC (ADTS) or MP3 without \
            MPEG-TS and without encryption, or its fragments of MP4 joined. --partial leaves missing segments \
            out. If codec or format change on the way, nothing is written, and the exit code is 3.
            """
    )

    @Argument(help: "The URL of the track, as it is played.")
    var source: String

    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var file: String

    @Flag(help: "Write the track even if it has gaps.")
    var partial = false

    @Flag(help: "Replace FILE if it exists.")
    var force = false

    @OptionGroup var location: CacheLocationOptions

    func validate() throws {
        try UsageError.check(!file.isEmpty, "cache export takes a URL and a file, or - for standard output")
    }

    func invocation() throws(UsageError) -> Invocation {
        let order = CacheRequest.ExportOrder(
            source: source,
            path: file == "-" ? nil : file,
            takesPart: partial,
            replaces: force
        )
        return .cache(try CacheRequest(.export(order), location, isJSON: false))
    }
}

/// The arguments and options that `pin`, `unpin` and `fetch` share.
private struct FetchingOptions: ParsableArguments {
    static let settings =
        CacheLocationOptions.settings + CacheBoundsOptions.settings + NetworkOptions.settings
    static let note = """
        Cached bytes are not downloaded again, so an interrupted command continues where it was. Exit code 0 if \
        everything is cached, 3 if some is not, 2 if nothing is. With --json each track is an object: source, \
        title, size and fetched (bytes), pinned, error {code, message}.
        """

    @Argument(
        help: ArgumentHelp("Files, folders, playlists or URLs, as for playing.", valueName: "source"),
        completion: .file()
    )
    var sources: [String]

    @Flag(help: "One JSON object per track.")
    var json = false

    @OptionGroup var location: CacheLocationOptions
    @OptionGroup var bounds: CacheBoundsOptions
    @OptionGroup var network: NetworkOptions

    func validate() throws { try SourceList.check(sources) }

    func invocation(_ action: CacheRequest.Action) throws(UsageError) -> Invocation {
        .cache(try CacheRequest(action, location, bounds: bounds, network: network, isJSON: json))
    }
}

private struct PinCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Pins SOURCE, so that it is never evicted, and downloads what is missing of it.",
        discussion: FetchingOptions.note
    )
    static let settings = FetchingOptions.settings

    @Flag(help: "Download nothing: only what is played will be cached.")
    var onlyMark = false

    @OptionGroup var options: FetchingOptions

    func invocation() throws(UsageError) -> Invocation {
        try options.invocation(.pin(sources: options.sources, isFetched: !onlyMark))
    }
}

private struct UnpinCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Unpins SOURCE; what is cached stays until it is evicted.",
        discussion: "With --json each track is an object: source, title, pinned, error."
    )
    static let settings = FetchingOptions.settings

    @OptionGroup var options: FetchingOptions

    func invocation() throws(UsageError) -> Invocation {
        try options.invocation(.unpin(sources: options.sources))
    }
}

private struct FetchCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Makes SOURCE available offline: downloads what is missing, two tracks at a time.",
        discussion: FetchingOptions.note
    )
    static let settings = FetchingOptions.settings

    @OptionGroup var options: FetchingOptions

    func invocation() throws(UsageError) -> Invocation {
        try options.invocation(.fetch(sources: options.sources))
    }
}

private struct KeygenCommand: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Writes a new secret for --cache-secret to a file that only you can read.",
        discussion: "An existing file is never overwritten. Without the file, the cache it encrypts is lost."
    )
    static let settings: [Setting] = []

    @Argument(help: "The file to write.", completion: .file())
    var file: String

    func validate() throws { try UsageError.check(!file.isEmpty, "cache keygen takes the file to write") }

    func invocation() -> Invocation { .makeSecret(path: file) }
}
