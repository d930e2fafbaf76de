import Glibc

// What the process was started with.
extension BasePaths {
    /// The absolute path of the working folder; `/` where it was removed.
    static var workingFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// `path` with a leading `~/` replaced by `HOME`.
    static func expandingHome(_ path: String) -> String {
        expandingHome(path, home: getenv("HOME").map { String(cString: $0) })
    }

    /// One variable of the environment.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The whole environment, which takes a while to copy; of a name that stands twice, the first counts, as for `getenv`.
    static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            if let name = parts.first.map(String.init), variables[name] == nil {
                variables[name] = parts.count > 1 ? String(parts[1]) : ""
            }
            next += 1
        }
        return variables
    }
}
