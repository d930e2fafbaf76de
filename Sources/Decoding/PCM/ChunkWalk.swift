import Media

/// A chunk of a RIFF or IFF file.
struct Chunk: Equatable {
    /// Four characters.
    let name: String
    /// The offsets of the content, as the head states its size; up to `ChunkWalk.farthest` if it states no
    /// end.
    let content: ByteRange
    /// The start of the content, as far as it was wanted and the file has it.
    fileprivate(set) var bytes: [UInt8] = []
}

/// Walks the chunks of a RIFF or IFF file (Multimedia Programming Interface 1.0, 1991; EA IFF 85) and those
/// of RF64 and BW64 (EBU Tech 3306). Pure.
///
/// `wanted` are the bytes to read next; they go to `took`. A large stated size costs nothing: only heads are
/// read, and the starts of the contents that the caller names.
struct ChunkWalk {
    /// The most chunks that are walked; no ordinary file has so many.
    static let mostChunks = 512
    /// The end of a chunk that states none: larger than any file, but small enough for sums not to overflow.
    static let farthest: Int64 = 1 << 60
    private static let headByteCount: Int64 = 8
    /// The length of the head of the file: its mark, its size, and its type.
    private static let fileHeadByteCount: Int64 = 12
    /// The most bytes to read of `ds64`, the chunk with the sizes of an RF64 file: its fixed fields, and a
    /// table of up to eight chunks.
    private static let sizesByteCount: Int64 = 28 + 12 * 8

    private enum Place {
        case fileHead
        case chunkHead
        case content(Chunk)
        case end
    }

    /// The most bytes to read of a chunk's content, by the chunk's name.
    private let contents: [String: Int]
    private var place: Place
    /// The bytes to read next; `nil` at the end.
    private(set) var wanted: ByteRange?
    /// The mark and the type of the file, such as `RIFF` and `WAVE`; empty until its head is read.
    private(set) var mark = ""
    private(set) var type = ""
    /// The sizes of chunks that are larger than their heads can state, by the name of the chunk.
    private var largeSizes: [String: Int64] = [:]
    private var chunkCount = 0

    /// `true` if numbers begin with their most significant byte.
    var isBigEndian: Bool { mark == "FORM" }

    /// A walk over the file that begins at `offset`, which reads as many bytes of the chunks' contents as
    /// `contents` states for their names.
    init(at offset: Int64, contents: [String: Int]) {
        self.contents = contents
        place = .fileHead
        wanted = offset..<offset + Self.fileHeadByteCount
    }

    /// A walk over the chunks of the same file that follow `chunk`.
    func continued(after chunk: ByteRange) -> ChunkWalk {
        var walk = self
        walk.go(to: Self.end(of: chunk))
        return walk
    }

    /// Takes the bytes of `wanted`, or fewer. Returns a chunk if they complete it.
    ///
    /// Fewer bytes cut the content of a chunk short; a head of fewer bytes is the end of the file.
    mutating func took(_ bytes: some Collection<UInt8>) -> Chunk? {
        let bytes = Array(bytes)
        switch place {
        case .fileHead:
            guard bytes.count == Self.fileHeadByteCount, let start = wanted?.lowerBound else { return end() }
            mark = ID3Text.latin1(bytes[..<4])
            type = ID3Text.latin1(bytes[8...])
            go(to: start + Self.fileHeadByteCount)
            return nil
        case .chunkHead:
            guard bytes.count == Self.headByteCount, let start = wanted?.lowerBound else { return end() }
            return begin(bytes, at: start)
        case .content(var chunk):
            chunk.bytes = bytes
            if chunk.name == "ds64" { readSizes(bytes) }
            go(to: Self.end(of: chunk.content))
            return chunk
        case .end: return nil
        }
    }

    /// Takes the head of a chunk. Returns it if none of its content is wanted.
    private mutating func begin(_ head: [UInt8], at offset: Int64) -> Chunk? {
        chunkCount += 1
        let name = ID3Text.latin1(head[..<4])
        let stated = isBigEndian ? head[4...].bigEndianNumber : head[4...].littleEndianNumber
        let isUnknown = stated == UInt32.max
        let size = isUnknown ? largeSizes[name] ?? Self.farthest : stated
        let start = offset + Self.headByteCount
        let chunk = Chunk(name: name, content: start..<min(start + size, Self.farthest))
        let most = name == "ds64" ? Self.sizesByteCount : Int64(contents[name] ?? 0)
        guard most > 0, size > 0 else {
            go(to: Self.end(of: chunk.content))
            return chunk
        }
        place = .content(chunk)
        wanted = start..<min(start + most, chunk.content.upperBound)
        return nil
    }

    /// The content of `ds64`: 64-bit sizes of the file and of `data`, a count of frames, and a table of other
    /// chunks.
    private mutating func readSizes(_ bytes: [UInt8]) {
        func size(at index: Int) -> Int64? {
            guard index + 8 <= bytes.count else { return nil }
            let value = bytes[index..<index + 8].littleEndianNumber
            return (0...Self.farthest / 2).contains(value) ? value : nil
        }
        largeSizes["data"] = size(at: 8)
        for index in stride(from: 28, to: bytes.count - 11, by: 12) {
            largeSizes[ID3Text.latin1(bytes[index..<index + 4])] = size(at: index + 4)
        }
    }

    private mutating func go(to offset: Int64) {
        guard chunkCount < Self.mostChunks, offset < Self.farthest else {
            end()
            return
        }
        place = .chunkHead
        wanted = offset..<offset + Self.headByteCount
    }

    @discardableResult
    private mutating func end() -> Chunk? {
        place = .end
        wanted = nil
        return nil
    }

    /// The offset after the padding: contents of odd length are followed by one byte.
    private static func end(of content: ByteRange) -> Int64 {
        content.upperBound + (content.upperBound - content.lowerBound) % 2
    }
}
