import Media

/// Reads M3U and M3U8: a line is an entry unless it begins with `#`.
///
/// Of the directives only `#EXTINF` means something here. It belongs to the next entry, with
/// other directives and comments between them.
///
/// It reads piece by piece. A piece ends behind an entry, so that no directive is waiting for its entry then. Valid as
/// long as the buffer it was made from.
struct M3UParser {
    private let bytes: ByteText
    private var rest: ByteText
    /// The offset behind the last entry that was read.
    private(set) var offset: Int

    /// Begins at `offset`, which is 0 or what another parser told.
    init(_ bytes: ByteText, from offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(offset, bytes.count)
        rest = offset == 0 ? bytes.withoutByteOrderMark : bytes.piece(self.offset..<bytes.count)
    }

    /// The next entries, at most `most`; fewer only at the end of the list.
    mutating func next(_ most: Int) -> [PlaylistEntry] {
        var entries: [PlaylistEntry] = []
        var tags = TrackTags()
        var duration: Duration?
        var last: ByteText?
        rest = rest.forEachLineWhile { line in
            guard line[0] != UInt8(ascii: "#") else {
                if line.starts(withLowercase: "#extinf:") {
                    (tags, duration) = Self.information(line.piece(8..<line.count))
                }
                return true
            }
            entries.append(
                PlaylistEntry(reference: LegacyText.string(line), tags: tags, duration: duration)
            )
            last = line
            tags = TrackTags()
            duration = nil
            return entries.count < most
        }
        if let end = last?.endAddress, let start = bytes.baseAddress { offset = end - start }
        return entries
    }

    /// How many lines begin within `bytes`, behind its first byte, that are neither comments nor empty: with the first
    /// line they are no fewer than the entries. For a hundredth of what it costs to read these.
    static func lineStarts(in bytes: ByteText) -> Int {
        guard let last = bytes.indices.last else { return 0 }
        var count = 0
        var start = 0
        while start < last {
            // So few that a byte counts them, and without a branch: this becomes vector code.
            let end = min(start + 255, last)
            var part: UInt8 = 0
            for index in start..<end {
                let (byte, next) = (bytes[index], bytes[index + 1])
                let isEnd: UInt8 = (byte == 0x0A ? 1 : 0) | (byte == 0x0D ? 1 : 0)
                let isNone: UInt8 = (next == 0x0A ? 1 : 0) | (next == 0x0D ? 1 : 0) | (next == 0x23 ? 1 : 0)
                part &+= isEnd & (isNone ^ 1)
            }
            count += Int(part)
            start = end
        }
        return count
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

extension ByteText {
    fileprivate var endAddress: UnsafePointer<UInt8>? { baseAddress.map { $0 + count } }
}
