/// Makes strong entity tags out of content.
///
/// The hash is fast and good at telling versions of a file apart; it is no protection against
/// somebody who wants two files to look the same.
struct ContentTag {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The entity tag of `bytes`, with its quotes.
    static func etag(of bytes: [UInt8]) -> String {
        var tag = ContentTag()
        tag.update(bytes)
        return tag.etag(length: Int64(bytes.count))
    }

    /// The entity tag of the first `length` bytes of `file`, with its quotes.
    static func etag(of file: OpenFile, length: Int64) -> String {
        var tag = ContentTag()
        var offset: Int64 = 0
        while offset < length {
            let bytes = file.bytes(at: offset, count: Int(min(length - offset, 1 << 20)))
            if bytes.isEmpty { break }
            tag.update(bytes)
            offset += Int64(bytes.count)
        }
        return tag.etag(length: length)
    }

    private mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            // Words of eight bytes keep this fast in debug builds, where tests hash megabytes.
            let words = buffer.count / 8
            for index in 0..<words {
                mix(buffer.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
            }
            for index in words * 8..<buffer.count { mix(UInt64(buffer[index])) }
        }
    }

    private mutating func mix(_ word: UInt64) {
        state = (state ^ word) &* 0xFF51_AFD7_ED55_8CCD
        state ^= state >> 32
    }

    private func etag(length: Int64) -> String {
        "\"" + String(length, radix: 16) + "-" + String(state, radix: 16) + "\""
    }
}
