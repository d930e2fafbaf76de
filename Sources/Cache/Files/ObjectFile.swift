import Glibc
import Media
import System

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

    /// What of `ranges` takes no room on the disk.
    func holes(in ranges: [ByteRange]) -> ByteRangeSet {
        ranges.reduce(into: ByteRangeSet()) { $0.formUnion(SparseFile.holes(in: $1, of: descriptor)) }
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
    /// A second lock beside the one that says the file is in use. Whoever holds it writes and flushes, no
    /// more; waits up to five seconds for that, like `FolderLock`.
    func withCommitLock<Value>(_ body: () throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        while !ByteLock.take(Self.commitByte, of: descriptor) {
            guard ByteLock.isTaken else { throw SystemError("lock an object") }
            guard ContinuousClock.now < deadline else { throw FolderHeldError() }
            usleep(2_000)
        }
        defer { ByteLock.release(Self.commitByte, of: descriptor) }
        return try body()
    }

    /// The same without waiting; nil, and `body` is not run, while somebody commits.
    func ifNobodyCommits<Value>(_ body: () throws -> Value) rethrows -> Value? {
        guard ByteLock.take(Self.commitByte, of: descriptor) else { return nil }
        defer { ByteLock.release(Self.commitByte, of: descriptor) }
        return try body()
    }

    private static let patience = Duration.seconds(5)
    /// One byte that no resource has.
    private static let commitByte = Int64.max - 1

    /// What the system says of the file. Throws unless it is a plain file of the user's own.
    func ownStatus() throws -> stat {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open an object", number: EINVAL) }
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: "objects/") }
        return status
    }

    /// Whether the file has no name any more: nobody who comes later will find what is in it.
    func isUnlinked() throws -> Bool {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        return status.st_nlink == 0
    }

    /// The apparent size and the bytes that the file really takes on the disk.
    func size() throws -> (length: Int64, allocated: Int64) {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        // `st_blocks` counts 512 bytes, whatever the filesystem's own block is (stat(3type)).
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }
}
