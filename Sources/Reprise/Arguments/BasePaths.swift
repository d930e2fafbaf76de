import Glibc
import Media
import System

/// The folders of the XDG base directory specification, and other facts about the process.
enum BasePaths {
    /// A folder of the program; the raw value is the default path of its parent in the home folder.
    enum Folder: String {
        case cache = ".cache"
        case configuration = ".config"
        case state = ".local/state"

        fileprivate var variable: String {
            switch self {
            case .cache: "XDG_CACHE_HOME"
            case .configuration: "XDG_CONFIG_HOME"
            case .state: "XDG_STATE_HOME"
            }
        }
    }

    /// The path of `reprise` in the folder that the variable of `folder` names, or else in the default one in
    /// the home folder; `nil` if there is no home.
    ///
    /// An empty variable counts as unset, and a relative path is ignored, both as the specification requires.
    /// The same applies to `HOME`; then the home of the account is used.
    static func path(
        of folder: Folder,
        environment: (String) -> String? = variable,
        accountHome: () -> String? = accountHome
    ) -> String? {
        if let base = absolute(environment(folder.variable)) { return base + "/reprise" }
        guard let home = absolute(environment("HOME")) ?? absolute(accountHome()) else { return nil }
        return home + "/" + folder.rawValue + "/reprise"
    }

    /// The folder for sockets of the user; `nil` if the session has none.
    static var runtimeFolder: String? { absolute(variable("XDG_RUNTIME_DIR")) }

    static func accountHome() -> String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir.map { FileName.text($0) } }
    }

    /// The absolute path of the working folder; `/` if it was removed.
    static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return FileName.text(path)
    }

    /// `path` with a leading `~/` replaced by the home folder, as a shell would do: the player's own commands
    /// are not expanded by a shell. Unchanged if there is no absolute home.
    static func expandingHome(_ path: String, home: String? = variable("HOME")) -> String {
        guard path.hasPrefix("~/"), let home = absolute(home) else { return path }
        return home + path.dropFirst()
    }

    /// `path` without the slashes at its end, if it is absolute.
    private static func absolute(_ path: String?) -> String? {
        guard var path, path.hasPrefix("/") else { return nil }
        while path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// One variable of the environment.
    static func variable(_ name: String) -> String? { getenv(name).map { FileName.text($0) } }
}
