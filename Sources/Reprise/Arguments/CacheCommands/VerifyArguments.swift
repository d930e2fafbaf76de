import ArgumentParser

/// `reprise cache verify`.
struct VerifyArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every byte that is kept, and drops what is damaged, so that it is fetched again.",
        discussion: """
            Exit code 3 when something was damaged. With --json each damaged entry is an object: source, damaged \
            (ranges of bytes, the second number not included); a last object sums up: entries, bytes, damagedEntries, damagedBytes, undroppedBytes, strayFiles, reclaimedBytes, indexLost.
            """
    )

    @Flag(help: "One JSON object per damaged entry, and one that sums up.")
    var json = false

    @OptionGroup var folder: FolderArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        .cache(
            try CacheRequest(
                .verify,
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                isJSON: json
            )
        )
    }
}
