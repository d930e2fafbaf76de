import ArgumentParser

/// `reprise cache evict`.
struct EvictArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "evict",
        abstract: "Drops the music of SOURCE, or the least recently played until no more than SIZE is left.",
        discussion: """
            What is being played is left, and what is pinned too unless --pinned is given. Exit code 3 when some \
            was left, 2 when nothing was dropped. With --json one object: removed, bytes, pinned, inUse, unknown.
            """
    )

    @Argument(help: "Files, folders, playlists or URLs, as for playing.")
    var sources: [String] = []

    @Option(name: .customLong("to"), help: "How much may be left, as 500M or 10GB.")
    var size: String?

    @Flag(help: "Also what is pinned.")
    var pinned = false

    @Flag(help: "With --to: only says what would be dropped.")
    var dryRun = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var folder: FolderArguments
    @OptionGroup var network: NetworkArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        try CheckedValue.check(
            sources.isEmpty == (size != nil),
            "cache evict takes either SOURCE … or --to SIZE"
        )
        try CheckedValue.check(
            !dryRun || size != nil && !pinned,
            "cache evict takes --dry-run with --to SIZE, and without --pinned"
        )
        let action: CacheRequest.Action
        if let size, dryRun {
            action = .forecast(to: try CheckedValue.size(size, of: "--to"))
        } else if let size {
            action = .shrink(to: try CheckedValue.size(size, of: "--to"), includesPinned: pinned)
        } else {
            action = .evict(sources: try SourceList.checked(sources, of: "evict"), includesPinned: pinned)
        }
        return .cache(
            try CacheRequest(
                action,
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                network: network.text.options(),
                isJSON: json
            )
        )
    }
}

/// `reprise cache clear`.
struct ClearArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Drops all that is kept and not being played; asks first.",
        discussion: """
            What is pinned is left unless --pinned is given. Where there is no terminal to ask on, --yes is needed. \
            With --json one object: removed, bytes, pinned, inUse.
            """
    )

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Also what is pinned.")
    var pinned = false

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var folder: FolderArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        .cache(
            try CacheRequest(
                .clear(isConfirmed: yes, includesPinned: pinned),
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                isJSON: json
            )
        )
    }
}
