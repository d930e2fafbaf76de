import ArgumentParser

/// `reprise cache list`.
struct ListArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract:
            "Lists what is kept: size, stored share with its ranges, last played, age, pins (*), music.",
        discussion: """
            Each WORD must occur in the source, title or artist, whatever its case. \
            With --json each entry is an object: source, title, artist, duration (seconds), type, size, stored \
            (bytes), lastPlayed (seconds since 1970), created, allocated (bytes on the disk), complete, pinned.
            """
    )

    @Argument(help: "Words that must occur.")
    var words: [String] = []

    @Option(
        help:
            "played (default: the last first), size, stored (the most first), age (the oldest first), source.",
        completion: .list(EntrySelection.Order.allCases.map(\.rawValue))
    )
    var sort: String?

    @Flag(help: "The other way round.")
    var reverse = false

    @Flag(help: "Only what is pinned.")
    var pinned = false

    @Flag(help: "Only what is kept whole.")
    var complete = false

    @Flag(help: "Only what is kept in part.")
    var partial = false

    @Flag(help: "One JSON object per entry.")
    var json = false

    @OptionGroup var folder: FolderArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        try CheckedValue.check(!(complete && partial), "--complete and --partial exclude each other")
        var selection = EntrySelection(words: words, isReversed: reverse, isPinnedOnly: pinned)
        if complete || partial { selection.completeness = complete ? .whole : .part }
        if let sort {
            selection.order = try CheckedValue.value(
                EntrySelection.Order(rawValue: sort),
                "--sort takes \(EntrySelection.Order.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return .cache(
            try CacheRequest(
                .list(selection),
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                isJSON: json
            )
        )
    }
}
