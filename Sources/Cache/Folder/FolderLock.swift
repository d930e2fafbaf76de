import Glibc
import System

/// The lock of a cache folder, exclusive among all its users in this process and in others.
///
/// Held for single transactions of the index (opening, claiming, evicting, removing), never while data is
/// written or downloaded. Longer work releases it after each page of entries. The kernel releases it when a
/// process dies.
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

    /// Runs `body` while no other caller is in `withLock` of the same folder. Not reentrant.
    ///
    /// Waits up to five seconds, so that a process that hangs cannot block playback. `flock` has no timeout,
    /// so the lock is polled. The thread has no other work, and waits are rare and short.
    ///
    /// A process locks the gate before it waits for the lock. So a process that takes the lock again and
    /// again, as a long removal does, lets waiting processes go first.
    func withLock<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + ByteLock.timeout
        try ByteLock.wait("lock the folder", until: deadline) { ByteLock.acquire(Self.gate, of: descriptor) }
        do {
            defer { ByteLock.release(Self.gate, of: descriptor) }
            try ByteLock.wait("lock the folder", until: deadline) {
                flock(descriptor, LOCK_EX | LOCK_NB) == 0
            }
        }
        defer { _ = flock(descriptor, LOCK_UN) }
        return try body()
    }

    /// The byte of the lock file that serves as the gate.
    static let gate: Int64 = 0
}

/// Another process held the folder's lock for longer than five seconds.
struct FolderHeldError: Error, CustomStringConvertible {
    var description: String { "another process has locked it for too long; try again, or end that process" }
}

/// Open-file-description locks on single bytes of a file (fcntl(2), F_OFD_SETLK).
///
/// They exclude other openers in this process too, are released by the kernel when their holder dies, and are
/// independent of `flock` on local disks. The byte need not exist. Only `wait` waits.
enum ByteLock {
    /// Takes the lock of the byte at `offset`; the descriptor must be open for writing. Returns `false`, with
    /// the cause in `errno`, if that failed.
    static func acquire(_ offset: Int64, of descriptor: CInt) -> Bool {
        set(CInt(F_WRLCK), offset, of: descriptor) == 0
    }

    static func release(_ offset: Int64, of descriptor: CInt) {
        _ = set(CInt(F_UNLCK), offset, of: descriptor)
    }

    /// A process that holds a lock for longer was stopped or hangs.
    static let timeout = Duration.seconds(5)

    /// Repeats `take` every few milliseconds until it returns `true`. Throws `FolderHeldError` at `deadline`,
    /// and a `SystemError` about `operation` if `take` fails for another reason than another holder or a
    /// signal.
    static func wait(
        _ operation: String,
        until deadline: ContinuousClock.Instant = .now + timeout,
        _ take: () -> Bool
    ) throws {
        while !take() {
            guard [EAGAIN, EACCES, EINTR].contains(errno) else { throw SystemError(operation) }
            guard ContinuousClock.now < deadline else { throw FolderHeldError() }
            usleep(2_000)
        }
    }

    private static func set(_ kind: CInt, _ offset: Int64, of descriptor: CInt) -> CInt {
        var lock = flock()
        lock.l_type = CShort(kind)
        lock.l_whence = CShort(SEEK_SET)
        lock.l_start = off_t(offset)
        lock.l_len = 1
        // F_OFD_SETLK (linux/fcntl.h), which Glibc hides without GNU extensions.
        let setLock: CInt = 37
        return withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, setLock, UnsafeMutableRawPointer($0)) }
    }
}
