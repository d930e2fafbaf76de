import Media

/// The tags that end a resource: what they say, and that they are no music.
struct StreamTail {
    /// A larger APE tag holds pictures, and its text stands before them or is passed over.
    private static let mostRead: Int64 = 65_536

    var tags: TrackTags?
    var loudness = Loudness()
    /// Where the audio ends.
    var audioEnd: Int64

    /// Looks at the last bytes of `source`, which is `length` bytes long, behind `origin`; nil, and without any
    /// request, where they are not stored.
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
    /// The bytes of `range`; nil, and without any request, where they are not all stored.
    fileprivate func allStored(in range: ByteRange) async throws -> [UInt8]? {
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
