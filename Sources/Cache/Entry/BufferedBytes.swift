import Media

/// Bytes in memory at their offsets.
struct BufferedBytes: Sendable {
    private struct Piece: Sendable {
        var start: Int64
        var bytes: [UInt8]
        var end: Int64 { start + Int64(bytes.count) }
    }

    /// The size up to which a piece grows. The rest of a piece is copied when its front is removed, so larger
    /// ones cost more.
    private static let pieceSize = 64 * 1024

    /// Sorted; never overlapping.
    private var pieces: [Piece] = []
    private(set) var ranges = ByteRangeSet()
    private(set) var count: Int64 = 0

    var isEmpty: Bool { pieces.isEmpty }

    /// Adds bytes at offsets that are missing.
    mutating func insert(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        guard !bytes.isEmpty else { return }
        let range = offset..<offset + Int64(bytes.count)
        precondition(ranges.gaps(in: range) == [range], "bytes in memory are never overwritten")
        let index = firstPiece(endingAfter: offset)
        if index > 0, pieces[index - 1].end == offset, pieces[index - 1].bytes.count < Self.pieceSize {
            pieces[index - 1].bytes += bytes
        } else {
            pieces.insert(Piece(start: offset, bytes: Array(bytes)), at: index)
        }
        ranges.insert(contentsOf: range)
        count += Int64(bytes.count)
    }

    /// Up to `count` bytes from `offset` on, fewer at the end of a piece; `nil` if there are none.
    func bytes(at offset: Int64, count: Int) -> ArraySlice<UInt8>? {
        let index = firstPiece(endingAfter: offset)
        guard index < pieces.count, pieces[index].start <= offset else { return nil }
        return pieces[index].bytes[Int(offset - pieces[index].start)...].prefix(count)
    }

    /// All bytes of `range`, none of which may be missing.
    func bytes(of range: ByteRange) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(range.count)
        while all.count < range.count {
            let offset = range.lowerBound + Int64(all.count)
            guard let piece = bytes(at: offset, count: range.count - all.count) else {
                preconditionFailure("a plan names only bytes that are there")
            }
            all += piece
        }
        return all
    }

    /// The first `count` bytes, or up to one block fewer so that no block is split; all bytes if there are
    /// fewer than `count`.
    ///
    /// If that would leave nothing, the block is split after all: the result has at least one byte.
    func first(_ count: Int64) -> BufferedBytes {
        var left = count
        for range in ranges.ranges {
            guard left <= Int64(range.count) else {
                left -= Int64(range.count)
                continue
            }
            let end = range.lowerBound + left
            let even = end - end % Extent.blockSize
            var part = self
            part.remove(max(even, range.lowerBound)..<Int64.max)
            if part.isEmpty {
                part = self
                part.remove(end..<Int64.max)
            }
            return part
        }
        return self
    }

    /// Removes the bytes of `range`.
    mutating func remove(_ range: ByteRange) {
        guard !range.isEmpty else { return }
        let first = firstPiece(endingAfter: range.lowerBound)
        var last = first
        var left: [Piece] = []
        while last < pieces.count, pieces[last].start < range.upperBound {
            let piece = pieces[last]
            if piece.start < range.lowerBound {
                let bytes = piece.bytes.prefix(Int(range.lowerBound - piece.start))
                left.append(Piece(start: piece.start, bytes: Array(bytes)))
            }
            if piece.end > range.upperBound {
                let bytes = piece.bytes.suffix(Int(piece.end - range.upperBound))
                left.append(Piece(start: range.upperBound, bytes: Array(bytes)))
            }
            count -= Int64(piece.bytes.count)
            last += 1
        }
        count += left.reduce(0) { $0 + Int64($1.bytes.count) }
        pieces.replaceSubrange(first..<last, with: left)
        ranges.remove(contentsOf: range)
    }

    /// The index of the first piece that ends after `offset`.
    private func firstPiece(endingAfter offset: Int64) -> Int {
        pieces.firstIndex(endingAfter: offset) { $0.end }
    }
}

extension Array {
    /// The index of the first of these sorted elements that ends after `offset`; the number of elements if
    /// none does.
    func firstIndex(endingAfter offset: Int64, by end: (Element) -> Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if end(self[middle]) <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
