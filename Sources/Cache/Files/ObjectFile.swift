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

    /// The apparent size and the bytes that the file really takes on the disk.
    func size() throws -> (length: Int64, allocated: Int64) {
        var status = stat()
        try check("look at an object", fstat(descriptor, &status))
        // `st_blocks` counts 512 bytes, whatever the filesystem's own block is (stat(3type)).
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }
}
