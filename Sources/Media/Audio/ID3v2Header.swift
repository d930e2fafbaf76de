/// The header of an ID3v2 tag: ten bytes (id3.org, ID3v2.2 §3.1, 2.3.0 §3.1, 2.4.0 §3.1).
///
/// Such a tag can precede audio of any kind, and nothing else.
package struct ID3v2Header: Sendable, Equatable {
    package static let byteCount = 10

    /// 2, 3 or 4.
    package let version: Int
    package let isUnsynchronised: Bool
    package let hasExtendedHeader: Bool
    /// `true` if the flag for a footer is set, in any version.
    package let hasFooter: Bool
    /// The length of the whole tag: header, content and footer.
    package let tagByteCount: Int

    /// The offset in the tag where its content ends.
    package var contentEnd: Int { tagByteCount - (version == 4 && hasFooter ? Self.byteCount : 0) }

    /// Parses the first ten of `bytes`; `nil` if they are not such a header.
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

    /// The length of the whole tag whose footer ends `bytes`; `nil` if no footer does. A footer is a copy of
    /// the header with another mark (ID3v2.4 §3.4).
    package static func tagByteCount(ofFooter bytes: [UInt8]) -> Int? {
        let footer = bytes.suffix(byteCount)
        guard footer.starts(with: "3DI".utf8), let header = ID3v2Header("ID3".utf8 + footer.dropFirst(3)),
            header.version == 4, header.hasFooter
        else { return nil }
        return header.tagByteCount
    }

    /// The number in `bytes`, with seven bits in each byte; `nil` if a byte has its eighth bit set.
    package static func synchsafe(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        return bytes.reduce(0) { $0 << 7 | Int($1) }
    }
}
