import Glibc
package import Media
import System

/// The file operations whose order and failures determine which bytes the cache may claim.
///
/// Tests substitute it to record the operations, make them fail, or replay them up to a power cut. Reading,
/// opening, locking and unlinking are not part of it because they do not affect claims. Calls come from the
/// cache's own threads and may block; the text of an error becomes part of a notice.
package protocol FileLayer: Sendable {
    /// Writes all of `bytes` at `offset`, extending the file if necessary (`pwrite(2)`).
    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws

    /// Returns after everything written to the file is on the disk (`fdatasync(2)`).
    func flush(_ descriptor: CInt) throws

    /// The bytes that are free for users on the file's disk (`fstatvfs(3)`).
    func freeBytes(of descriptor: CInt) throws -> Int64

    /// Frees the disk space of `range`; reads find zeros there (`fallocate(2)`, punching a hole).
    func punch(_ range: ByteRange, of descriptor: CInt) throws

    /// Runs one transaction of the index that claims bytes. Part of this protocol so that tests see its order
    /// among writes and flushes.
    func record(_ transaction: () throws -> Void) throws
}

extension FileLayer {
    package func freeBytes(of descriptor: CInt) throws -> Int64 {
        var status = statvfs()
        try check("read the disk's free space", fstatvfs(descriptor, &status))
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : Int64(clamping: bytes.partialValue)
    }

    package func punch(_ range: ByteRange, of descriptor: CInt) throws {
        try check("free the disk space of an object", SparseFile.punch(range, of: descriptor))
    }

    package func record(_ transaction: () throws -> Void) throws { try transaction() }
}

/// The file layer of the running system.
package struct SystemFiles: FileLayer {
    package init() {}

    package func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                let count = retryingInterrupted {
                    pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                }
                guard count > 0 else {
                    throw SystemError("write cached bytes", number: count == 0 ? ENOSPC : errno)
                }
                done += count
            }
        }
    }

    package func flush(_ descriptor: CInt) throws {
        // No retry after a failure: the kernel may have marked the lost pages clean, and a second call would
        // then report success for bytes that are gone.
        try check("flush cached bytes", fdatasync(descriptor))
    }
}
