import Glibc
import Media

/// A cache folder that was made ready: its objects, its lock and its index.
///
/// Used by the committing thread only.
final class OpenedFolder {
    let objects: ObjectFolder
    let lock: FolderLock
    let index: CacheIndex
    /// Tells the index this was opened with from one that somebody made later.
    private let indexNumber: ino_t?
    private let root: CInt
    private let path: String

    /// Makes `path` and what belongs in it where it is missing, 0700 and 0600.
    ///
    /// `path` itself may lead through symlinks, which are its owner's business; nothing within it may be
    /// one. An index that is damaged is set aside, and an empty one takes its place.
    init(path: String, files: any FileLayer) throws {
        try Self.makeFolders(path)
        guard let resolved = realpath(path, nil) else { throw SystemError("find the folder") }
        defer { free(resolved) }
        let root = try check("open the folder", open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        do {
            objects = try ObjectFolder(in: root, files: files)
            let lock = try FolderLock(in: root)
            let indexPath = String(cString: resolved) + "/" + Self.indexName
            index = try lock.withLock { try Self.openIndex(at: indexPath, in: root) }
            self.lock = lock
        } catch {
            close(root)
            throw error
        }
        indexNumber = Self.indexNumber(in: root)
        self.root = root
        self.path = path
    }

    deinit { close(root) }

    /// Whether the index that is open is still the one in the folder.
    ///
    /// Not so after the folder was removed, or another process set a damaged index aside: what would be
    /// claimed in the old one, nobody would ever find.
    var isCurrent: Bool {
        var status = stat()
        return stat(path + "/" + Self.indexName, &status) == 0 && status.st_ino == indexNumber
    }

    /// Sets the index aside as damaged, unless another process already did. The lock must be held.
    func setIndexAside() throws {
        guard Self.indexNumber(in: root) == indexNumber else { return }
        try Self.setIndexAside(in: root)
    }

    private static let indexName = "index.sqlite"

    private static func openIndex(at path: String, in root: CInt) throws -> CacheIndex {
        do {
            try makeIndexFile(in: root)
            return try CacheIndex(path: path)
        } catch let error as IndexError where error.isDamage {
            try setIndexAside(in: root)
            try makeIndexFile(in: root)
            return try CacheIndex(path: path)
        }
    }

    /// Makes the index's file before SQLite does, which would let others read it.
    ///
    /// A file that is there is never opened here: closing it again would give up every lock that
    /// SQLite holds on it in this process (fcntl(2), sqlite.org/howtocorrupt.html §2.2).
    private static func makeIndexFile(in root: CInt) throws {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let made = openat(root, indexName, flags, 0o600)
        if made < 0 {
            guard errno == EEXIST else { throw SystemError("make the index") }
            return
        }
        close(made)
        // The log of an index that is gone says nothing about a new one.
        for suffix in ["-wal", "-shm"] { _ = unlinkat(root, indexName + suffix, 0) }
    }

    private static func setIndexAside(in root: CInt) throws {
        try check("set the damaged index aside", renameat(root, indexName, root, indexName + ".damaged"))
        _ = renameat(root, indexName + "-wal", root, indexName + ".damaged-wal")
        _ = unlinkat(root, indexName + "-shm", 0)
    }

    private static func indexNumber(in root: CInt) -> ino_t? {
        var status = stat()
        return fstatat(root, indexName, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : nil
    }

    /// Makes the folder and those above it; what is there keeps its permissions.
    private static func makeFolders(_ path: String) throws {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError("make the folder")
        }
        try makeFolders(String(path[..<slash]))
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError("make the folder") }
    }
}
