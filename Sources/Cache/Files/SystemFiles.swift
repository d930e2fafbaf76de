import Glibc
package import Media
import System

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
                guard count > 0 else { throw SystemError("keep bytes", number: count == 0 ? ENOSPC : errno) }
                done += count
            }
        }
    }

    package func read(_ range: ByteRange, from descriptor: CInt) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, initialized in
            while initialized < range.count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...]
                )
                let offset = off_t(range.lowerBound) + off_t(initialized)
                let count = retryingInterrupted { pread(descriptor, rest.baseAddress, rest.count, offset) }
                guard count >= 0 else { throw SystemError("read kept bytes") }
                if count == 0 { break }
                initialized += count
            }
        }
    }

    package func flush(_ descriptor: CInt) throws {
        // No second try after a failure: the kernel may have marked the lost pages clean, and a
        // repeated call would then report success for bytes that are gone.
        try check("flush kept bytes", fdatasync(descriptor))
    }

    package func freeBytes(of descriptor: CInt) throws -> Int64 {
        var status = statvfs()
        try check("ask the disk for its room", fstatvfs(descriptor, &status))
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : Int64(clamping: bytes.partialValue)
    }

    package func punch(_ range: ByteRange, of descriptor: CInt) throws {
        try check("give back what an object does not need", SparseFile.punch(range, of: descriptor))
    }

    package func record(_ transaction: () throws -> Void) throws {
        try transaction()
    }
}
