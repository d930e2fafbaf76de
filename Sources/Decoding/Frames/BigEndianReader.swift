/// Reads consecutive big-endian numbers, never past the end.
struct BigEndianReader {
    private let bytes: [UInt8]
    private(set) var index: Int

    init(_ bytes: [UInt8], at index: Int = 0) {
        self.bytes = bytes
        self.index = min(max(0, index), bytes.count)
    }

    var remaining: Int { bytes.count - index }

    /// The next `count` bytes, at most 7, as a number; `nil`, consuming nothing, if there are fewer.
    mutating func next(_ count: Int) -> Int64? {
        guard count <= remaining else { return nil }
        defer { index += count }
        return bytes[index..<index + count].bigEndianNumber
    }

    /// The next `count` bytes, or fewer at the end.
    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let end = index + min(max(0, count), remaining)
        defer { index = end }
        return bytes[index..<end]
    }
}

extension BidirectionalCollection<UInt8> {
    /// The number in at most eight bytes. If there are eight, the highest bit is the sign.
    var bigEndianNumber: Int64 { reduce(0) { $0 << 8 | Int64($1) } }
    var littleEndianNumber: Int64 { reversed().bigEndianNumber }
}
