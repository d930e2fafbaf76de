import Media

/// The bytes that a walk over the boxes of an MP4 file has read.
///
/// The head of a long book has megabytes, of which a walk reads a few kilobytes. They are stored with the
/// entry, so that a later start reads no box.
struct HeadDigest: Equatable {
    /// The magic number and the version of the format; other versions are refused.
    private static let mark: [UInt8] = Array("RMD".utf8) + [1]
    /// The most bytes; a head of more is not stored.
    static let mostByteCount = 256 << 10

    /// The parts by their offsets.
    private var parts: [Int64: [UInt8]] = [:]
    private var byteCount = 0

    init() {}

    /// Records that `range` has these bytes. Ranges that the end of the resource cuts are not recorded.
    mutating func record(_ bytes: [UInt8], in range: ByteRange) {
        guard bytes.count == range.count, !bytes.isEmpty else { return }
        byteCount += bytes.count
        parts[range.lowerBound] = bytes
        if byteCount > Self.mostByteCount { parts = [:] }
    }

    func bytes(in range: ByteRange) -> [UInt8]? {
        parts[range.lowerBound].flatMap { $0.count == range.count ? $0 : nil }
    }

    /// The digest as bytes: mark, length of the resource, parts, and a check. Empty if the length is unknown,
    /// or if the head is too long.
    func stored(length: Int64?) -> [UInt8] {
        guard let length, !parts.isEmpty else { return [] }
        var bytes = Self.mark
        StoredNumbers.append([length], to: &bytes)
        var last: Int64 = 0
        for (offset, part) in parts.sorted(by: { $0.key < $1.key }) {
            StoredNumbers.append([offset - last, Int64(part.count)], to: &bytes)
            bytes += part
            last = offset
        }
        return bytes + StoredNumbers.check(of: bytes[...])
    }

    /// Parses the result of `stored`; `nil` if a byte was changed, or for another `length`. The parts are
    /// trusted no more than those of a file.
    init?(stored bytes: [UInt8], length: Int64?) {
        guard var rest = StoredNumbers.checked(bytes), rest.starts(with: Self.mark) else { return nil }
        rest = rest.dropFirst(Self.mark.count)
        guard let length, StoredNumbers.take(&rest) == length else { return nil }
        var offset: Int64 = 0
        while !rest.isEmpty {
            guard let distance = StoredNumbers.take(&rest), let count = StoredNumbers.take(&rest),
                distance < length - offset, count <= min(Int64(rest.count), length - offset - distance)
            else { return nil }
            offset += distance
            record(Array(rest.prefix(Int(count))), in: offset..<offset + count)
            rest = rest.dropFirst(Int(count))
        }
    }
}
