package import Media

/// The 128 bytes that may end an MP3 file (ID3v1, and 1.1 with its track number).
package enum ID3v1Tag {
    package static let byteCount = 128

    /// The tags in `bytes`; nil where they are no ID3v1 tag.
    package static func tags(in bytes: [UInt8]) -> TrackTags? {
        guard bytes.count == byteCount, bytes.starts(with: "TAG".utf8) else { return nil }
        var tags = TrackTags(
            title: field(bytes[3..<33]),
            artist: field(bytes[33..<63]),
            album: field(bytes[63..<93]),
            year: field(bytes[93..<97])
        )
        // A zero before the comment's last byte makes that byte the number (1.1).
        if bytes[125] == 0, bytes[126] != 0 { tags.number = SafeText(String(bytes[126])) }
        return tags
    }

    private static func field(_ bytes: ArraySlice<UInt8>) -> SafeText? {
        let text = ID3Text.trimmed(ID3Text.latin1(bytes.prefix { $0 != 0 }))
        return text.isEmpty ? nil : SafeText(text)
    }
}
