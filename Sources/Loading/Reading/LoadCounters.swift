import Media

/// What one open of a resource read and received.
struct LoadCounters: Sendable {
    let storedAtOpen: ByteRangeSet
    private var readFromStored = ByteRangeSet()
    private(set) var cachedBytes: Int64 = 0
    var fetchedBytes: Int64 = 0
    var requestCount = 0

    init(storedAtOpen: ByteRangeSet = ByteRangeSet()) { self.storedAtOpen = storedAtOpen }

    /// Counts the bytes of `range` that were stored before this open, each once.
    mutating func read(_ range: ByteRange) {
        guard !storedAtOpen.isEmpty, !readFromStored.covers(range) else { return }
        var before = ByteRangeSet(range)
        for gap in storedAtOpen.gaps(in: range) { before.remove(contentsOf: gap) }
        for piece in before.ranges {
            for new in readFromStored.gaps(in: piece) { cachedBytes += Int64(new.count) }
            readFromStored.insert(contentsOf: piece)
        }
    }
}
