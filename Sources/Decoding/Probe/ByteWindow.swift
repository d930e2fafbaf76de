import Media

/// Consecutive bytes of a source, read on demand.
struct ByteWindow {
    /// The length of one request. The first request for a resource that is not cached returns no more, so a
    /// decoder should be able to open with these bytes.
    static let requestByteCount = 65_536

    /// The length of one read while playing: a few seconds of music, since each read may switch to another
    /// thread and back.
    static let playingByteCount = 96 << 10

    /// The most bytes that a decoder reads in search of the head of the music, or of a packet that a file
    /// lists: a resource without music is not downloaded to its end. Between frames any number of other bytes
    /// is passed over.
    static let mostForeignBytes: Int64 = 8 << 20

    private let source: any ByteSource
    let start: Int64
    private(set) var bytes: [UInt8]
    /// `true` if the source ends where the window ends.
    private(set) var isAtEnd = false

    /// A window that begins at `start`, with `bytes` already read.
    init(_ source: any ByteSource, at start: Int64, holding bytes: [UInt8] = []) {
        self.source = source
        self.start = start
        self.bytes = bytes
    }

    /// The offset after the last byte.
    var end: Int64 { start + Int64(bytes.count) }

    /// Reads until the window has `count` bytes or the source ends; each read requests all bytes up to
    /// `limit`.
    mutating func fill(_ count: Int, askingUpTo limit: Int) async throws {
        while bytes.count < count, try await grow(to: max(count, limit)) {}
    }

    /// Reads once, up to `count` bytes from the start; `false` if the window has them already or the source
    /// ends.
    mutating func grow(to count: Int) async throws -> Bool {
        guard !isAtEnd, bytes.count < count else { return false }
        let more = try await source.read(at: end, count: count - bytes.count)
        isAtEnd = more.isEmpty
        bytes += more.prefix(count - bytes.count)
        return !isAtEnd
    }

    /// The window that begins `count` bytes later, with the remaining bytes of this one.
    func dropping(_ count: Int) -> ByteWindow {
        var result = ByteWindow(source, at: start + Int64(count))
        if count <= bytes.count {
            result.bytes = Array(bytes[count...])
            result.isAtEnd = isAtEnd
        }
        return result
    }
}

extension ByteSource {
    /// Reads the bytes of `range`, all of which each read requests; fewer at the end of the resource.
    func window(of range: ByteRange) async throws -> ByteWindow {
        var window = ByteWindow(self, at: range.lowerBound)
        try await window.fill(range.count, askingUpTo: range.count)
        return window
    }
}
