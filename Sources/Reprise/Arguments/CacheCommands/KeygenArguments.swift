import ArgumentParser

/// `reprise cache keygen`.
struct KeygenArguments: CacheSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "keygen",
        abstract: "Makes a new secret for --cache-secret, in a file that only its owner can read.",
        discussion: "A file that is there is never overwritten. Whoever loses the file loses what it seals."
    )

    @Argument(help: "The file to make.", completion: .file())
    var file: String?

    func invocation(defaultCacheFolder: () -> String?) throws(UsageError) -> Invocation {
        guard let file, !file.isEmpty else { throw UsageError("cache keygen takes the file to make") }
        return .makeSecret(path: file)
    }
}
