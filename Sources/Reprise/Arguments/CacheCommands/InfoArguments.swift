import ArgumentParser

/// `reprise cache info`.
struct InfoArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Tells what is known of one piece: its ranges, validators, duration and pin.",
        discussion: """
            With --json one object: the fields of list, and ranges (pairs of offsets, the second not included), \
            etag, lastModified, seekable. Exit code 2 when nothing of it is kept.
            """
    )

    @Argument(help: "The URL of the music, as it is played.")
    var source: String?

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup var folder: FolderArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        let source = try CheckedValue.value(source, "cache info takes one URL")
        return .cache(
            try CacheRequest(
                .info(source: source),
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                isJSON: json
            )
        )
    }
}
