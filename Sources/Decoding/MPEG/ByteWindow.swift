import Media

/// A stretch of a source's bytes that grows at its end.
struct ByteWindow {
    private let source: any ByteSource
    /// The offset of the first byte.
    let start: Int64
    private(set) var bytes: [UInt8] = []
    /// Whether the source ends where the window ends.
    private(set) var isAtEnd = false

    init(_ source: any ByteSource, at start: Int64) {
        self.source = source
        self.start = start
    }

    /// The offset behind the last byte.
    var end: Int64 { start + Int64(bytes.count) }

    /// Reads until `count` bytes are there or the source ends, each time asking for all up to `limit`.
    mutating func fill(_ count: Int, askingUpTo limit: Int) async throws {
        while bytes.count < count, try await grow(to: max(count, limit)) {}
    }

    /// Reads on, once, as far as `count` bytes from the start; false when that is there or nothing more comes.
    mutating func grow(to count: Int) async throws -> Bool {
        guard !isAtEnd, bytes.count < count else { return false }
        let more = try await source.read(at: end, count: count - bytes.count)
        isAtEnd = more.isEmpty
        bytes += more.prefix(count - bytes.count)
        return !isAtEnd
    }

    /// The window that begins `count` bytes later, with the bytes that are there already.
    func dropping(_ count: Int) -> ByteWindow {
        var result = ByteWindow(source, at: start + Int64(count))
        if count <= bytes.count {
            result.bytes = Array(bytes[count...])
            result.isAtEnd = isAtEnd
        }
        return result
    }
}
