package import Media

/// The tags at the end of a resource, and the end of the audio before them.
struct StreamTail {
    /// The most bytes to read of an APE tag. A larger tag has pictures, which usually follow its texts.
    private static let mostRead: Int64 = 65_536

    var tags: TrackTags?
    var loudness = Loudness()
    /// The offset where the audio ends.
    var audioEnd: Int64

    /// Reads the tags at the end of `source`, which is `length` bytes long; they must begin after `origin`.
    ///
    /// Returns `nil`, without any request, if those bytes are not stored.
    static func stored(in source: any ByteSource, length: Int64, behind origin: Int64) async throws
        -> StreamTail?
    {
        let count = ID3v1Tag.byteCount + APETag.byteCount
        let start = length - Int64(count)
        guard start > origin, source.isStored(start..<length) else { return nil }
        guard let bytes = try await source.allStored(in: start..<length) else { return nil }
        let last = Array(bytes.suffix(ID3v1Tag.byteCount))
        let tags = ID3v1Tag.tags(in: last)
        var tail = StreamTail(tags: tags, audioEnd: length)
        if tags != nil { tail.audioEnd -= Int64(ID3v1Tag.byteCount) }
        let footer = bytes.dropLast(tags == nil ? 0 : ID3v1Tag.byteCount).suffix(APETag.byteCount)
        if let size = APETag.byteCount(ofFooter: Array(footer)), tail.audioEnd - size > origin {
            let end = tail.audioEnd
            tail.audioEnd -= size
            let items = tail.audioEnd..<min(end - Int64(APETag.byteCount), tail.audioEnd + mostRead)
            if let bytes = try await source.allStored(in: items) {
                tail.loudness = APETag.loudness(in: bytes)
            }
        }
        return tail
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

/// The length and the ReplayGain of an APEv2 tag (Hydrogenaudio, *APEv2 specification*).
///
/// Programs that measure whole collections write ReplayGain there, because it leaves other tags unchanged.
package enum APETag {
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

    /// The ReplayGain in the items of a tag.
    ///
    /// `bytes` are the tag up to its footer, or a part of it from its first item on. The first item of a kind
    /// counts; parsing ends at bytes that are not an item.
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

    /// The most items that are parsed, and the longest key that the specification allows.
    private static let mostItems = 4_096
    private static let longestKey = 255

    private static func isMark(_ bytes: [UInt8]) -> Bool {
        bytes.count >= byteCount && bytes.starts(with: mark) && number(bytes, at: 8) == version
            && bytes[24..<32].allSatisfy { $0 == 0 }
    }

    /// The little-endian number of four bytes at `index`.
    private static func number(_ bytes: [UInt8], at index: Int) -> Int64 {
        bytes[index..<index + 4].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
}
