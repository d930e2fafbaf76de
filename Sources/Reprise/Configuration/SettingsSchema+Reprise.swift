import Settings

extension SettingsSchema {
    /// What may stand in `config.toml`. How a single session begins (`--start`, `--seek`, `--offline`, …) is
    /// no setting, nor is what only tests need.
    static let reprise = SettingsSchema(
        settings: settings,
        openTables: [ScreenSettings.keyTable, ScreenSettings.colorTable]
    )

    private static let settings = [
        Setting("play", "sink", "--sink", .value, or: "pulse"),
        Setting("play", "volume", "--volume", .value, or: "100"),
        Setting("play", "shuffle", "--shuffle", .flag, or: "false"),
        Setting("play", "repeat", "--repeat", .value, or: "off"),
        Setting("play", "gain", "--gain", .value, or: "off"),
        Setting("network", "read-ahead", "--read-ahead", .value, or: "60"),
        Setting("network", "fill", "--fill", .flag, or: "false"),
        Setting("network", "journal", "--journal", .value, or: ""),
        Setting("network", "header", "--header", .list, or: ""),
        Setting("network", "user-agent", "--user-agent", .value, or: "reprise/\(Invocation.version)"),
        Setting("network", "cacert", "--cacert", .value, or: "the system's"),
        Setting("cache", "dir", "--cache-dir", .value, or: "the cache folder of the account"),
        Setting("cache", "size", "--cache-size", .value, or: "10GB"),
        Setting("cache", "age", "--cache-age", .value, or: "any"),
        Setting("cache", "min-free", "--min-free", .value, or: "1GB"),
        Setting("cache", "identity", "--cache-identity", .list, or: ""),
        Setting("cache", "secret", "--cache-secret", .value, or: ""),
        Setting("cache", "off", "--no-cache", .flag, or: "false"),
        Setting("screen", "no-mouse", "--no-mouse", .flag, or: "false"),
    ]

    /// The tables whose settings a command takes; nil for one that takes none.
    static func settingsTaken(by arguments: [String]) -> (Setting) -> Bool {
        guard arguments.first == "cache" else { return { _ in true } }
        switch arguments.dropFirst().first(where: { CacheCommands.names.contains($0) }) {
        case "keygen", nil: return { _ in false }
        case "pin", "unpin", "fetch":
            let options: Set = [
                "--header", "--user-agent", "--cacert", "--cache-dir", "--cache-size", "--cache-age",
                "--min-free", "--cache-identity", "--cache-secret",
            ]
            return { options.contains($0.option) }
        default:
            let options: Set = ["--cache-dir", "--cache-identity", "--cache-secret"]
            return { options.contains($0.option) }
        }
    }
}
