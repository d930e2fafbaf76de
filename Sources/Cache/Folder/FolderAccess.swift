import Glibc
import System

/// Who may read and write a cache folder.
enum FolderAccess {
    /// Takes the open folder's permissions for other users away if it is the cache's alone.
    ///
    /// A folder that holds only what the cache makes becomes 0700 (less, if its owner had less). A folder
    /// with anything else in it is left as it is, because the user may share it for other purposes, and the
    /// cache's own files in it are private by themselves; but it is refused if others may write into it,
    /// because they could replace those files. Throws `ForeignOwnerError` and `OpenFolderError`.
    static func restrict(_ root: CInt) throws {
        var status = stat()
        try check("look at the folder", fstat(root, &status))
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: "the folder") }
        guard status.st_mode & 0o077 != 0 else { return }
        guard try holdsOthers(root) else {
            // If that fails, as on a read-only disk, nobody else can write either.
            _ = fchmod(root, status.st_mode & 0o700)
            return
        }
        guard status.st_mode & 0o022 == 0 else { throw OpenFolderError() }
    }

    /// `true` if the folder holds anything that the cache does not make.
    private static func holdsOthers(_ root: CInt) throws -> Bool {
        let own = try check("list the folder", openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard let stream = fdopendir(own) else {
            close(own)
            throw SystemError("list the folder")
        }
        defer { closedir(stream) }
        while let item = readdir(stream) {
            let name = withUnsafeBytes(of: item.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            let isOurs =
                [".", "..", "lock", "objects"].contains(name) || name.hasPrefix(OpenedFolder.indexName)
            if !isOurs { return true }
        }
        return false
    }
}

/// Other users may write into the folder, and it holds more than the cache.
struct OpenFolderError: Error, CustomStringConvertible {
    var description: String {
        "others may write into it, and it holds other things too; chmod go-w it, or name another folder"
    }
}

/// A file of the folder belongs to another user, who could read and change it.
struct ForeignOwnerError: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) belongs to another user; name another folder with --cache-dir" }

    /// Throws unless the open file is the user's own, and takes away permissions not in `permissions`.
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
