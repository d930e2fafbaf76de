import Glibc
import System

/// The open top folder of a cache. Finds the files in it, and checks their owners and permissions.
final class FolderRoot {
    let descriptor: CInt
    /// The path of the index, with symlinks resolved.
    let indexPath: String
    private let path: String

    static let indexName = "index.sqlite"

    /// `path` itself may contain symlinks, since the user chose it; nothing within the folder may be one.
    init(path: String) throws {
        guard let resolved = realpath(FileName.cString(path), nil) else {
            throw SystemError("find the folder")
        }
        defer { free(resolved) }
        descriptor = try check("open the folder", open(resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        indexPath = FileName.text(resolved) + "/" + Self.indexName
        self.path = path
    }

    deinit { close(descriptor) }

    /// The inode number of the index, which changes if another process replaces the index; `nil` if there is
    /// none.
    var indexNumber: ino_t? {
        var status = stat()
        return stat(FileName.cString(path + "/" + Self.indexName), &status) == 0 ? status.st_ino : nil
    }

    /// The size of the index's write-ahead log in bytes; 0 without a log.
    var logSize: Int64 { status(of: Self.indexName + "-wal").map { Int64($0.st_size) } ?? 0 }

    /// The status of the file `name`; `nil`, with the cause in `errno`, if `fstatat` fails. Does not follow
    /// symlinks.
    func status(of name: String) -> stat? {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Checks that the folder and its index are the user's own: closing another user's index could remove its
    /// log. Leaves the folder's permissions as they are.
    func checkOwner() throws {
        try ForeignOwnerError.check(descriptor, name: "the folder", permissions: 0o777)
        try checkIndexFiles()
    }

    /// Checks the owner of the index and its log, and makes both private (0600). Does not open them: closing
    /// a file would release every lock that SQLite holds on it in this process (fcntl(2),
    /// sqlite.org/howtocorrupt.html §2.2).
    func checkIndexFiles() throws {
        for name in ["", "-wal", "-shm"].map({ Self.indexName + $0 }) {
            guard let status = status(of: name) else {
                if errno == ENOENT, name != Self.indexName { continue }
                throw SystemError("look at the index")
            }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SystemError("open the index", number: EINVAL)
            }
            guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: name) }
            if status.st_mode & 0o077 != 0 { _ = fchmodat(descriptor, name, 0o600, 0) }
        }
    }

    /// Removes the folder's permissions for other users if only the cache uses it.
    ///
    /// A folder that holds only the cache's files becomes 0700 (or less, if its owner had less). The
    /// permissions of a folder with other files stay, because the user may share it, and the cache's own
    /// files are private in any case. But such a folder is refused if other users may write into it, because
    /// they could replace the cache's files. Throws `ForeignOwnerError` and `OpenFolderError`.
    func restrict() throws {
        var status = stat()
        try check("look at the folder", fstat(descriptor, &status))
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: "the folder") }
        guard status.st_mode & 0o077 != 0 else { return }
        let names = try FolderNames(of: descriptor, called: "the folder")
        let ours = [".", "..", "lock", "objects"]
        if names.contains(where: { !ours.contains($0) && !$0.hasPrefix(Self.indexName) }) {
            guard status.st_mode & 0o022 == 0 else { throw OpenFolderError() }
        } else {
            // If that fails, as on a read-only disk, nobody else can write either.
            _ = fchmod(descriptor, status.st_mode & 0o700)
        }
    }
}

/// The names in an open folder, `.` and `..` included, one after the other.
final class FolderNames: Sequence, IteratorProtocol {
    private let stream: OpaquePointer

    /// Reads the folder with a descriptor of its own; `name` is for errors.
    init(of folder: CInt, called name: String) throws {
        let own = try check("list \(name)", openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard let stream = fdopendir(own) else {
            close(own)
            throw SystemError("list \(name)")
        }
        self.stream = stream
    }

    deinit { closedir(stream) }

    func next() -> String? {
        guard let item = readdir(stream) else { return nil }
        return withUnsafeBytes(of: item.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// Other users may write into the folder, and it also holds files that are not the cache's.
struct OpenFolderError: Error, CustomStringConvertible {
    var description: String {
        "other users can write to it, and it holds other files; run chmod go-w on it, or use another folder"
    }
}

/// A file of the folder belongs to another user, who could read and change it.
struct ForeignOwnerError: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) belongs to another user; use another folder (--cache-dir)" }

    /// Throws unless the open file is the user's own, and removes permissions that are not in `permissions`.
    static func check(_ descriptor: CInt, name: String, permissions: mode_t) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("look at what is in the folder") }
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: name) }
        // If that fails, as on a read-only disk, nobody else can write either.
        if status.st_mode & 0o777 & ~permissions != 0 {
            _ = fchmod(descriptor, status.st_mode & 0o7777 & permissions)
        }
    }
}
