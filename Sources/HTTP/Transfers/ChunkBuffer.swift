/// Body bytes that came and were not taken yet, in the pieces that `next` will hand out.
struct ChunkBuffer {
    /// Small pieces are merged up to this size, so that a reader has few large ones to handle.
    static let largestChunk = 64 * 1024

    private var chunks: [[UInt8]] = []
    private(set) var byteCount = 0

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        byteCount += bytes.count
        if let last = chunks.indices.last, chunks[last].count + bytes.count <= Self.largestChunk {
            chunks[last].append(contentsOf: bytes)
        } else {
            chunks.append(Array(bytes))
        }
    }

    /// The oldest piece; nil when there is none.
    mutating func takeFirst() -> [UInt8]? {
        guard !chunks.isEmpty else { return nil }
        let first = chunks.removeFirst()
        byteCount -= first.count
        return first
    }

    mutating func removeAll() {
        chunks = []
        byteCount = 0
    }
}
