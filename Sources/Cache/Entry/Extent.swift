import Media

/// A committed part of an entry, immutable and inside one block.
///
/// A block that two commits filled has two extents. They are not joined: that would compute a new check over
/// bytes that were not verified.
struct Extent: Sendable, Equatable {
    /// The size of a block. An extent lies inside one block, so reading a byte checks at most this
    /// many.
    static let blockSize: Int64 = 64 * 1024

    let range: ByteRange
    let check: ExtentCheck

    init(range: ByteRange, check: ExtentCheck) {
        self.range = range
        self.check = check
    }

    /// An extent from the index; `nil` if it is invalid.
    init?(start: Int64, end: Int64, check: [UInt8]) {
        guard start >= 0, start < end, start / Self.blockSize == (end - 1) / Self.blockSize,
            let check = ExtentCheck(bytes: check)
        else { return nil }
        self.init(range: start..<end, check: check)
    }

    /// `range`, divided at the block boundaries.
    static func pieces(of range: ByteRange) -> [ByteRange] {
        var pieces: [ByteRange] = []
        var start = range.lowerBound
        while start < range.upperBound {
            // Computed from the last byte, because the end of the last possible block does not fit an
            // `Int64`.
            let end = min(range.upperBound - 1, start - start % blockSize + (blockSize - 1)) + 1
            pieces.append(start..<end)
            start = end
        }
        return pieces
    }
}

/// The bytes that check an extent: a BLAKE2b-128 digest, or the nonce and tag of a sealed one.
///
/// Stored in words: an entry has thousands of extents, and arrays would need an allocation for each.
struct ExtentCheck: Hashable, Sendable {
    /// The 24 bytes of XChaCha20's nonce.
    struct Nonce: Hashable, Sendable {
        let first: UInt64
        let second: UInt64
        let third: UInt64
    }

    /// `nil` if the extent is not sealed.
    let nonce: Nonce?
    let high: UInt64
    let low: UInt64

    /// `nil` unless there are 16 bytes, or the 40 of a sealed extent.
    init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 || bytes.count == 40 else { return nil }
        let bytes = Array(bytes)
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        nonce = bytes.count == 40 ? Nonce(first: word(0), second: word(8), third: word(16)) : nil
        high = word(bytes.count - 16)
        low = word(bytes.count - 8)
    }

    var bytes: [UInt8] { nonceBytes + Self.bytes(of: [high, low]) }

    /// 24 bytes; none if the extent is not sealed.
    var nonceBytes: [UInt8] { nonce.map { Self.bytes(of: [$0.first, $0.second, $0.third]) } ?? [] }

    /// The digest or the tag: 16 bytes.
    var tagBytes: [UInt8] { Self.bytes(of: [high, low]) }

    private static func bytes(of words: [UInt64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }
}
