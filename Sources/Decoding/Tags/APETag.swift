package import Media

/// The place that an APEv2 tag takes, and what it says of loudness (Hydrogenaudio, *APEv2 specification*): the gain
/// of a whole collection is most often written there, since that touches no other tag.
package enum APETag {
    /// The length of a header, and of a footer.
    package static let byteCount = 32
    private static let version: Int64 = 2_000
    /// A header or a footer says which it is, and whether the other is there, in its flags.
    private static let hasHeader: Int64 = 1 << 31
    private static let isHeader: Int64 = 1 << 29

    /// The length of the whole tag that the header in `bytes` begins; nil where they are no header, by the
    /// test that libmpg123 makes: mark, version, and zeros at the end.
    package static func byteCount(ofHeader bytes: [UInt8]) -> Int64? {
        guard isMark(bytes) else { return nil }
        return Int64(byteCount) + number(bytes, at: 12)
    }

    /// The length of the whole tag that the footer in `bytes` ends; nil where they are no footer.
    package static func byteCount(ofFooter bytes: [UInt8]) -> Int64? {
        guard isMark(bytes), number(bytes, at: 20) & isHeader == 0 else { return nil }
        let size = number(bytes, at: 12)
        guard size >= byteCount else { return nil }
        return size + (number(bytes, at: 20) & hasHeader != 0 ? Int64(byteCount) : 0)
    }

    /// What the items of a tag say of loudness. `bytes` are the tag up to its footer, or a part that begins at its
    /// first item; the first item of a kind counts, and what is no item ends the walk.
    package static func loudness(in bytes: [UInt8]) -> Loudness {
        var index = isMark(Array(bytes.prefix(byteCount))) ? byteCount : 0
        var loudness = Loudness()
        for _ in 0..<mostItems where index + 8 <= bytes.count {
            let size = Int(number(bytes, at: index))
            let isText = bytes[index + 4] & 6 == 0
            let keyStart = index + 8
            guard let keyEnd = bytes[keyStart...].prefix(longestKey + 1).firstIndex(of: 0),
                size <= bytes.count - keyEnd - 1
            else { return loudness }
            let value = bytes[(keyEnd + 1)..<(keyEnd + 1 + size)]
            index = value.endIndex
            guard isText, size <= ReplayGain.longestNumber else { continue }
            let key = ID3Text.latin1(bytes[keyStart..<keyEnd])
            loudness = loudness.filled(from: ReplayGain.loudness(ofKey: key, ID3Text.latin1(value)))
        }
        return loudness
    }

    /// The specification's bounds.
    private static let mostItems = 4_096
    private static let longestKey = 255

    private static func isMark(_ bytes: [UInt8]) -> Bool {
        bytes.count >= byteCount && bytes.starts(with: "APETAGEX".utf8) && number(bytes, at: 8) == version
            && bytes[24..<32].allSatisfy { $0 == 0 }
    }

    /// A little-endian number of four bytes.
    private static func number(_ bytes: [UInt8], at index: Int) -> Int64 {
        bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
}
