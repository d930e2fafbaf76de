import ArgumentParser

/// The command line behind `reprise cache`.
struct CacheArguments: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reprise cache",
        abstract: "Shows what is kept of the music, and drops it."
    )

    /// Commands of the contract that are still to come: named, so that they are refused as such.
    static let notBuilt: Set<String> = ["verify", "pin", "unpin", "fetch", "evict", "export", "keygen"]

    @Argument(help: "list, info SOURCE or clear.")
    var words: [String] = []

    @Option(help: "Where fetched music is kept.", completion: .directory)
    var cacheDir: String?

    @Flag(help: "One JSON object per line.")
    var json = false

    @Flag(help: "With clear: do not ask.")
    var yes = false

    /// What is asked for, checked.
    func request(defaultCacheFolder: () -> String?) throws(UsageError) -> CacheRequest {
        let action: CacheRequest.Action
        switch (words.first, words.count) {
        case ("list", 1): action = .list
        case ("clear", 1): action = .clear(isConfirmed: yes)
        case ("info", 2): action = .info(source: words[1])
        case ("info", _): throw UsageError("cache info takes one file or URL")
        case ("list", _), ("clear", _): throw UsageError("cache \(words[0]) takes nothing after it")
        case (nil, _): throw UsageError("cache needs a command: list, info SOURCE or clear")
        case (let other?, _):
            throw UsageError("cache \(other): no such command; there are list, info SOURCE and clear")
        }
        guard !yes || words.first == "clear" else { throw UsageError("--yes goes with cache clear only") }
        guard cacheDir != "", let folder = cacheDir ?? defaultCacheFolder() else {
            throw UsageError("there is no home for a cache: name its folder with --cache-dir")
        }
        return CacheRequest(action: action, folder: folder, isFolderNamed: cacheDir != nil, isJSON: json)
    }
}
