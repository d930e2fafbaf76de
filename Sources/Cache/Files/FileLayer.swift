package import Media

/// The file operations whose order and failures decide what the cache may claim.
///
/// A seam for tests, which record the operations, fail them, or play them back up to a power cut.
/// Opening, locking and unlinking are not here: they claim nothing. Calls come from the cache's own
/// threads and may block; an error is any error, and its text becomes part of a notice.
package protocol FileLayer: Sendable {
    /// Writes all of `bytes` at `offset`, beyond the end too (`pwrite(2)`).
    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws

    /// Reads `range`; short, or empty, only where the file ends (`pread(2)`).
    func read(_ range: ByteRange, from descriptor: CInt) throws -> [UInt8]

    /// Returns once everything written to the file is on the disk (`fdatasync(2)`).
    func flush(_ descriptor: CInt) throws

    /// The bytes that the disk of the file has left for users (`fstatvfs(3)`).
    func freeBytes(of descriptor: CInt) throws -> Int64

    /// Gives the disk back what `range` takes; reads find zeros there (`fallocate(2)`, punching a hole).
    func punch(_ range: ByteRange, of descriptor: CInt) throws

    /// Runs one transaction of the index that claims bytes.
    ///
    /// Here so that a test sees its place among the writes and flushes.
    func record(_ transaction: () throws -> Void) throws
}

extension FileLayer {
    /// That of the running system.
    package func freeBytes(of descriptor: CInt) throws -> Int64 {
        try SystemFiles().freeBytes(of: descriptor)
    }

    /// That of the running system.
    package func punch(_ range: ByteRange, of descriptor: CInt) throws {
        try SystemFiles().punch(range, of: descriptor)
    }
}
