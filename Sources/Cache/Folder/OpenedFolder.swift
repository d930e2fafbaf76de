import Glibc
import Media
import System

/// An open cache folder: its objects, its lock and its index. Used by the committing thread only.
final class OpenedFolder {
    let objects: ObjectFolder
    let lock: FolderLock
    let index: CacheIndex
    /// The index that was found unusable on opening and renamed, if any.
    let indexSetAside: IndexSetAside?
    /// Distinguishes the open index from one that another process created later.
    private let indexNumber: ino_t?
    private let root: CInt
    private let path: String

    /// Opens the folder at `path`, and creates what is missing, with the permissions 0700 and 0600.
    ///
    /// `path` itself may contain symlinks, which the user is trusted with; nothing within the folder may be
    /// one. An index that is damaged, or of an earlier format, is set aside, and an empty one takes its
    /// place.
    init(path: String, files: any FileLayer, protection: Protection) throws {
        try Self.makeFolders(path)
        guard let resolved = realpath(path, nil) else { throw SystemError("find the folder") }
        defer { free(resolved) }
        let root = try check("open the folder", open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        do {
            try FolderAccess.restrict(root)
            objects = try ObjectFolder(in: root, files: files)
            let lock = try FolderLock(in: root)
            let indexPath = String(cString: resolved) + "/" + Self.indexName
            (index, indexSetAside) = try lock.withLock {
                try Self.openIndex(at: indexPath, in: root, protection: protection)
            }
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

    /// `true` if the open index and `objects/` are still those in the folder.
    ///
    /// `false` after the folder was removed, or another process set a damaged index aside: claims in the old
    /// index would be lost.
    var isCurrent: Bool {
        var status = stat()
        guard stat(path + "/" + Self.indexName, &status) == 0, status.st_ino == indexNumber else {
            return false
        }
        return !objects.isRemoved
    }

    /// The size of the write-ahead log of the index in bytes; 0 if there is none.
    var logSize: Int64 {
        var status = stat()
        let isThere = fstatat(root, Self.indexName + "-wal", &status, AT_SYMLINK_NOFOLLOW) == 0
        return isThere ? Int64(status.st_size) : 0
    }

    /// Renames the damaged index, unless another process already did. The lock must be held.
    func setIndexAside() throws -> IndexSetAside? {
        guard Self.indexNumber(in: root) == indexNumber else { return nil }
        return IndexSetAside(name: try Self.setIndexAside(in: root), cause: "its index was damaged")
    }

    /// Withdraws the claims of an entry if its file was unlinked. Returns `true` if so. The lock must be
    /// held.
    func withdrawLost(_ entry: EntryID, _ file: ObjectFile) throws -> Bool {
        guard try file.isUnlinked() else { return false }
        if try index.entries.contains(entry) {
            try index.transaction { try index.entries.remove(entry) }
        }
        return true
    }

    static let indexName = "index.sqlite"
    /// The number of damaged indexes to keep: more would only take disk space.
    private static let mostSetAside = 3

    private static func openIndex(
        at path: String,
        in root: CInt,
        protection: Protection
    ) throws -> (CacheIndex, setAside: IndexSetAside?) {
        let cause: SafeText
        do {
            try makeIndexFile(in: root)
            return (try CacheIndex(path: path, protection: protection), nil)
        } catch let error as IndexError where error.isDamage {
            cause = "its index was damaged"
        } catch IndexFormatError.older(let format) {
            cause = SafeText("\(IndexFormatError.older(format))")
        }
        let setAside = IndexSetAside(name: try setIndexAside(in: root), cause: cause)
        try makeIndexFile(in: root)
        return (try CacheIndex(path: path, protection: protection), setAside)
    }

    /// Creates the index's file before SQLite does, which would make it readable for other users.
    ///
    /// An existing file is never opened here: closing it would release every lock that SQLite holds on it in
    /// this process (fcntl(2), sqlite.org/howtocorrupt.html §2.2).
    private static func makeIndexFile(in root: CInt) throws {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let made = openat(root, indexName, flags, 0o600)
        if made < 0 {
            guard errno == EEXIST else { throw SystemError("make the index") }
            return try checkIndexFiles(in: root)
        }
        close(made)
        // A log that is left is from a removed index.
        for suffix in ["-wal", "-shm"] { _ = unlinkat(root, indexName + suffix, 0) }
    }

    /// Checks owner and permissions of the index and its log without opening them, for the reason above.
    static func checkIndexFiles(in root: CInt) throws {
        for suffix in ["", "-wal", "-shm"] {
            var status = stat()
            guard fstatat(root, indexName + suffix, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                if errno == ENOENT, !suffix.isEmpty { continue }
                throw SystemError("look at the index")
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SystemError("open the index", number: EINVAL)
            }
            guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: indexName + suffix) }
            if status.st_mode & 0o077 != 0 { _ = fchmodat(root, indexName + suffix, 0o600, 0) }
        }
    }

    private static func setIndexAside(in root: CInt) throws -> String {
        let names = (1...).lazy.map { "\(indexName).damaged-\($0)" }
        guard let name = names.prefix(10_000).first(where: { !exists($0, in: root) }) else {
            throw SystemError("set the damaged index aside", number: EEXIST)
        }
        try check("set the damaged index aside", renameat(root, indexName, root, name))
        _ = renameat(root, indexName + "-wal", root, name + "-wal")
        _ = unlinkat(root, indexName + "-shm", 0)
        if let number = Int(name.dropFirst(indexName.count + 9)), number > mostSetAside {
            let old = "\(indexName).damaged-\(number - mostSetAside)"
            // The file is emptied rather than removed, so that its number is not used again.
            for suffix in ["", "-wal"] { truncate(old + suffix, in: root) }
        }
        return name
    }

    private static func exists(_ name: String, in root: CInt) -> Bool {
        var status = stat()
        return fstatat(root, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    private static func truncate(_ name: String, in root: CInt) {
        let descriptor = openat(root, name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
    }

    private static func indexNumber(in root: CInt) -> ino_t? {
        var status = stat()
        return fstatat(root, indexName, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : nil
    }

    /// Creates the folder and its parents; existing ones keep their permissions.
    private static func makeFolders(_ path: String) throws {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError("make the folder")
        }
        try makeFolders(String(path[..<slash]))
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError("make the folder") }
    }
}

/// An index that could not be used and was renamed.
struct IndexSetAside {
    /// Its file's new name.
    let name: String
    /// The reason why it could not be used, as a clause.
    let cause: SafeText
}
