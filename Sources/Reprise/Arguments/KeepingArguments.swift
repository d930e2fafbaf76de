import ArgumentParser

/// The options that say where music is kept, and how it is found again.
struct FolderArguments: ParsableArguments {
    @Option(help: "Where fetched music is kept.", completion: .directory)
    var cacheDir: String?

    @Option(
        help: "The secret that what is kept is sealed with: a file made by reprise cache keygen.",
        completion: .file()
    )
    var cacheSecret: String?

    @Option(
        name: .customLong("cache-identity"),
        help: "'host=cdn.example strip=token,expires': parts of a host's URLs that do not name the music."
    )
    var cacheIdentities: [String] = []

    /// What was typed.
    var text: FolderText {
        FolderText(cacheDir: cacheDir, cacheSecret: cacheSecret, cacheIdentities: cacheIdentities)
    }
}

/// The options that say how much is kept.
struct BoundsArguments: ParsableArguments {
    @Option(help: "How much is kept, as 500M or 10GB (default).")
    var cacheSize: String?

    @Option(help: "Days after which what was not played is dropped.")
    var cacheAge: String?

    @Option(help: "How much of the disk is left free, as 500M or 1GB (default).")
    var minFree: String?

    /// What was typed.
    var text: BoundsText { BoundsText(cacheSize: cacheSize, cacheAge: cacheAge, minFree: minFree) }
}
