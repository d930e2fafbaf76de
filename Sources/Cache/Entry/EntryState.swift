import Media

/// What an open entry knows of its bytes: pure, without files, threads or time.
///
/// A byte is in one of three states: missing; written, which this process alone knows of; or
/// committed, covered by an extent. `stored` holds the last two.
struct EntryState: Sendable {
    /// A piece that can be read in one go.
    enum Segment: Equatable {
        /// To be read whole and compared before any byte of it is used.
        case unchecked(Extent)
        /// Written by this process, or checked before.
        case plain(ByteRange)
    }

    private struct Known: Sendable {
        var extent: Extent
        var isChecked: Bool
    }

    /// Every byte that can be read.
    private(set) var stored = ByteRangeSet()
    private(set) var description: EntryDescription
    /// Sorted; never overlapping.
    private var extents: [Known] = []
    private var uncommitted = ByteRangeSet()
    private var descriptionNumber = 0
    private var committedDescriptionNumber = 0

    /// An entry as the index has it; of extents that overlap, the first counts.
    init(description: EntryDescription, extents: [Extent]) {
        self.description = description
        for extent in extents.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if let last = self.extents.last, last.extent.range.overlaps(extent.range) { continue }
            self.extents.append(Known(extent: extent, isChecked: false))
            stored.insert(contentsOf: extent.range)
        }
    }

    /// How many bytes a commit would claim.
    var uncommittedByteCount: Int64 { uncommitted.byteCount }

    /// Whether some extent is known.
    var hasExtents: Bool { !extents.isEmpty }

    /// The bytes of `range` that a write may put down: never one that is there already.
    func writable(in range: ByteRange) -> [ByteRange] { stored.gaps(in: range) }

    /// What to read for the bytes from `offset` on; nil when the byte there is missing.
    func segment(at offset: Int64) -> Segment? {
        guard let run = stored.run(from: offset) else { return nil }
        let index = firstExtent(endingAfter: offset)
        guard index < extents.count else { return .plain(run) }
        let known = extents[index]
        guard known.extent.range.contains(offset) else {
            return .plain(offset..<min(run.upperBound, known.extent.range.lowerBound))
        }
        return known.isChecked ? .plain(offset..<known.extent.range.upperBound) : .unchecked(known.extent)
    }

    mutating func bytesWritten(_ range: ByteRange) {
        stored.insert(contentsOf: range)
        uncommitted.insert(contentsOf: range)
    }

    mutating func described(_ description: EntryDescription) {
        guard description != self.description else { return }
        self.description = description
        descriptionNumber += 1
    }

    /// The extent was read and is what it was.
    mutating func extentChecked(_ extent: Extent) {
        let index = firstExtent(endingAfter: extent.range.lowerBound)
        guard index < extents.count, extents[index].extent == extent else { return }
        extents[index].isChecked = true
    }

    /// The extent is damaged: its bytes are missing from now on. Says whether it was still known.
    mutating func extentDropped(_ extent: Extent) -> Bool {
        let index = firstExtent(endingAfter: extent.range.lowerBound)
        guard index < extents.count, extents[index].extent == extent else { return false }
        extents.remove(at: index)
        stored.remove(contentsOf: extent.range)
        return true
    }

    /// The file no longer has `range`: its bytes are missing from now on, and so is all of each extent
    /// that reaches into it. Returns those extents; nil when nothing of `range` was known any more.
    mutating func bytesLost(_ range: ByteRange) -> [Extent]? {
        guard stored.gaps(in: range) != [range] else { return nil }
        let lost = extents.map(\.extent).filter { $0.range.overlaps(range) }
        extents.removeAll { $0.extent.range.overlaps(range) }
        for gone in lost.map(\.range) + [range] {
            stored.remove(contentsOf: gone)
            uncommitted.remove(contentsOf: gone)
        }
        return lost
    }

    /// Whether the byte at `offset` is covered by an extent.
    func isCommitted(at offset: Int64) -> Bool {
        let index = firstExtent(endingAfter: offset)
        return index < extents.count && extents[index].extent.range.contains(offset)
    }

    /// What a commit has to do now; nil for nothing.
    func commitPlan() -> CommitPlan? {
        let isDescribed = descriptionNumber != committedDescriptionNumber
        guard !uncommitted.isEmpty || isDescribed else { return nil }
        return CommitPlan(
            ranges: Array(uncommitted.ranges),
            description: isDescribed ? description : nil,
            descriptionNumber: descriptionNumber
        )
    }

    /// `plan` is durable: by `own` extents, and by those `others` claimed of the same bytes meanwhile.
    mutating func committed(_ plan: CommitPlan, own: [Extent], others: [Extent]) {
        for range in plan.ranges { uncommitted.remove(contentsOf: range) }
        committedDescriptionNumber = max(committedDescriptionNumber, plan.descriptionNumber)
        // The index is the truth: an extent that it no longer has gives way to the one it has.
        for extent in others where !extents.contains(where: { $0.extent == extent }) {
            extents.removeAll { $0.extent.range.overlaps(extent.range) }
            insert(Known(extent: extent, isChecked: false))
            stored.insert(contentsOf: extent.range)
            uncommitted.remove(contentsOf: extent.range)
        }
        // Own extents were hashed from the file a moment ago: that was their first check.
        // One that a read found lost while the commit ran is found damaged again by its next opener.
        for extent in own where stored.gaps(in: extent.range).isEmpty {
            insert(Known(extent: extent, isChecked: true))
        }
    }

    /// The disk refused to keep what was written: nothing of it can be trusted, not even to be read.
    mutating func flushFailed() {
        for range in uncommitted.ranges { stored.remove(contentsOf: range) }
        uncommitted = ByteRangeSet()
    }

    private mutating func insert(_ known: Known) {
        extents.insert(known, at: firstExtent(endingAfter: known.extent.range.lowerBound))
    }

    /// The index of the first extent whose end lies behind `offset`.
    private func firstExtent(endingAfter offset: Int64) -> Int {
        var low = 0
        var high = extents.count
        while low < high {
            let middle = (low + high) / 2
            if extents[middle].extent.range.upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
