import Glibc
import System

/// An open cache folder: its objects, its lock and its index. Used by the committing thread only.
final class OpenedFolder {
    let objects: ObjectFolder
    let lock: FolderLock
    let index: CacheIndex
    /// The new name of the index that was found damaged on opening and renamed, if any.
    let indexSetAside: String?
    private let root: FolderRoot
    private let indexNumber: ino_t?

    /// Opens the folder, and creates what is missing, with the permissions 0700 and 0600.
    ///
    /// A damaged index is set aside, and an empty one takes its place. An index of another format throws
    /// `IndexFormatError`; with `clears` it is removed, and an empty one takes its place.
    init(_ settings: CacheSettings, _ protection: Protection, clears: Bool) throws {
        try Self.makeFolders(settings.path)
        let root = try FolderRoot(path: settings.path)
        try root.restrict()
        objects = try ObjectFolder(in: root.descriptor, files: settings.files)
        let lock = try FolderLock(in: root.descriptor)
        (index, indexSetAside) = try lock.withLock { try Self.openIndex(in: root, protection, clears) }
        self.lock = lock
        indexNumber = root.indexNumber
        self.root = root
    }

    /// `true` if the open index and `objects/` are still those in the folder.
    ///
    /// `false` after the folder was removed, or another process set a damaged index aside: claims in the old
    /// index would be lost.
    var isCurrent: Bool { isIndexCurrent && !objects.isRemoved }

    private var isIndexCurrent: Bool { indexNumber != nil && root.indexNumber == indexNumber }

    /// The size of the index's write-ahead log in bytes; 0 without a log.
    var logSize: Int64 { root.logSize }

    /// Renames the damaged index, unless another process already did, and returns its new name. The lock must
    /// be held.
    func setIndexAside() throws -> String? { isIndexCurrent ? try Self.setIndexAside(in: root) : nil }

    /// Returns `true` if `file`, which a store has open, is no longer the file of its entry: it was removed
    /// or became damaged, so nothing may be written to it. Removes the entry, unless it has another file by
    /// now. The lock must be held.
    func removeIfLost(_ file: ObjectFile) throws -> Bool {
        switch objects.condition(of: file.entry) {
        case .sound(let number): return try file.status().st_ino != number
        // The file may be intact, so its claims stay.
        case .unknown(let number): throw SystemError("look for a file of the cache", number: number)
        case .missing, .damaged:
            if try index.entries.row(file.entry) != nil {
                try index.transaction { try index.entries.remove(file.entry) }
            }
            return true
        }
    }

    private static func openIndex(
        in root: FolderRoot,
        _ protection: Protection,
        _ clears: Bool
    ) throws -> (CacheIndex, setAside: String?) {
        func open() throws -> CacheIndex {
            try makeIndexFile(in: root)
            return try CacheIndex(path: root.indexPath, protection: protection)
        }
        do {
            return (try open(), nil)
        } catch let error as SQLiteError where error.isDamage {
            let name = try setIndexAside(in: root)
            return (try open(), name)
        } catch is IndexFormatError where clears {
            for suffix in ["-wal", "-shm", ""] {
                _ = unlinkat(root.descriptor, FolderRoot.indexName + suffix, 0)
            }
            return (try open(), nil)
        }
    }

    /// Creates the index's file before SQLite does, which would make it readable for other users. Only checks
    /// an existing one.
    private static func makeIndexFile(in root: FolderRoot) throws {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let made = openat(root.descriptor, FolderRoot.indexName, flags, 0o600)
        if made < 0 {
            guard errno == EEXIST else { throw SystemError("make the index") }
            return try root.checkIndexFiles()
        }
        close(made)
        // A leftover log belongs to an index that was removed.
        for suffix in ["-wal", "-shm"] { _ = unlinkat(root.descriptor, FolderRoot.indexName + suffix, 0) }
    }

    /// The number of damaged indexes to keep: more would only take disk space.
    private static let mostSetAside = 3

    private static func setIndexAside(in root: FolderRoot) throws -> String {
        let folder = root.descriptor
        let index = FolderRoot.indexName
        guard let number = (1...10_000).first(where: { root.status(of: "\(index).damaged-\($0)") == nil })
        else {
            throw SystemError("set the damaged index aside", number: EEXIST)
        }
        let name = "\(index).damaged-\(number)"
        try check("set the damaged index aside", renameat(folder, index, folder, name))
        _ = renameat(folder, index + "-wal", folder, name + "-wal")
        _ = unlinkat(folder, index + "-shm", 0)
        // An old one is emptied rather than removed, so that its number is not used again.
        for suffix in ["", "-wal"] where number > mostSetAside {
            let old = "\(index).damaged-\(number - mostSetAside)" + suffix
            let descriptor = openat(folder, old, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC)
            if descriptor >= 0 { close(descriptor) }
        }
        return name
    }

    /// Creates the folder and its parents; existing ones keep their permissions.
    private static func makeFolders(_ path: String) throws {
        if mkdir(FileName.cString(path), 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError("make the folder")
        }
        try makeFolders(String(path[..<slash]))
        if mkdir(FileName.cString(path), 0o700) != 0, errno != EEXIST { throw SystemError("make the folder") }
    }
}
