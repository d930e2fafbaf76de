import Glibc
import System

/// An index that is open for questions only. Used by the looking thread only.
final class IndexReading {
    let index: CacheIndex
    private let path: String
    /// Tells the index this was opened with from one that somebody made later.
    private let number: ino_t

    /// Opens the index of the folder at `folder`; makes nothing. Throws when there is none that can be read, or
    /// when something of it is not the user's own: closing it could remove another's log.
    init(path folder: String, protection: Protection) throws {
        guard let resolved = realpath(folder, nil) else { throw SystemError("find the folder") }
        defer { free(resolved) }
        let root = try check("open the folder", open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        defer { close(root) }
        try ForeignOwnerError.check(root, name: "the folder", permissions: 0o777)
        try OpenedFolder.checkIndexFiles(in: root)
        let path = String(cString: resolved) + "/" + OpenedFolder.indexName
        guard let number = Self.number(at: path) else { throw SystemError("find the index") }
        index = try CacheIndex(readingAt: path, protection: protection)
        self.path = path
        self.number = number
    }

    /// Whether this is still the index in the folder; see `OpenedFolder.isCurrent`.
    var isCurrent: Bool { Self.number(at: path) == number }

    /// Whether there is anything at `path`.
    static func isFolder(_ path: String) -> Bool {
        access(path, F_OK) == 0 || errno != ENOENT
    }

    private static func number(at path: String) -> ino_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_ino : nil
    }
}
