import Glibc
import System

/// Who may look into a cache folder, and write into it.
enum FolderAccess {
    /// Keeps others out of the open folder, where that is ours to do.
    ///
    /// A folder that holds nothing but what the cache makes becomes 0700, or less where its owner may less. One that holds anything else is left
    /// as it is: somebody named a folder of theirs, and what is ours within it keeps everybody out by itself.
    /// Only when others may write into such a folder, and so could put anything in the place of what is ours,
    /// it is refused. Throws `ForeignOwnerError` and `OpenFolderError`.
    static func restrict(_ root: CInt) throws {
        var status = stat()
        try check("look at the folder", fstat(root, &status))
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: "the folder") }
        guard status.st_mode & 0o077 != 0 else { return }
        guard try holdsOthers(root) else {
            // Where that fails, as on a read-only disk, nobody else can write either.
            _ = fchmod(root, status.st_mode & 0o700)
            return
        }
        guard status.st_mode & 0o022 == 0 else { throw OpenFolderError() }
    }

    /// Whether there is anything in the folder that the cache does not make.
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

/// Others may write into the folder, and it is not the cache's alone.
struct OpenFolderError: Error, CustomStringConvertible {
    var description: String {
        "others may write into it, and it holds other things too; chmod go-w it, or name another folder"
    }
}
