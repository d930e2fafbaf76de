import Media

/// What an open entry knows of its bytes: pure, without files, threads or time.
///
/// A byte is missing; or buffered, in this process's memory alone; or committed, covered by an extent.
struct EntryState: Sendable {
    /// A piece that can be read in one go.
    enum Segment: Equatable {
        /// Here they are.
        case buffered(ArraySlice<UInt8>)
        /// In the file. Unless checked, to be read whole and compared before any byte of it is used.
        case committed(Extent, isChecked: Bool)
    }

    private struct Known: Sendable {
        var extent: Extent
        var isChecked: Bool
    }

    private(set) var description: EntryDescription
    /// Sorted; never overlapping.
    private var extents: [Known] = []
    private(set) var committed = ByteRangeSet()
    /// Never overlaps what is committed.
    private var buffer = BufferedBytes()
    /// What the index said of the resource when it was last seen.
    private var seen: EntryDescription
    private var descriptionNumber = 0
    private var committedDescriptionNumber = 0
    /// Extents that proved damaged: the index may name them until the claim is withdrawn.
    private var dropped: [Extent] = []

    /// An entry as the index has it; of extents that overlap, the first counts.
    init(description: EntryDescription, extents: [Extent]) {
        self.description = description
        seen = description
        for extent in extents.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if let last = self.extents.last, last.extent.range.overlaps(extent.range) { continue }
            self.extents.append(Known(extent: extent, isChecked: false))
            committed.insert(contentsOf: extent.range)
        }
    }

    /// Every byte that can be read.
    var stored: ByteRangeSet { buffer.isEmpty ? committed : committed.union(buffer.ranges) }

    /// How many bytes a commit would claim.
    var bufferedByteCount: Int64 { buffer.count }

    /// The bytes of `range` that are missing: those a write may put down.
    func gaps(in range: ByteRange) -> [ByteRange] {
        committed.gaps(in: range).flatMap { buffer.ranges.gaps(in: $0) }
    }

    /// Up to `count` bytes from `offset` on, or where they are; nil when the byte there is missing.
    func segment(at offset: Int64, count: Int) -> Segment? {
        if let bytes = buffer.bytes(at: offset, count: count) { return .buffered(bytes) }
        let index = firstExtent(endingAfter: offset)
        guard index < extents.count, extents[index].extent.range.contains(offset) else { return nil }
        return .committed(extents[index].extent, isChecked: extents[index].isChecked)
    }

    /// Bytes came for a gap.
    mutating func bytesWritten(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        buffer.insert(bytes, at: offset)
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
        committed.remove(contentsOf: extent.range)
        dropped.append(extent)
        return true
    }

    /// The index was asked and has these extents, some of them perhaps of other processes.
    mutating func extentsSeen(_ extents: [Extent]) {
        for extent in extents where !dropped.contains(extent) { adopt(extent) }
    }

    /// Another entry, with `description` and `extents`, holds the same resource and takes the place of this one.
    ///
    /// What it lacks of the buffered bytes and of `bytes`, which the former entry had committed, is still to be
    /// committed.
    mutating func entryChanged(
        to description: EntryDescription,
        extents: [Extent],
        adding bytes: [(offset: Int64, bytes: [UInt8])]
    ) {
        var changed = EntryState(description: description, extents: extents)
        let buffered = buffer.ranges.ranges.map { (offset: $0.lowerBound, bytes: buffer.bytes(of: $0)) }
        for (offset, bytes) in bytes + buffered {
            for gap in changed.gaps(in: offset..<offset + Int64(bytes.count)) {
                let start = Int(gap.lowerBound - offset)
                changed.bytesWritten(bytes[start..<start + gap.count], at: gap.lowerBound)
            }
        }
        var known = self.description.completed(by: description)
        if known.seekTable.isEmpty { known.seekTable = description.seekTable }
        changed.described(known)
        self = changed
    }

    /// What a commit has to do now; nil for nothing.
    func commitPlan() -> CommitPlan? {
        let isDescribed = descriptionNumber != committedDescriptionNumber
        guard !buffer.isEmpty || isDescribed else { return nil }
        return CommitPlan(
            bytes: buffer,
            description: description,
            seen: seen,
            descriptionNumber: descriptionNumber,
            isDescribed: isDescribed
        )
    }

    /// `plan` is durable, by `extents`: own ones, and those that others claimed of the same bytes
    /// meanwhile. The index says `description` of the resource now.
    mutating func committed(_ plan: CommitPlan, as extents: [Extent], description: EntryDescription) {
        committedDescriptionNumber = max(committedDescriptionNumber, plan.descriptionNumber)
        seen = description
        dropped.removeAll { extents.contains($0) }
        // Not checked yet, own ones neither: what a disk made of them shows when they are first read.
        for extent in extents { adopt(extent) }
        for range in plan.bytes.ranges.ranges { buffer.remove(range) }
    }

    /// The index is the truth: an extent that it does not have gives way to the one it has.
    private mutating func adopt(_ extent: Extent) {
        var index = firstExtent(endingAfter: extent.range.lowerBound)
        if index < extents.count, extents[index].extent == extent { return }
        while index < extents.count, extents[index].extent.range.overlaps(extent.range) {
            committed.remove(contentsOf: extents.remove(at: index).extent.range)
            index = firstExtent(endingAfter: extent.range.lowerBound)
        }
        extents.insert(Known(extent: extent, isChecked: false), at: index)
        committed.insert(contentsOf: extent.range)
        buffer.remove(extent.range)
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
