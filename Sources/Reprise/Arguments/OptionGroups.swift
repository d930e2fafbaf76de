import ArgumentParser
import Cache
import Desktop
import HTTP
import Media
import Segments
import System

/// The options for the cache's folder, the identity of its entries and their encryption.
struct CacheLocationOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The folder of the cache. (default: $XDG_CACHE_HOME/reprise)",
            valueName: "folder"
        ),
        completion: .directory,
        transform: { try OptionValue.text($0, "name a folder") }
    )
    var cacheDir: String?

    @Option(
        name: .customLong("cache-secret"),
        help: ArgumentHelp(
            "Encrypt the cache with the secret in a file that reprise cache keygen made.",
            valueName: "file"
        ),
        completion: .file(),
        transform: { try CacheSecret(file: OptionValue.text($0, "name a file")) }
    )
    var secret: CacheSecret?

    @Option(
        name: .customLong("cache-identity"),
        help: ArgumentHelp(
            "'host=cdn.example strip=token,expires': query parameters that do not identify the music. Repeatable.",
            valueName: "rule"
        ),
        transform: { try CacheIdentity.Rule(parsing: $0) }
    )
    var identityRules: [CacheIdentity.Rule] = []

    static let settings = [
        Setting("cache", "--cache-dir"), Setting("cache", "--cache-secret"),
        Setting("cache", "--cache-identity", .list),
    ]

    /// The folder of the option, or else that of the account; `nil` if the account has no home.
    var folder: String? { cacheDir ?? BasePaths.path(of: .cache) }
}

/// The options that limit what the cache holds.
struct CacheBoundsOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("The most that the cache may hold, as 500M. (default: 10GB)", valueName: "size"),
        transform: { try OptionValue.size($0) }
    )
    var cacheSize: Int64?

    @Option(
        help: ArgumentHelp(
            "Delete tracks that were not played for this many days. (default: never)",
            valueName: "days"
        ),
        transform: { try OptionValue.number($0, in: 1...36_500, "use a number of days, from 1 on") }
    )
    var cacheAge: Int?

    @Option(
        help: ArgumentHelp("How much of the disk to leave free, as 500M. (default: 1GB)", valueName: "size"),
        transform: { try OptionValue.size($0) }
    )
    var minFree: Int64?

    static let settings = [
        Setting("cache", "--cache-size"), Setting("cache", "--cache-age"), Setting("cache", "--min-free"),
    ]
}

/// The options for the data sent to servers, and for trust in them.
struct NetworkOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "'Name: value' to send to the servers named as SOURCE, or @FILE with one per line. Repeatable.",
            valueName: "field"
        ),
        transform: { HeaderArgument($0) }
    )
    var headerArguments: [HeaderArgument] = []

    @Option(
        help: ArgumentHelp(
            "The name to give to servers. (default: reprise/\(Invocation.version))",
            valueName: "text"
        ),
        transform: {
            try OptionValue.accepted(
                $0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? nil : $0,
                "use one line of text"
            )
        }
    )
    var userAgent: String?

    @Option(
        help: ArgumentHelp(
            "Trust the certificates in a PEM file instead of the system's. (default: the system's)",
            valueName: "file"
        ),
        completion: .file(),
        transform: { path in
            // A missing file is refused here: otherwise the requests to every server would fail, much later.
            try TextFile.check(try OptionValue.text(path, "name a file"))
            return path
        }
    )
    var cacert: String?

    @Option(
        help: ArgumentHelp(
            "Of several qualities of an HLS stream, take the best (high) or the smallest (low). (default: high)",
            valueName: "quality"
        ),
        completion: .list(StreamQuality.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(StreamQuality(rawValue: $0), "use high or low") }
    )
    var hlsQuality: StreamQuality?

    static let settings = [
        Setting("network", "--header", .list), Setting("network", "--user-agent"),
        Setting("network", "--cacert"), Setting("network", "--hls-quality"),
    ]

    var headers: [RequestHeader] { headerArguments.flatMap(\.fields) }

    func validate() throws {
        if let refusal = headerArguments.lazy.compactMap(\.refusal).first { throw refusal }
    }
}

/// The options for the machine's power and for what its network costs.
struct PowerOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "What the machine may not do while music plays: off, sleep or idle. (default: off)",
            discussion: """
                sleep: it does not go to sleep. idle: it does not dim or lock the screen, or go to sleep, because \
                nobody uses it. A lid that is closed lets it sleep all the same. By logind, with a screen or --mpris, \
                and with sound.
                """,
            valueName: "what"
        ),
        completion: .list(PowerService.Settings.Inhibition.allCases.map(\.rawValue)),
        transform: {
            try OptionValue.accepted(PowerService.Settings.Inhibition(rawValue: $0), "use off, sleep or idle")
        }
    )
    var inhibit: PowerService.Settings.Inhibition?

    @Flag(help: "Play on after the machine has slept, if the music was paused for that.")
    var resumeAfterSleep = false

    @Option(
        help: ArgumentHelp(
            "On a metered network, stop downloads, or use it for them. (default: stop)",
            discussion: """
                Concerns downloads, --ahead and --fill, with a screen or --mpris; what the music needs is always \
                read. A metered network may cost money, so it is used for them only if you say so. NetworkManager says \
                which network is metered.
                """,
            valueName: "stop|use"
        ),
        completion: .list(MeteredChoice.allCases.map(\.rawValue)),
        transform: { try OptionValue.accepted(MeteredChoice(rawValue: $0), "use stop or use") }
    )
    var metered: MeteredChoice?

    static let settings = [
        Setting("play", "--inhibit"), Setting("play", "--resume-after-sleep", .flag),
        Setting("network", "--metered"),
    ]

    var settings: PowerService.Settings {
        var settings = PowerService.Settings()
        settings.inhibition = inhibit ?? .off
        settings.resumesAfterSleep = resumeAfterSleep
        return settings
    }
}

/// What downloads do while the network is metered.
enum MeteredChoice: String, Sendable, CaseIterable {
    case stop
    case use
}

extension HTTPConfiguration {
    /// The configuration of requests; secrets are sent to the origins of `sources` only. With `asks`, the
    /// user can be asked for log-ins.
    init(_ options: NetworkOptions?, sources: [String], asks: Bool = false, _ clock: any MonotonicClock) {
        self.init()
        self.clock = clock
        headers = options?.headers ?? []
        secretOrigins = SecretOrigins(sources.compactMap { WebURL($0) })
        netrcFile = BasePaths.expandingHome("~/.netrc")
        logins = Logins(keptIn: BasePaths.path(of: .configuration).map { $0 + "/netrc" }, asks: asks)
        // The programs curl and openssl read this variable; libcurl does not.
        certificateFile =
            options?.cacert ?? BasePaths.variable("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        hasProxy = Self.namesProxy(BasePaths.variable)
        if let userAgent = options?.userAgent { self.userAgent = userAgent }
    }
}

/// The header fields of one `--header`, or the reason why it is refused.
///
/// A header may be a secret, and ArgumentParser quotes a value that its transformation refuses. So the
/// transformation never fails, and `NetworkOptions.validate` throws the refusal, which quotes nothing.
struct HeaderArgument: Sendable {
    private(set) var fields: [RequestHeader] = []
    private(set) var refusal: UsageError?

    /// Parses `Name: value`, or reads the file of `@FILE`: once only, since it may be a pipe.
    init(_ argument: String) {
        guard argument.first == "@" else {
            fields = RequestHeader(parsing: argument).map { [$0] } ?? []
            guard fields.isEmpty else { return }
            refusal = UsageError(
                "--header takes 'Name: value' or @FILE, and no field like Range that the player sets itself"
            )
            return
        }
        let path = String(argument.dropFirst())
        do {
            try UsageError.check(!path.isEmpty, "--header @ needs the name of a file")
            fields = try Self.fields(ofFile: try TextFile.read(path), at: path)
        } catch {
            refusal = error as? UsageError ?? UsageError("--header @\(error)")
        }
    }

    /// Parses one field per line; empty lines are skipped.
    static func fields(ofFile text: String, at path: String) throws(UsageError) -> [RequestHeader] {
        var fields: [RequestHeader] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
            guard let field = RequestHeader(parsing: line) else {
                throw UsageError("--header @\(path): line \(index + 1) is not 'Name: value'")
            }
            fields.append(field)
        }
        return fields
    }
}
