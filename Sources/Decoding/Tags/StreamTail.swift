package import Media

/// The tags at the end of a resource, and the end of the audio before them.
struct StreamTail {
    /// The most bytes to read of an APE tag. A larger tag has pictures, which usually follow its texts.
    private static let mostRead: Int64 = 65_536
    /// The bytes at the end that show if there are tags: all of ID3v1, and a footer in front of it.
    private static let longestMark = ID3v1Tag.byteCount + APETag.byteCount
    /// The most tags at the end. No honest file has many.
    private static let mostTags = 4

    var tags: TrackTags?
    var loudness = Loudness()
    var audioEnd: Int64

    /// Reads the tags at the end of `source`, which is `length` bytes long; they must begin after `origin`.
    ///
    /// Returns `nil`, without any request, if those bytes are not stored.
    static func stored(in source: any ByteSource, length: Int64, behind origin: Int64) async throws
        -> StreamTail?
    {
        var tail = StreamTail(audioEnd: length)
        for number in 0..<mostTags {
            let hasSkipped = try await tail.skipTag(in: source, behind: origin)
            // The bytes in front of a long tag may be missing, but that tag shortens the music already.
            if hasSkipped == nil, number == 0 { return nil }
            guard hasSkipped == true else { break }
        }
        return tail
    }

    /// Reads the tag that ends at `audioEnd`, and moves `audioEnd` to its start. Its texts take precedence
    /// over those of the tags behind it, since ID3v1 comes last.
    ///
    /// Returns `false` if no tag ends there, and `nil` if the bytes that would show it are not stored.
    private mutating func skipTag(in source: any ByteSource, behind origin: Int64) async throws -> Bool? {
        let range = max(origin, audioEnd - Int64(Self.longestMark))..<max(origin, audioEnd)
        guard let bytes = try await source.allStored(in: range) else { return nil }
        if let old = ID3v1Tag.tags(in: bytes.suffix(ID3v1Tag.byteCount)),
            audioEnd - Int64(ID3v1Tag.byteCount) > origin
        {
            tags = tags ?? old
            audioEnd -= Int64(ID3v1Tag.byteCount)
            return true
        }
        let mark = Array(bytes.suffix(APETag.byteCount))
        if let size = APETag.byteCount(ofFooter: mark), audioEnd - size > origin {
            let end = audioEnd - Int64(APETag.byteCount)
            audioEnd -= size
            if let bytes = try await source.allStored(in: audioEnd..<min(end, audioEnd + Self.mostRead)) {
                let tag = APETag(bytes)
                note(tag.tags, tag.loudness)
            }
            return true
        }
        if let size = ID3v2Header.tagByteCount(ofFooter: mark).map(Int64.init), audioEnd - size > origin {
            audioEnd -= size
            if let bytes = try await source.allStored(in: audioEnd..<audioEnd + min(size, Self.mostRead)),
                var tag = ID3v2Tag(bytes[...], at: audioEnd)
            {
                try await tag.readStored(in: source)
                note(tag.tags, tag.loudness)
            }
            return true
        }
        return false
    }

    private mutating func note(_ more: TrackTags, _ gain: Loudness) {
        tags = more.filled(from: tags ?? TrackTags())
        loudness = gain.filled(from: loudness)
    }
}

extension ByteSource {
    /// The bytes of `range`; `nil`, without any request, if they are not all stored.
    func allStored(in range: ByteRange) async throws -> [UInt8]? {
        guard isStored(range) else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < range.count {
            let place = range.lowerBound + Int64(bytes.count)
            let more = try await readStored(at: place, count: range.count - bytes.count)
            guard !more.isEmpty else { return nil }
            bytes += more
        }
        return bytes
    }
}

/// The texts and the ReplayGain of an APEv2 tag (Hydrogenaudio, *APEv2 specification*).
///
/// Programs that measure whole collections write ReplayGain there, because it leaves other tags unchanged.
package struct APETag {
    /// The length of a header or footer.
    package static let byteCount = 32
    /// The first bytes of headers and footers.
    static let mark = Array("APETAGEX".utf8)
    private static let version: Int64 = 2_000
    /// Flags in headers and footers: the tag has a header, and these bytes are the header.
    private static let hasHeader: Int64 = 1 << 31
    private static let isHeader: Int64 = 1 << 29

    /// The length of the whole tag whose header is in `bytes`; `nil` if they fail libmpg123's test of a
    /// header: mark, version, and zeros at the end.
    package static func byteCount(ofHeader bytes: [UInt8]) -> Int64? {
        guard isMark(bytes) else { return nil }
        return Int64(byteCount) + number(bytes, at: 12)
    }

    /// The length of the whole tag whose footer is in `bytes`; `nil` if they are not a footer.
    package static func byteCount(ofFooter bytes: [UInt8]) -> Int64? {
        guard isMark(bytes), number(bytes, at: 20) & isHeader == 0 else { return nil }
        let size = number(bytes, at: 12)
        guard size >= byteCount else { return nil }
        return size + (number(bytes, at: 20) & hasHeader != 0 ? Int64(byteCount) : 0)
    }

    package private(set) var tags = TrackTags()
    package private(set) var loudness = Loudness()

    /// Reads the items of a tag.
    ///
    /// `bytes` are the tag up to its footer, or a part of it from its first item on. The first item of a kind
    /// counts; parsing ends at bytes that are not an item.
    package init(_ bytes: [UInt8]) {
        var index = Self.isMark(Array(bytes.prefix(Self.byteCount))) ? Self.byteCount : 0
        for _ in 0..<ID3Text.most where index + 8 <= bytes.count {
            let size = Int(Self.number(bytes, at: index))
            let isText = bytes[index + 4] & 6 == 0
            let keyStart = index + 8
            guard let keyEnd = bytes[keyStart...].prefix(Self.longestKey + 1).firstIndex(of: 0),
                size <= bytes.count - keyEnd - 1
            else { return }
            let value = bytes[(keyEnd + 1)..<(keyEnd + 1 + size)]
            index = value.endIndex
            guard isText, size <= ID3Text.longest else { continue }
            // Several values of one item are separated by NUL, as in ID3v2.4.
            note(ID3Text.latin1(bytes[keyStart..<keyEnd]), ID3Text.decode(([3] + value)[...]))
        }
    }

    private mutating func note(_ key: String, _ value: String) {
        let text = value.isEmpty ? nil : SafeText(value)
        switch key.lowercased() {
        case "title": tags.title = tags.title ?? text
        case "artist": tags.artist = tags.artist ?? text
        case "album": tags.album = tags.album ?? text
        case "album artist": tags.albumArtist = tags.albumArtist ?? text
        case "year": tags.year = tags.year ?? text
        case "track": tags.number = tags.number ?? text
        case "disc": tags.disc = tags.disc ?? text
        case "genre": tags.genre = tags.genre ?? text
        case "compilation": tags.compilation = tags.compilation ?? text
        default: loudness = loudness.filled(from: ReplayGain.loudness(ofKey: key, value))
        }
    }

    /// The longest key that the specification allows.
    private static let longestKey = 255

    private static func isMark(_ bytes: [UInt8]) -> Bool {
        bytes.count >= byteCount && bytes.starts(with: mark) && number(bytes, at: 8) == version
            && bytes[24..<32].allSatisfy { $0 == 0 }
    }

    /// The little-endian number of four bytes at `index`.
    private static func number(_ bytes: [UInt8], at index: Int) -> Int64 {
        bytes[index..<index + 4].littleEndianNumber
    }
}
