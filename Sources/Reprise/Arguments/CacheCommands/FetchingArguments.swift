import ArgumentParser

/// `reprise cache pin`.
struct PinArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keeps the music of SOURCE whatever the bounds say, and fetches what is missing of it.",
        discussion: FetchArguments.note
    )

    @Flag(help: "Fetch nothing: only what is played will be kept.")
    var onlyMark = false

    @OptionGroup var fetching: FetchingArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        let sources = try SourceList.checked(fetching.sources, of: "pin")
        return try fetching.invocation(
            .pin(sources: sources, isFetched: !onlyMark),
            defaultCacheFolder: defaultCacheFolder
        )
    }
}

/// `reprise cache unpin`.
struct UnpinArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Takes the pins of the music of SOURCE away; what is stored stays until its turn to go.",
        discussion: "With --json each piece is an object: source, title, pinned, error."
    )

    @OptionGroup var fetching: FetchingArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        let sources = try SourceList.checked(fetching.sources, of: "unpin")
        return try fetching.invocation(.unpin(sources: sources), defaultCacheFolder: defaultCacheFolder)
    }
}

/// `reprise cache fetch`.
struct FetchArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract:
            "Makes the music of SOURCE available offline: fetches what is missing of it, two at a time.",
        discussion: note
    )

    static let note = """
        What is stored is not fetched again, so a fetch that was ended goes on where it was. Exit code 0 when all \
        is there, 3 when some is not, 2 when nothing is. With --json each piece is an object: source, title, size \
        and fetched (bytes), pinned, error {code, message}.
        """

    @OptionGroup var fetching: FetchingArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        let sources = try SourceList.checked(fetching.sources, of: "fetch")
        return try fetching.invocation(.fetch(sources: sources), defaultCacheFolder: defaultCacheFolder)
    }
}

/// What `pin`, `unpin` and `fetch` take alike.
struct FetchingArguments: ParsableArguments {
    @Argument(help: "Files, folders, playlists or URLs, as for playing.", completion: .file())
    var sources: [String] = []

    @Flag(help: "One JSON object per piece.")
    var json = false

    @OptionGroup var folder: FolderArguments
    @OptionGroup var bounds: BoundsArguments
    @OptionGroup var network: NetworkArguments

    func invocation(
        _ action: CacheRequest.Action,
        defaultCacheFolder: () -> String?
    ) throws(UsageError) -> Invocation {
        var keeping = try folder.text.options(defaultCacheFolder: defaultCacheFolder)
        try bounds.text.apply(to: &keeping)
        return .cache(
            try CacheRequest(action, keeping: keeping, network: network.text.options(), isJSON: json)
        )
    }
}

/// The sources that a command names.
enum SourceList {
    /// `sources`, refused where there is none, an empty one, or a second `-`.
    static func checked(_ sources: [String], of command: String) throws(UsageError) -> [String] {
        try CheckedValue.check(
            !sources.isEmpty,
            "cache \(command) takes a file, folder, playlist or URL, one or more"
        )
        try CheckedValue.check(
            sources.allSatisfy { !$0.isEmpty },
            "a source is empty: give a file, folder or URL"
        )
        try CheckedValue.check(
            sources.count { $0 == "-" } <= 1,
            "standard input, -, can be read only once"
        )
        return sources
    }
}
