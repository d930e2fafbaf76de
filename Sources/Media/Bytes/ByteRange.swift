/// A half-open range of byte offsets from the start of a resource.
///
/// `0..<0` is empty. In an HTTP `Range` header the end is the last byte instead; only the HTTP module
/// converts between the two.
package typealias ByteRange = Range<Int64>

/// Any set of byte offsets, as sorted ranges that neither overlap nor touch.
package typealias ByteRangeSet = RangeSet<Int64>

extension RangeSet<Int64> {
    /// The number of bytes in the set.
    package var byteCount: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// The parts of `range` that are not in the set, in order. Costs a binary search, then one step for each
    /// range of the set within `range`.
    package func gaps(in range: ByteRange) -> [ByteRange] {
        var gaps: [ByteRange] = []
        var offset = range.lowerBound
        let ranges = self.ranges
        var place = ranges.firstPlace(endingAfter: offset)
        while offset < range.upperBound, place < ranges.count, ranges[place].lowerBound < range.upperBound {
            if ranges[place].lowerBound > offset { gaps.append(offset..<ranges[place].lowerBound) }
            offset = ranges[place].upperBound
            place += 1
        }
        if offset < range.upperBound { gaps.append(offset..<range.upperBound) }
        return gaps
    }

    /// The range of the set that contains `offset`; `nil` if none does.
    package func range(around offset: Int64) -> ByteRange? {
        let ranges = self.ranges
        let place = ranges.firstPlace(endingAfter: offset)
        guard place < ranges.count, ranges[place].contains(offset) else { return nil }
        return ranges[place]
    }

    /// The part of `range(around:)` from `offset` on; `nil` if `offset` is not in the set.
    package func run(from offset: Int64) -> ByteRange? {
        range(around: offset).map { offset..<$0.upperBound }
    }

    /// `true` if every byte of `range` is in the set; an empty range always is.
    package func covers(_ range: ByteRange) -> Bool {
        guard !range.isEmpty else { return true }
        return (run(from: range.lowerBound)?.upperBound ?? 0) >= range.upperBound
    }
}

extension RangeSet<Int64>.Ranges {
    /// The index of the first range that ends after `offset`; the number of ranges if none does.
    fileprivate func firstPlace(endingAfter offset: Int64) -> Int {
        // Generic code, such as a search among the ranges themselves, would allocate memory for each one.
        indices.partitioningIndex { self[$0].upperBound > offset }
    }
}

extension RandomAccessCollection where Index == Int {
    /// The index of the first element that `isInSecondPart`; `endIndex` if none is. All elements before that
    /// one must not be, and all after it must be. A binary search.
    @inlinable
    package func partitioningIndex(where isInSecondPart: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if isInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
