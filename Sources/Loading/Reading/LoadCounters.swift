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
        if readFromStored.covers(range) { return }
        let before = storedAtOpen.intersection(RangeSet(range)).subtracting(readFromStored)
        guard !before.isEmpty else { return }
        cachedBytes += before.byteCount
        readFromStored.formUnion(before)
    }
}
