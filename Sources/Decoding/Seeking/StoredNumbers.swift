/// The coding of numbers in stored tables, and the check at the end of a table.
enum StoredNumbers {
    static let checkByteCount = 8

    /// Appends non-negative numbers as seven bits per byte, the lowest first.
    static func append(_ values: [Int64], to bytes: inout [UInt8]) {
        for value in values {
            var rest = UInt64(max(0, value))
            while rest >= 0x80 {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
    }

    /// Removes the first number of `bytes`; `nil` if there is none.
    static func take(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
        var value: UInt64 = 0
        for group in 0..<UInt64(9) {
            let shift = 7 * group
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return Int64(value) }
        }
        return nil
    }

    /// FNV-1a, to detect accidental damage. Against forgery, there are the cache's keyed checks and the
    /// limits of the tables.
    static func check(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return (0..<8).map { UInt8(truncatingIfNeeded: hash >> (8 * $0)) }
    }

    /// The content in front of the check; `nil` if a byte was changed.
    static func checked(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard bytes.count > checkByteCount else { return nil }
        let content = bytes.dropLast(checkByteCount)
        return Array(bytes.suffix(checkByteCount)) == check(of: content) ? content : nil
    }
}
