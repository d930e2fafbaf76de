import Glibc
import Media

/// One open file that holds the bytes of one entry, at their own offsets.
///
/// Sparse: what was never written takes no room. All calls may block. The descriptor lives as
/// long as the object, so that a late read never meets a closed or reused one.
final class ObjectFile: Sendable {
    let descriptor: CInt
    private let files: any FileLayer

    /// Takes over an open descriptor.
    init(descriptor: CInt, files: any FileLayer) {
        self.descriptor = descriptor
        self.files = files
    }

    deinit { close(descriptor) }

    func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws {
        try files.write(bytes, to: descriptor, at: offset)
    }

    /// Reads `range`; short where the file ends.
    func read(_ range: ByteRange) throws -> [UInt8] {
        try files.read(range, from: descriptor)
    }

    func flush() throws {
        try files.flush(descriptor)
    }

    /// Says that the entry is in use, for as long as the file is open or until `unlock`.
    ///
    /// Only eviction holds the exclusive lock, for an instant and under the folder's lock, which
    /// who opens an entry holds too: so this never waits.
    func lockShared() throws {
        try check("lock an object", flock(descriptor, LOCK_SH | LOCK_NB))
    }

    /// Whether nobody else has the entry open; takes the exclusive lock if so.
    func lockExclusive() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Says that the entry is no longer in use.
    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Runs `body` while nobody else writes to the entry's bytes or claims any: the lock of commits.
    ///
    /// A second lock beside the one that says the file is in use: an open-file-description lock (fcntl(2)),
    /// which excludes other openers in this process too, is freed by the kernel when its holder dies, and
    /// has nothing to do with `flock` on local disks. Whoever holds it writes and flushes, no more; waits
    /// up to five seconds for that, like `FolderLock`.
    func withCommitLock<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        while !lockCommits() {
            guard errno == EAGAIN || errno == EACCES || errno == EINTR else {
                throw SystemError("lock an object")
            }
            guard ContinuousClock.now < deadline else { throw FolderHeldError() }
            usleep(2_000)
        }
        defer { setCommitLock(CInt(F_UNLCK)) }
        return try body()
    }

    private static let patience = Duration.seconds(5)

    private func lockCommits() -> Bool { setCommitLock(CInt(F_WRLCK)) == 0 }

    @discardableResult
    private func setCommitLock(_ kind: CInt) -> CInt {
        var lock = flock()
        lock.l_type = CShort(kind)
        lock.l_whence = CShort(SEEK_SET)
        // One byte that no resource has.
        lock.l_start = off_t(Int64.max - 1)
        lock.l_len = 1
        // F_OFD_SETLK (linux/fcntl.h), which Glibc shows only to those who ask for GNU extensions.
        let setLock: CInt = 37
        return withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, setLock, UnsafeMutableRawPointer($0)) }
    }

    /// The apparent size and the bytes that the file really takes on the disk.
    func size() throws -> (length: Int64, allocated: Int64) {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        // `st_blocks` counts 512 bytes, whatever the filesystem's own block is (stat(3type)).
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }
}
