import Media

/// The tags that end a resource: what they say, and that they are no music.
struct StreamTail {
    var tags: TrackTags?
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
        var bytes: [UInt8] = []
        while bytes.count < count {
            let more = try await source.readStored(at: start + Int64(bytes.count), count: count - bytes.count)
            guard !more.isEmpty else { return nil }
            bytes += more
        }
        let last = Array(bytes.suffix(ID3v1Tag.byteCount))
        let tags = ID3v1Tag.tags(in: last)
        var tail = StreamTail(tags: tags, audioEnd: length)
        if tags != nil { tail.audioEnd -= Int64(ID3v1Tag.byteCount) }
        let footer = bytes.dropLast(tags == nil ? 0 : ID3v1Tag.byteCount).suffix(APETag.byteCount)
        if let size = APETag.byteCount(ofFooter: Array(footer)), tail.audioEnd - size > origin {
            tail.audioEnd -= size
        }
        return tail
    }
}
