import Glibc

/// Where files belong by the XDG base directory specification.
enum BasePaths {
    /// The cache folder: `$XDG_CACHE_HOME/reprise`, else `.cache/reprise` at home.
    ///
    /// An empty variable counts as unset, and a relative path is ignored, both by the specification.
    /// `HOME` likewise; then the account's own entry is asked. Nil when there is no home at all.
    static func cacheFolder(
        environment: (String) -> String?,
        accountHome: () -> String?
    ) -> String? {
        folder("XDG_CACHE_HOME", or: ".cache", environment: environment, accountHome: accountHome)
    }

    /// The program's folder below that of `variable`, else below `standard` at home, by the same rules.
    static func folder(
        _ variable: String,
        or standard: String,
        environment: (String) -> String?,
        accountHome: () -> String?
    ) -> String? {
        if let base = absolute(environment(variable)) { return base + "/reprise" }
        guard let home = absolute(environment("HOME")) ?? absolute(accountHome()) else { return nil }
        return home + "/" + standard + "/reprise"
    }

    /// The folder of the configuration: `$XDG_CONFIG_HOME/reprise`, else `.config/reprise` at home, by the same
    /// rules.
    static func configurationFolder(
        environment: (String) -> String?,
        accountHome: () -> String?
    ) -> String? {
        folder("XDG_CONFIG_HOME", or: ".config", environment: environment, accountHome: accountHome)
    }

    /// The configuration folder of this process.
    static func configurationFolder() -> String? {
        configurationFolder(environment: variable, accountHome: accountHome)
    }

    /// The cache folder of this process.
    static func cacheFolder() -> String? {
        cacheFolder(environment: variable, accountHome: accountHome)
    }

    /// The state folder of this process.
    static func stateFolder() -> StateFolder? {
        StateFolder(environment: variable, accountHome: accountHome)
    }

    private static func accountHome() -> String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } }
    }

    /// `path` with a leading `~/` replaced by the home folder, as shells do it; the player's own commands
    /// pass no shell. Unchanged where there is no absolute `home`.
    static func expandingHome(_ path: String, home: String?) -> String {
        guard path.hasPrefix("~/"), let home = absolute(home) else { return path }
        return home + path.dropFirst()
    }

    /// `path` without the slashes at its end, when it is an absolute one.
    private static func absolute(_ path: String?) -> String? {
        guard var path, path.hasPrefix("/") else { return nil }
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }
}
