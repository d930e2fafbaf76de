import ArgumentParser
import Cache
import Media

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

    /// The options, typed and checked. Reads the file of `--cache-secret`.
    func options(defaultCacheFolder: () -> String?) throws(UsageError) -> KeepingOptions {
        var options = KeepingOptions()
        if let cacheDir {
            options.folder = try CheckedValue.text(cacheDir, "--cache-dir needs a folder")
            options.isFolderNamed = true
        } else {
            options.folder = defaultCacheFolder()
        }
        options.secret = try cacheSecret.map { file throws(UsageError) in
            try Self.secret(in: try CheckedValue.text(file, "--cache-secret needs a file"))
        }
        for text in cacheIdentities { options.identity.rules.append(try Self.rule(text)) }
        return options
    }

    private static func secret(in file: String) throws(UsageError) -> CacheSecret {
        do {
            return try CacheSecret(file: file)
        } catch {
            throw UsageError("--cache-secret: \(error)")
        }
    }

    private static func rule(_ text: String) throws(UsageError) -> CacheIdentity.Rule {
        do {
            return try CacheIdentity.Rule(parsing: text)
        } catch {
            throw UsageError("--cache-identity takes 'host=NAME strip=PARAMETER,…': \(error)")
        }
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

    /// Puts the bounds into `options`.
    func apply(to options: inout KeepingOptions) throws(UsageError) {
        if let cacheSize { options.size = try CheckedValue.size(cacheSize, of: "--cache-size") }
        if let minFree { options.minimumFree = try CheckedValue.size(minFree, of: "--min-free") }
        if let cacheAge {
            let days = try CheckedValue.number(
                cacheAge,
                in: 1...36_500,
                "--cache-age takes a number of days, from 1"
            )
            options.age = .seconds(days * 86_400)
        }
    }
}
