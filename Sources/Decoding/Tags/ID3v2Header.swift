/// The ten bytes that begin an ID3v2 tag (id3.org, ID3v2.2 §3.1, 2.3.0 §3.1, 2.4.0 §3.1).
package struct ID3v2Header: Sendable, Equatable {
    package static let byteCount = 10

    /// 2, 3 or 4.
    package let version: Int
    package let isUnsynchronised: Bool
    package let hasExtendedHeader: Bool
    /// Whether the flag of a footer is set, in whatever version.
    package let hasFooter: Bool
    /// The length of the whole tag: header, content and footer.
    package let tagByteCount: Int

    /// Parses the first ten of `bytes`; nil where they begin no tag.
    package init?(_ bytes: ArraySlice<UInt8>) {
        let head = Array(bytes.prefix(Self.byteCount))
        guard head.count == Self.byteCount, head.starts(with: "ID3".utf8), (2...4).contains(head[3]),
            head[4] != 0xFF, let size = Self.synchsafe(head[6..<10])
        else { return nil }
        version = Int(head[3])
        let flags = head[5]
        isUnsynchronised = flags & 0x80 != 0
        hasExtendedHeader = version > 2 && flags & 0x40 != 0
        hasFooter = flags & 0x10 != 0
        tagByteCount = Self.byteCount + size + (version == 4 && hasFooter ? Self.byteCount : 0)
    }

    /// A number of seven bits for each byte; nil when a byte has its eighth bit set.
    package static func synchsafe(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        return bytes.reduce(0) { $0 << 7 | Int($1) }
    }
}
