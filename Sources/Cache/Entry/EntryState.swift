import Media

/// The state of the bytes of an open entry. Pure: no files, threads or time.
///
/// A byte is missing, buffered (only in this process's memory), or committed (covered by an extent).
struct EntryState: Sendable {
    /// Bytes that can be read in one operation.
    enum Segment: Equatable {
        case buffered(ArraySlice<UInt8>)
        /// In the file. Unless `isChecked`, the whole extent must be read and checked before any of its bytes
        /// is used.
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
    private var buffer = SparseBytes()
    /// The bytes that may be committed; `nil` for all.
    private(set) var proven: ByteRangeSet?
    /// The parts of a stream, as far as they were opened.
    private(set) var parts = PartsState()
    /// The description that the index had when it was last read.
    private var seen: EntryDescription
    private var descriptionNumber = 0
    private var committedDescriptionNumber = 0
    /// `true` if another store has added bytes that this one lacked, since the entry was opened.
    private(set) var isShared = false
    /// Damaged extents. The index may still list them until their claims are withdrawn.
    private var dropped: [Extent] = []

    /// An entry as read from the index; of overlapping extents, the first is used.
    init(description: EntryDescription, extents: [Extent], parts: PartsState = PartsState()) {
        self.description = description
        self.parts = parts
        seen = description
        for extent in extents.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            if let last = self.extents.last, last.extent.range.overlaps(extent.range) { continue }
            self.extents.append(Known(extent: extent, isChecked: false))
            committed.insert(contentsOf: extent.range)
        }
    }

    /// All bytes that can be read.
    var stored: ByteRangeSet { buffer.isEmpty ? committed : committed.union(buffer.ranges) }

    /// The bytes of `range` that can be read.
    func stored(in range: ByteRange) -> ByteRangeSet {
        var stored = ByteRangeSet(range)
        for gap in gaps(in: range) { stored.remove(contentsOf: gap) }
        return stored
    }

    /// Changes the parts, and allows to commit what each of them has proven.
    mutating func changeParts(_ change: (inout PartsState) -> Void) {
        change(&parts)
        proven = parts.proven
    }

    /// How many bytes a commit would claim.
    var bufferedByteCount: Int64 {
        proven.map { buffer.ranges.intersection($0).byteCount } ?? buffer.count
    }

    /// How many bytes a commit would leave in memory because they are not proven, if those of `range` were
    /// written.
    func heldByteCount(adding range: ByteRange) -> Int64 {
        proven.map { buffer.ranges.union(ByteRangeSet(range)).subtracting($0).byteCount } ?? 0
    }

    /// The missing bytes of `range`, which a write may fill.
    func gaps(in range: ByteRange) -> [ByteRange] {
        committed.gaps(in: range).flatMap { buffer.ranges.gaps(in: $0) }
    }

    /// Up to `count` bytes from `offset` on, or the extent that contains them; `nil` if the byte there is
    /// missing.
    func segment(at offset: Int64, count: Int) -> Segment? {
        if let bytes = buffer.bytes(at: offset, count: count) { return .buffered(bytes) }
        let index = firstExtent(endingAfter: offset)
        guard index < extents.count, extents[index].extent.range.contains(offset) else { return nil }
        return .committed(extents[index].extent, isChecked: extents[index].isChecked)
    }

    /// Bytes were written to a gap.
    mutating func bytesWritten(_ bytes: ArraySlice<UInt8>, at offset: Int64) {
        buffer.insert(bytes, at: offset)
    }

    mutating func described(_ description: EntryDescription) {
        guard description != self.description else { return }
        self.description = description
        descriptionNumber += 1
    }

    /// The extent was read and passed its check.
    mutating func extentChecked(_ extent: Extent) {
        let index = firstExtent(endingAfter: extent.range.lowerBound)
        guard index < extents.count, extents[index].extent == extent else { return }
        extents[index].isChecked = true
    }

    /// The extent is damaged: its bytes are missing from now on. Returns `false` if it was dropped before.
    mutating func extentDropped(_ extent: Extent) -> Bool {
        let index = firstExtent(endingAfter: extent.range.lowerBound)
        guard index < extents.count, extents[index].extent == extent else { return false }
        extents.remove(at: index)
        committed.remove(contentsOf: extent.range)
        dropped.append(extent)
        return true
    }

    /// `true` if the entry now holds another version of the resource.
    func isForeign(_ row: EntryRow) -> Bool { row.isForeign(to: description, since: seen) }

    /// Takes over extents of the entry that other stores may have added, unless they may be of another
    /// version than this store's.
    mutating func indexSeen(_ row: EntryRow, _ extents: [Extent]) {
        if isSameVersion(row.description) { extentsSeen(extents) }
    }

    /// `false` if the index's `description` has changed, and this store has no length or validator yet.
    private func isSameVersion(_ description: EntryDescription) -> Bool {
        self.description.length != nil || !self.description.validators.isEmpty
            || !description.isOtherVersion(than: seen)
    }

    /// Takes over extents of the entry.
    mutating func extentsSeen(_ extents: [Extent]) {
        for extent in extents where !dropped.contains(extent) { adopt(extent) }
    }

    /// Switches to another entry with the same resource, which has `description` and `extents`.
    ///
    /// The buffered bytes, and `bytes`, which were committed to the former entry, are buffered for the next
    /// commit if the other entry lacks them.
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
        known.facts.merge(description.facts) { own, _ in own }
        changed.described(known)
        changed.parts = parts
        changed.proven = proven
        self = changed
    }

    /// The next commit; `nil` if there is nothing to commit.
    func commitPlan() -> CommitPlan? {
        let isDescribed = descriptionNumber != committedDescriptionNumber
        var bytes = buffer
        if let proven { for range in bytes.ranges.subtracting(proven).ranges { bytes.remove(range) } }
        guard !bytes.isEmpty || isDescribed || parts.hasChanges else { return nil }
        return CommitPlan(
            bytes: bytes,
            description: description,
            seen: seen,
            committedBytes: committed.byteCount,
            descriptionNumber: descriptionNumber,
            isDescribed: isDescribed,
            parts: parts.changes
        )
    }

    /// The bytes of `plan` are durable. The index now has `description` and `extents`, those of other stores
    /// included.
    mutating func committed(_ plan: CommitPlan, extents: [Extent], description: EntryDescription) {
        committedDescriptionNumber = max(committedDescriptionNumber, plan.descriptionNumber)
        parts.committed(plan.parts)
        let durable = extents.filter { plan.bytes.ranges.gaps(in: $0.range) != [$0.range] }
        dropped.removeAll { durable.contains($0) }
        // Extents of our own are unchecked too: the first read detects what the disk failed to store.
        extentsSeen(isSameVersion(description) ? extents : durable)
        seen = description
        for range in plan.bytes.ranges.ranges { buffer.remove(range) }
    }

    /// Adds an extent of the index. It replaces overlapping ones, which are no longer in the index.
    private mutating func adopt(_ extent: Extent) {
        var index = firstExtent(endingAfter: extent.range.lowerBound)
        if index < extents.count, extents[index].extent == extent { return }
        if !gaps(in: extent.range).isEmpty { isShared = true }
        while index < extents.count, extents[index].extent.range.overlaps(extent.range) {
            committed.remove(contentsOf: extents.remove(at: index).extent.range)
            index = firstExtent(endingAfter: extent.range.lowerBound)
        }
        extents.insert(Known(extent: extent, isChecked: false), at: index)
        committed.insert(contentsOf: extent.range)
        buffer.remove(extent.range)
    }

    /// The index of the first extent that ends after `offset`; the number of extents if none does.
    private func firstExtent(endingAfter offset: Int64) -> Int {
        extents.partitioningIndex { $0.extent.range.upperBound > offset }
    }
}

/// The bytes and the description that one commit makes durable.
struct CommitPlan: Sendable {
    /// The bytes to commit, which were buffered when the commit began.
    var bytes: SparseBytes
    /// The resource as this store knows it.
    var description: EntryDescription
    /// The description that the index had when it was last read.
    var seen: EntryDescription
    /// The number of bytes that this store knows to be committed, before this commit. Others have added or
    /// removed some if the index has another number.
    var committedBytes: Int64
    /// The number of the description: a newer one may arrive during the commit.
    var descriptionNumber: Int
    /// `true` if the description has changed since the last commit.
    var isDescribed: Bool
    /// The parts, and the stream, that have changed since then.
    var parts = PartsState.Changes()
    /// The length of the resource; `nil` if it is unknown, as that of a stream is.
    var length: Int64? { parts.isStream ? nil : description.length }

    /// This plan with only the first `count` bytes, at least one.
    func first(_ count: Int64) -> CommitPlan {
        var part = self
        part.bytes = bytes.first(count)
        return part
    }
}
