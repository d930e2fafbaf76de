import Glibc
import System

/// Something in the folder belongs to another user, who could change what is kept, and read it.
struct ForeignOwnerError: Error, CustomStringConvertible {
    let name: String

    var description: String { "\(name) belongs to another user; name another folder with --cache-dir" }

    /// Throws unless the open file is the user's own, and takes permissions away that it should not give.
    static func check(_ descriptor: CInt, name: String, permissions: mode_t) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("look at what is in the folder") }
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: name) }
        // Where that fails, as on a read-only disk, nobody else can write either.
        if status.st_mode & 0o777 & ~permissions != 0 {
            _ = fchmod(descriptor, status.st_mode & 0o7777 & permissions)
        }
    }
}
