import Cache
import Media

/// What is typed of where music is kept and how it is found again, not yet checked.
struct FolderText: Equatable {
    var cacheDir: String?
    var cacheSecret: String?
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

/// What is typed of how much is kept, not yet checked.
struct BoundsText: Equatable {
    var cacheSize: String?
    var cacheAge: String?
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
