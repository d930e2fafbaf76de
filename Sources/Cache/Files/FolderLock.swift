import Glibc

/// The lock that processes and openers of one cache folder take in turn.
///
/// Held for opening, claiming, evicting and removing, that is for single transactions of the index,
/// never for data's way to the disk or for anything of the network. The kernel frees it when a process
/// dies. Two objects on one folder exclude each other also within a process.
final class FolderLock: Sendable {
    private let descriptor: CInt

    init(in root: CInt) throws {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        descriptor = try check("open the lock file", openat(root, "lock", flags, 0o600))
    }

    deinit { close(descriptor) }

    /// Runs `body` while nobody else is in a `withLock` of the same folder. Not reentrant.
    func withLock<Value>(_ body: () throws -> Value) throws -> Value {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemError("lock the folder") }
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }
}
