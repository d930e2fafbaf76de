import Glibc

/// Where the bytes of a body are.
enum BodySource: Sendable {
    case memory([UInt8])
    case file(OpenFile)
    case live(LiveBody)

    /// Up to `count` bytes from `offset`; empty past the end, or when the file can no longer be read.
    func bytes(at offset: Int64, count: Int) -> ArraySlice<UInt8> {
        switch self {
        case .memory(let bytes):
            let start = Int(min(max(0, offset), Int64(bytes.count)))
            return bytes[start..<min(bytes.count, start + count)]
        case .file(let file):
            return file.bytes(at: offset, count: count)[...]
        case .live(let body):
            return body.bytes(at: offset, count: count)[...]
        }
    }
}

/// A regular file open for reading.
final class OpenFile: Sendable {
    private let descriptor: Int32

    /// Takes over `descriptor` and closes it at the end.
    init(takingOver descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// What the system says of the file now, or nil.
    var status: stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Up to `count` bytes from `offset`; short only at the end or when the file cannot be read.
    ///
    /// Blocks for as long as the disk takes, which a test server may.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableBufferPointer(rebasing: buffer[filled..<count])
                let result = pread(descriptor, rest.baseAddress, rest.count, Int(offset) + filled)
                if result < 0 && errno == EINTR { continue }
                guard result > 0 else { return }
                filled += result
            }
        }
    }
}
