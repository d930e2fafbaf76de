import Media

/// A committed piece of an entry: the unit of truth.
///
/// Immutable, and inside one block. Where two commits meet in a block, the block has two extents;
/// joining them would mean to claim bytes anew that nobody looked at.
struct Extent: Sendable, Equatable {
    /// An extent stays inside one block, so that a single read checks at most this much.
    static let blockSize: Int64 = 64 * 1024

    let range: ByteRange
    let check: ExtentCheck

    init(range: ByteRange, check: ExtentCheck) {
        self.range = range
        self.check = check
    }

    /// An extent as the index gives it; nil when it breaks a rule that every extent keeps.
    init?(start: Int64, end: Int64, check: [UInt8]) {
        guard start >= 0, start < end, start / Self.blockSize == (end - 1) / Self.blockSize,
            let check = ExtentCheck(bytes: check)
        else { return nil }
        self.init(range: start..<end, check: check)
    }

    /// `range`, cut at the borders of the blocks.
    static func pieces(of range: ByteRange) -> [ByteRange] {
        var pieces: [ByteRange] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(range.upperBound, (start / blockSize + 1) * blockSize)
            pieces.append(start..<end)
            start = end
        }
        return pieces
    }
}
