import Glibc
import Media
import System

/// The folder `objects`: one file for each entry, named by the entry's number.
final class ObjectFolder: Sendable {
    let descriptor: CInt
    private let files: any FileLayer

    /// Opens `objects` below `root`; creates it if missing. A symlink in its place is refused.
    init(in root: CInt, files: any FileLayer) throws {
        if mkdirat(root, "objects", 0o700) != 0, errno != EEXIST { throw SystemError("make objects/") }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try check("open objects/", openat(root, "objects", flags))
        do {
            try ForeignOwnerError.check(opened, name: "objects/", permissions: 0o700)
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
        self.files = files
    }

    deinit { close(descriptor) }

    /// The condition of an entry's file.
    enum Condition {
        case missing
        /// A regular file with this inode, which has no second name.
        case sound(ino_t)
        /// A symlink, a file with a second name (a hard link), a folder, or another thing. Writing to it
        /// would change something outside of the cache, or fail.
        case damaged
        /// Unknown, for the reason that this `errno` value states.
        case unknown(CInt)
    }

    /// The condition of an entry's file. It can change unless the folder's lock is held, and then only by
    /// other programs.
    func condition(of entry: EntryID) -> Condition {
        var status = stat()
        guard fstatat(descriptor, entry.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            return errno == ENOENT ? .missing : .unknown(errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG where status.st_nlink <= 1: return .sound(status.st_ino)
        default: return .damaged
        }
    }

    /// `true` if the file of an entry is damaged; see `Condition`.
    func isDamaged(_ entry: EntryID) -> Bool {
        if case .damaged = condition(of: entry) { true } else { false }
    }

    /// Opens the file of an entry; creates an empty one if there is none, or if it is damaged.
    func open(_ entry: EntryID) throws -> ObjectFile {
        if isDamaged(entry) { unlink(entry) }
        return try object(entry, flags: O_CREAT)
    }

    /// The result of locking the file of an entry for its removal.
    enum Removability {
        /// There is no file, or it is damaged.
        case missing
        /// No other store has the file open, and none can open it as long as this `ObjectFile` exists.
        case held(ObjectFile)
        /// Another store has the file open, or may have: without a free descriptor this cannot be checked.
        case inUse
    }

    /// Takes the exclusive lock on the file of an entry without waiting.
    func holdForRemoval(_ entry: EntryID) -> Removability {
        if isDamaged(entry) { return .missing }
        do {
            let file = try object(entry)
            return file.lockExclusive() ? .held(file) : .inUse
        } catch let error as SystemError where error.number == ENOENT {
            return .missing
        } catch {
            return .inUse
        }
    }

    /// `true` if the folder itself was removed.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) != 0 || status.st_nlink == 0
    }

    /// The length of an entry's file and the bytes that it takes on the disk; 0 if there is none.
    func size(_ entry: EntryID) -> (length: Int64, allocated: Int64) {
        var status = stat()
        guard fstatat(descriptor, entry.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return (0, 0) }
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }

    /// The bytes that an entry's file takes on the disk; 0 if there is no file; `nil` during a commit, or if
    /// the size cannot be determined.
    func settledAllocated(_ entry: EntryID) -> Int64? {
        do {
            let file = try object(entry)
            return try file.ifNobodyCommits { try file.size().allocated }
        } catch {
            return (error as? SystemError)?.number == ENOENT ? 0 : nil
        }
    }

    /// Opens the existing file of an entry and locks it as in use; `nil` if there is none, or if it is
    /// damaged.
    func openExisting(_ entry: EntryID) throws -> ObjectFile? {
        if isDamaged(entry) { return nil }
        do {
            let file = try object(entry)
            try file.lockShared()
            return file
        } catch let error as SystemError where error.number == ENOENT {
            return nil
        }
    }

    /// Unlinks the file of an entry; stores that have it open can still read it.
    ///
    /// A folder in its place is removed if it is empty. Otherwise it gets the suffix `.folder`: what is in it
    /// is not the cache's.
    func unlink(_ entry: EntryID) {
        let name = entry.fileName
        guard unlinkat(descriptor, name, 0) != 0, errno == EISDIR else { return }
        if unlinkat(descriptor, name, AT_REMOVEDIR) != 0 {
            _ = renameat(descriptor, name, descriptor, name + ".folder")
        }
    }

    /// Flushes the folder, which makes the names of new files durable.
    func flush() throws {
        try files.flush(descriptor)
    }

    /// A walk through the folder's names.
    func walk() throws -> ObjectWalk {
        try ObjectWalk(folder: descriptor)
    }

    private func object(_ entry: EntryID, flags: CInt = 0) throws -> ObjectFile {
        let flags = flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let opened = try check("open an object", openat(descriptor, entry.fileName, flags, 0o600))
        let file = ObjectFile(descriptor: opened, of: entry, files: files)
        let status = try file.ownStatus()
        guard status.st_nlink <= 1 else { throw SystemError("open an object", number: EMLINK) }
        if status.st_mode & 0o077 != 0 { _ = fchmod(file.descriptor, 0o600) }
        return file
    }
}

/// Lists the entries in `objects`, one page at a time.
final class ObjectWalk: @unchecked Sendable {
    // Unchecked: only used by jobs of the committing thread, which run one after the other.
    private let names: FolderNames

    /// Starts a walk through an open folder, with a descriptor of its own.
    init(folder: CInt) throws { names = try FolderNames(of: folder, called: "objects/") }

    /// The entries of up to `count` further names; `nil` at the end.
    ///
    /// Skips names that are not entry numbers.
    func next(_ count: Int) -> [EntryID]? {
        let page = Array(names.prefix(count))
        return page.isEmpty ? nil : page.compactMap { EntryID(fileName: $0) }
    }
}
