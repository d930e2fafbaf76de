import ArgumentParser

/// `reprise cache export`.
struct ExportArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a piece of music out, byte for byte as its server sent it.",
        discussion: """
            A piece that is not whole is not written: its gaps are named, and the exit code is 3. With --partial \
            it is written all the same, with zeros in place of the gaps. FILE appears whole or not at all.
            """
    )

    @Argument(help: "The URL of the music, as it is played.")
    var source: String?

    @Argument(help: "Where to; - is standard output.", completion: .file())
    var file: String?

    @Flag(help: "Also with gaps.")
    var partial = false

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var folder: FolderArguments

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        guard let source, let file, !file.isEmpty else {
            throw UsageError("cache export takes a URL and a file, or - for standard output")
        }
        let order = CacheRequest.ExportOrder(
            source: source,
            path: file == "-" ? nil : file,
            takesPart: partial,
            replaces: force
        )
        return .cache(
            try CacheRequest(
                .export(order),
                keeping: folder.text.options(defaultCacheFolder: defaultCacheFolder),
                isJSON: false
            )
        )
    }
}
