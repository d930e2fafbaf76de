import Media

/// The parts of a stream whose entry is open: where they are, and which of their bytes may be committed.
/// Pure.
struct PartsState: Sendable {
    /// The changes that the next commit writes to the index.
    struct Changes: Sendable {
        fileprivate(set) var rows: [PartKey: PartRow] = [:]
        fileprivate(set) var table: StreamTable?
        /// `true` if the entry is a stream, whether that has changed or not.
        fileprivate(set) var isStream = false

        fileprivate var isEmpty: Bool { rows.isEmpty && table == nil }

        func put(into parts: PartsTable, of entry: EntryID) throws {
            for (key, row) in rows { try parts.put(row, as: key, of: entry) }
            if let table { try parts.put(table, of: entry) }
        }
    }

    /// The segments of the stream; `nil` until it is known that there are any.
    private(set) var table: StreamTable?
    /// The resources with segments, in the order of these.
    private(set) var places: [PartPlace]
    private(set) var changes = Changes()
    /// The bytes outside of all regions that may be committed; `nil` for all. In an entry that is no stream,
    /// these are all bytes.
    var ownProven: ByteRangeSet?
    /// The regions whose bytes may be committed in part only, and these bytes.
    private var limits: [(region: ByteRange, proven: ByteRangeSet)] = []

    init(table: StreamTable? = nil, places: [PartPlace] = []) {
        self.table = table
        self.places = places
        changes.isStream = table != nil
    }

    var hasChanges: Bool { !changes.isEmpty }
    var isStream: Bool { changes.isStream }

    /// The bytes of the object that may be committed; `nil` for all.
    var proven: ByteRangeSet? {
        guard !limits.isEmpty || ownProven != nil else { return nil }
        var all = ByteRangeSet(0..<Int64.max)
        if let ownProven {
            all = changes.isStream ? ByteRangeSet(PartsTable.firstOffset..<Int64.max) : ByteRangeSet()
            all.formUnion(ownProven)
        }
        return limits.reduce(into: all) { proven, limit in
            proven.remove(contentsOf: limit.region)
            proven.formUnion(limit.proven)
        }
    }

    /// Of the bytes in `region`, only `proven` may be committed; `nil` for all.
    mutating func limit(_ region: ByteRange, to proven: ByteRangeSet?) {
        limits.removeAll { $0.region == region }
        if let proven { limits.append((region, proven)) }
    }

    /// The list was read.
    mutating func described(_ table: StreamTable) {
        guard table != self.table else { return }
        self.table = table
        changes.table = table
        changes.isStream = true
    }

    /// A part was found in the index, or added to it.
    mutating func found(_ row: PartRow, as key: PartKey) {
        changes.isStream = true
        guard key.kind == .segments else { return }
        let number = Int(key.number)
        let place = PartPlace(segment: number, region: row.region, length: row.description.length)
        let index = places.partitioningIndex { $0.segment >= number }
        if index < places.count, places[index].segment == number {
            places[index] = place
        } else {
            places.insert(place, at: index)
        }
    }

    /// The description of a part has changed.
    mutating func described(_ row: PartRow, as key: PartKey) {
        found(row, as: key)
        changes.rows[key] = row
    }

    /// A part was removed from the index. None of its bytes is committed any more.
    mutating func removed(_ key: PartKey, at region: ByteRange) {
        changes.rows[key] = nil
        if key.kind == .segments { places.removeAll { $0.segment == Int(key.number) } }
        limit(region, to: ByteRangeSet())
    }

    /// `changes` are in the index now.
    mutating func committed(_ changes: Changes) {
        for (key, row) in changes.rows where self.changes.rows[key] == row { self.changes.rows[key] = nil }
        if changes.table == self.changes.table { self.changes.table = nil }
    }
}
