import Glibc
import System

/// Checks and restricts the permissions of a cache folder.
enum FolderAccess {
    /// Removes the open folder's permissions for other users if only the cache uses it.
    ///
    /// A folder that holds only the cache's files becomes 0700 (or less, if its owner had less). The
    /// permissions of a folder with other files stay, because the user may share it, and the cache's own
    /// files are private in any case. But such a folder is refused if other users may write into it, because
    /// they could replace the cache's files. Throws `ForeignOwnerError` and `OpenFolderError`.
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

    /// `true` if the folder holds files that are not the cache's.
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

/// Other users may write into the folder, and it holds other files than the cache's.
struct OpenFolderError: Error, CustomStringConvertible {
    var description: String {
        "others may write into it, and it holds other things too; chmod go-w it, or name another folder"
    }
}

/// A file of the folder belongs to another user, who could read and change it.
struct ForeignOwnerError: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) belongs to another user; name another folder with --cache-dir" }

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
