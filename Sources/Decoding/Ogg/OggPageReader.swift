import Media

/// Reads the pages of a resource, one after the other.
final class OggPageReader {
    private let source: any ByteSource
    /// The walk over the bytes that were read.
    private(set) var walk: OggPageWalk
    private var lastEnd: Int64
    private var isAtEnd = false

    /// A reader that begins at `offset`, where `bytes` were read already.
    init(_ source: any ByteSource, at offset: Int64, holding bytes: [UInt8] = []) {
        self.source = source
        walk = OggPageWalk(at: offset, holding: bytes)
        lastEnd = offset
    }

    /// Returns `page`, the last result of `next`, from the next call too.
    func goBack(to page: OggPageWalk.Found) { walk.goBack(to: page) }

    /// The next intact page; `nil` at the end of the resource, and if no page begins within `limit` bytes.
    func next(within limit: Int64 = .max) async throws -> OggPageWalk.Found? {
        while true {
            if let found = walk.next() {
                lastEnd = found.end
                return found
            }
            if isAtEnd {
                guard walk.ended() else { return nil }
                continue
            }
            guard walk.end - lastEnd < limit else { return nil }
            let bytes = try await source.read(at: walk.end, count: ByteWindow.playingByteCount)
            isAtEnd = bytes.isEmpty
            walk.add(bytes)
        }
    }
}
