/// A half-open range of byte offsets from the start of a resource.
///
/// `0..<0` is empty. An HTTP `Range` header counts its end inclusively; only the
/// HTTP module converts between the two.
package typealias ByteRange = Range<Int64>

/// Any set of byte offsets, kept as sorted ranges that neither overlap nor touch.
package typealias ByteRangeSet = RangeSet<Int64>

extension RangeSet<Int64> {
    /// How many bytes the set holds.
    package var byteCount: Int64 {
        ranges.reduce(0) { $0 + Int64($1.count) }
    }

    /// The parts of `range` that the set does not hold, in order.
    package func gaps(in range: ByteRange) -> [ByteRange] {
        guard !range.isEmpty else { return [] }
        return Array(RangeSet(range).subtracting(self).ranges)
    }

    /// The part of the set's range around `offset` that starts at `offset`, or nil where `offset` is missing.
    package func run(from offset: Int64) -> ByteRange? {
        let ranges = self.ranges
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            let range = ranges[middle]
            if range.contains(offset) { return offset..<range.upperBound }
            if range.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Whether every byte of `range` is in the set; an empty range always is.
    package func covers(_ range: ByteRange) -> Bool {
        guard !range.isEmpty else { return true }
        return (run(from: range.lowerBound)?.upperBound ?? 0) >= range.upperBound
    }
}

extension Range<Int64> {
    /// The bytes that both ranges hold; empty, at this range's nearer end, when there are none.
    package func intersection(_ other: ByteRange) -> ByteRange { clamped(to: other) }
}
