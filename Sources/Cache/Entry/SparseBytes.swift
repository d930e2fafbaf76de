import Media

/// Bytes in memory at any offsets, as blocks that are allocated when they are needed.
struct SparseBytes: Sendable {
    private static let blockSize = Extent.blockSize

    /// The blocks with at least one byte, by offset divided by the block size.
    private var blocks: [Int64: [UInt8]] = [:]
    /// The offsets that have a byte.
    private(set) var ranges = ByteRangeSet()

    var isEmpty: Bool { ranges.isEmpty }
    var count: Int64 { ranges.byteCount }

    /// Adds bytes at offsets that have none.
    mutating func insert(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        let range = offset..<offset + Int64(bytes.count)
        precondition(range.isEmpty || ranges.gaps(in: range) == [range], "bytes are never overwritten")
        for piece in Extent.pieces(of: range) {
            let start = bytes.startIndex + Int(piece.lowerBound - offset)
            let place = Int(piece.lowerBound % Self.blockSize)
            let block = piece.lowerBound / Self.blockSize
            blocks[block, default: [UInt8](repeating: 0, count: Int(Self.blockSize))].replaceSubrange(
                place..<place + piece.count,
                with: bytes[start..<start + piece.count]
            )
        }
        ranges.insert(contentsOf: range)
    }

    /// Up to `count` bytes from `offset` on, fewer at the end of a block; `nil` if there is none at `offset`.
    func bytes(at offset: Int64, count: Int) -> ArraySlice<UInt8>? {
        guard let run = ranges.run(from: offset), let block = blocks[offset / Self.blockSize] else {
            return nil
        }
        let place = Int(offset % Self.blockSize)
        return block[place..<min(block.count, place + min(count, run.count))]
    }

    /// All bytes of `range`, none of which may be missing.
    func bytes(of range: ByteRange) -> [UInt8] {
        Extent.pieces(of: range).flatMap { piece in
            guard let bytes = bytes(at: piece.lowerBound, count: piece.count), bytes.count == piece.count
            else { preconditionFailure("a plan names only bytes that are there") }
            return bytes
        }
    }

    /// The first `count` bytes, or up to one block fewer so that no block is split; all bytes if there are
    /// fewer than `count`.
    ///
    /// If that would leave nothing, the block is split after all: the result has at least one byte.
    func first(_ count: Int64) -> SparseBytes {
        var left = count
        for range in ranges.ranges {
            guard left <= Int64(range.count) else {
                left -= Int64(range.count)
                continue
            }
            let end = range.lowerBound + left
            let even = max(end - end % Self.blockSize, range.lowerBound)
            var part = self
            part.remove((ranges.ranges.first?.lowerBound == even ? end : even)..<Int64.max)
            return part
        }
        return self
    }

    /// Removes the bytes of `range`.
    mutating func remove(_ range: ByteRange) {
        let removed = ranges.intersection(ByteRangeSet(range))
        ranges.remove(contentsOf: range)
        for piece in removed.ranges.flatMap(Extent.pieces) {
            let block = piece.lowerBound / Self.blockSize
            let first = block * Self.blockSize
            let last = block * Self.blockSize + (Self.blockSize - 1)
            if ranges.gaps(in: first..<last) == [first..<last], !ranges.contains(last) { blocks[block] = nil }
        }
    }
}
