import Media

/// Reads the chunks or blocks in front of the samples, by as few requests as possible: one, if the samples
/// begin within the first 64 KiB.
struct ChunkReader {
    /// The most requests after the first one, as after a jump over a large chunk; no ordinary file needs more
    /// than two.
    private static let mostRequests = 16
    /// Contents of at most this length are read whole, even if that takes another request: the next head,
    /// which follows them, would need it anyway. Longer contents, which only tags have, are read only as far
    /// as the last request reaches.
    private static let shortContent = 1_024

    private(set) var window: ByteWindow
    private var requestEnd: Int64
    private var requestCount = 0

    init(_ start: StreamStart) {
        window = start.window
        requestEnd = start.requestEnd
    }

    /// A reader for a head at `offset`, of which nothing was read.
    init(_ source: any ByteSource, at offset: Int64) {
        window = ByteWindow(source, at: offset)
        requestEnd = offset
    }

    /// Reads chunks until `head` can be played or the walk ends. Returns the walk as it then is.
    ///
    /// Throws if the file cannot be played.
    mutating func read(_ head: inout PCMHead) async throws -> ChunkWalk {
        var walk = ChunkWalk(at: window.start, contents: PCMHead.contents)
        while !head.isComplete, let range = walk.wanted {
            if let chunk = walk.took(try await bytes(in: range)) { try head.receive(chunk) }
        }
        return walk
    }

    func held(in range: ByteRange) -> ArraySlice<UInt8> {
        guard (window.start..<window.end).contains(range.lowerBound) else { return [] }
        return window.bytes.dropFirst(Int(range.lowerBound - window.start)).prefix(range.count)
    }

    /// The bytes of `range`, which begins after all earlier ones; fewer at the end of the resource.
    mutating func bytes(in range: ByteRange) async throws -> ArraySlice<UInt8> {
        window = window.dropping(Int(range.lowerBound - window.start))
        let isShort = range.count <= Self.shortContent
        if range.lowerBound >= requestEnd || (isShort && range.upperBound > requestEnd) {
            guard requestCount < Self.mostRequests else { return [] }
            requestCount += 1
            requestEnd = range.lowerBound + Int64(ByteWindow.requestByteCount)
        }
        let end = min(range.upperBound, requestEnd)
        try await window.fill(Int(end - range.lowerBound), askingUpTo: Int(requestEnd - range.lowerBound))
        return window.bytes.prefix(Int(end - range.lowerBound))
    }
}
