import Glibc
import Media
import System

/// The open file of one entry: its bytes at their own offsets, sparse.
///
/// All calls may block. The descriptor stays open as long as the object exists, so that a late read never
/// uses a closed or reused one.
final class ObjectFile: Sendable {
    let descriptor: CInt
    /// The entry to which the bytes belong.
    let entry: EntryID
    private let files: any FileLayer

    /// Takes over an open descriptor.
    init(descriptor: CInt, of entry: EntryID, files: any FileLayer) {
        self.descriptor = descriptor
        self.entry = entry
        self.files = files
    }

    deinit { close(descriptor) }

    func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws {
        try files.write(bytes, to: descriptor, at: offset)
    }

    /// Reads `range`; fewer bytes, or none, only at the end of the file.
    func read(_ range: ByteRange) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            while initialized < range.count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...]
                )
                let offset = off_t(range.lowerBound) + off_t(initialized)
                let count = retryingInterrupted { pread(descriptor, rest.baseAddress, rest.count, offset) }
                guard count >= 0 else { throw SystemError("read cached bytes") }
                if count == 0 { break }
                initialized += count
            }
        }
    }

    func flush() throws {
        try files.flush(descriptor)
    }

    /// The parts of `ranges` that take no space on the disk.
    func holes(in ranges: [ByteRange]) -> ByteRangeSet {
        ranges.reduce(into: ByteRangeSet()) { $0.formUnion(SparseFile.holes(in: $1, of: descriptor)) }
    }

    /// Locks the entry as in use until `unlock`, or until the file is closed.
    ///
    /// Throws instead of waiting if another store holds the exclusive lock. Stores take that lock only
    /// briefly and under the folder's lock. Callers hold the folder's lock too, so this succeeds, except
    /// perhaps in a folder that accepts no writes.
    func lockShared() throws {
        try check("lock an object", flock(descriptor, LOCK_SH | LOCK_NB))
    }

    /// Takes the exclusive lock without waiting. Returns `false` if another store has the entry open.
    func lockExclusive() -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }

    /// Ends `lockShared` or `lockExclusive`.
    func unlock() {
        _ = flock(descriptor, LOCK_UN)
    }

    /// Runs `body` while no other store writes or claims bytes of the entry.
    ///
    /// This is the commit lock, separate from the in-use lock. It is held only while writing and flushing, so
    /// this waits up to five seconds, like `FolderLock`.
    func withCommitLock<Value>(_ body: () throws -> Value) throws -> Value {
        try ByteLock.wait("lock an object") { ByteLock.acquire(Self.commitByte, of: descriptor) }
        defer { ByteLock.release(Self.commitByte, of: descriptor) }
        return try body()
    }

    /// Like `withCommitLock`, but without waiting: during a commit, returns `nil` and does not run `body`.
    func ifNobodyCommits<Value>(_ body: () throws -> Value) rethrows -> Value? {
        guard ByteLock.acquire(Self.commitByte, of: descriptor) else { return nil }
        defer { ByteLock.release(Self.commitByte, of: descriptor) }
        return try body()
    }

    /// The offset of the byte that `withCommitLock` locks; no resource is that long.
    static let commitByte = Int64.max - 1

    /// The file's status. Throws unless it is a regular file of the user's own.
    func ownStatus() throws -> stat {
        let status = try status()
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("open an object", number: EINVAL) }
        guard status.st_uid == geteuid() else { throw ForeignOwnerError(name: "objects/") }
        return status
    }

    /// The file's status.
    func status() throws -> stat {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        return status
    }

    /// The apparent size, and the bytes that the file takes on the disk.
    func size() throws -> (length: Int64, allocated: Int64) {
        let status = try status()
        // `st_blocks` counts 512 bytes, whatever the filesystem's block size (stat(3type)).
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }
}
