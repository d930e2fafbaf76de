import Glibc
import System

/// The lock that processes and openers of one cache folder take in turn.
///
/// Held for opening, claiming, evicting and removing, that is for single transactions of the index,
/// never for data's way to the disk or for anything of the network; longer work takes it a page at a time.
/// The kernel frees it when a process dies. Two objects on one folder exclude each other also within a process.
final class FolderLock: Sendable {
    private let descriptor: CInt

    init(in root: CInt) throws {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC
        let opened = try check("open the lock file", openat(root, "lock", flags, 0o600))
        do {
            try ForeignOwnerError.check(opened, name: "the lock file", permissions: 0o600)
        } catch {
            close(opened)
            throw error
        }
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// Runs `body` while nobody else is in a `withLock` of the same folder. Not reentrant.
    ///
    /// Waits up to five seconds; who holds the lock for longer was stopped or hangs, and music must not
    /// wait for that. `flock` knows no deadline, so it is asked every few milliseconds: the thread is
    /// the cache's own, which has nothing else to do, and the wait is rare and short.
    ///
    /// Who waits for the lock stands in a gate in front of it, which everybody has to pass: so a process that
    /// takes the lock again and again, as a long removal does, lets those through that came in between.
    func withLock<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        try wait(until: deadline) { ByteLock.take(Self.gate, of: descriptor) }
        do {
            defer { ByteLock.release(Self.gate, of: descriptor) }
            try wait(until: deadline) { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }

    private func wait(until deadline: ContinuousClock.Instant, _ isTaken: () -> Bool) throws {
        while !isTaken() {
            guard ByteLock.isTaken else { throw SystemError("lock the folder") }
            guard ContinuousClock.now < deadline else { throw FolderHeldError() }
            usleep(2_000)
        }
    }

    /// The byte of the lock file that is the gate.
    static let gate: Int64 = 0
    private static let patience = Duration.seconds(5)
}

/// Another process kept the folder's lock for longer than anybody should.
struct FolderHeldError: Error, CustomStringConvertible {
    var description: String { "another process holds the folder" }
}
