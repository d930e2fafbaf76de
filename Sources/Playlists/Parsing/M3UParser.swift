import Media

/// Reads M3U and M3U8: a line is an entry unless it begins with `#`.
///
/// Of the directives only `#EXTINF` means something here. It belongs to the next entry, with
/// other directives and comments between them.
enum M3UParser {
    /// The entries of `bytes`; at most one more than `limit`, so that the caller sees the excess.
    static func entries(of bytes: ByteText, limit: Int) -> [PlaylistEntry] {
        var entries: [PlaylistEntry] = []
        var tags = TrackTags()
        var duration: Duration?
        bytes.withoutByteOrderMark.forEachLine { line in
            guard line[0] != UInt8(ascii: "#") else {
                if line.starts(withLowercase: "#extinf:") {
                    (tags, duration) = information(line.piece(8..<line.count))
                }
                return
            }
            guard entries.count <= limit else { return }
            entries.append(
                PlaylistEntry(reference: LegacyText.string(line), tags: tags, duration: duration)
            )
            tags = TrackTags()
            duration = nil
        }
        return entries
    }

    /// Takes `123 key="value",Artist - Title` apart. Every part may be missing.
    private static func information(_ text: ByteText) -> (TrackTags, Duration?) {
        let text = text.trimmed
        let duration = text.leadingSeconds
        // A comma within the quotes of an attribute ends nothing.
        var isQuoted = false
        let comma = text.firstIndex { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        guard let comma = comma ?? text.firstIndex(of: UInt8(ascii: ",")) else {
            return (TrackTags(), duration)
        }
        return (tags(ofTitle: text.piece(comma + 1..<text.count).trimmed), duration)
    }

    /// The tags of `Artist - Title`, or of a title alone.
    static func tags(ofTitle text: ByteText) -> TrackTags {
        guard !text.isEmpty else { return TrackTags() }
        var index = 1
        while index + 3 < text.count {
            if text[index] == UInt8(ascii: " "), text[index + 1] == UInt8(ascii: "-"),
                text[index + 2] == UInt8(ascii: " ")
            {
                let artist = text.piece(0..<index).trimmed
                let title = text.piece(index + 3..<text.count).trimmed
                return TrackTags(title: safe(title), artist: safe(artist))
            }
            index += 1
        }
        return TrackTags(title: safe(text))
    }

    private static func safe(_ text: ByteText) -> SafeText? {
        text.isEmpty ? nil : SafeText(LegacyText.string(text))
    }
}
