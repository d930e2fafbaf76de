import Media
import System

/// The table `extents`: which bytes are committed. Maintains the sums `stored` and `prefix` in `entries`.
struct ExtentsTable {
    private let connection: SQLiteConnection

    init(connection: SQLiteConnection) { self.connection = connection }

    /// Every extent of the entry, in order. Skips invalid rows.
    func all(of entry: EntryID) throws -> [Extent] {
        try connection.statement("SELECT start, stop, digest FROM extents WHERE entry = ? ORDER BY start")
            .all(entry.value) { Extent($0) }
    }

    /// The extents of the entry that share bytes with `range`, in order.
    func all(of entry: EntryID, overlapping range: ByteRange) throws -> [Extent] {
        // An extent lies inside one block, so one that starts a whole block before `range` cannot overlap it.
        let sql = """
            SELECT start, stop, digest FROM extents
            WHERE entry = ? AND start > ? AND start < ? AND stop > ? ORDER BY start
            """
        let start = range.lowerBound
        let end = range.upperBound
        return try connection.statement(sql).all(entry.value, start - Extent.blockSize, end, start) {
            Extent($0)
        }
    }

    /// The committed ranges of the entry.
    func ranges(of entry: EntryID) throws -> ByteRangeSet {
        ByteRangeSet(try all(of: entry).map(\.range))
    }

    /// The offset at which the last committed byte of the entry ends; 0 if there is none.
    func end(of entry: EntryID) throws -> Int64 {
        let sql = "SELECT stop FROM extents WHERE entry = ? ORDER BY start DESC LIMIT 1"
        return try connection.statement(sql).first(entry.value) { $0.integer(0) } ?? 0
    }

    /// `true` if no byte of the entry is committed.
    func isEmpty(_ entry: EntryID) throws -> Bool {
        let sql = "SELECT 1 FROM extents WHERE entry = ? LIMIT 1"
        return try connection.statement(sql).first(entry.value) { _ in false } ?? true
    }

    /// Claims the bytes of `extents`, which must be unclaimed.
    func insert(_ extents: [Extent], of entry: EntryID) throws {
        guard !extents.isEmpty else { return }
        // Only an invalid row can be replaced here: the caller has looked up the valid ones and excludes
        // their bytes.
        let insert = try connection.statement(
            "INSERT OR REPLACE INTO extents (entry, start, stop, digest) VALUES (?, ?, ?, ?)"
        )
        for extent in extents {
            try insert.run(entry.value, extent.range.lowerBound, extent.range.upperBound, extent.check.bytes)
        }
        let sum = extents.reduce(0) { $0 + Int64($1.range.count) }
        let old = try connection.statement("SELECT prefix FROM entries WHERE id = ?")
            .first(entry.value) { CacheIndex.plausible($0.integer(0)) }
        let prefix = try self.prefix(of: entry, from: old ?? 0)
        try connection.statement("UPDATE entries SET stored = stored + ?, prefix = ? WHERE id = ?")
            .run(sum, prefix, entry.value)
    }

    /// Withdraws the claims of `extents`, except those that another process has replaced.
    func remove(_ extents: [Extent], of entry: EntryID) throws {
        for extent in extents { try remove(extent, of: entry) }
    }

    private func remove(_ extent: Extent, of entry: EntryID) throws {
        let sql = "DELETE FROM extents WHERE entry = ? AND start = ? AND stop = ? AND digest = ?"
        let range = extent.range
        try connection.statement(sql)
            .run(entry.value, range.lowerBound, range.upperBound, extent.check.bytes)
        guard connection.changeCount > 0 else { return }
        let shrink = """
            UPDATE entries SET stored = max(0, stored - ?1), prefix = min(prefix, ?2) WHERE id = ?3
            """
        try connection.statement(shrink).run(Int64(range.count), range.lowerBound, entry.value)
    }

    /// Recomputes the sums of the entry from its extents.
    func recount(_ entry: EntryID) throws {
        let stored = try ranges(of: entry).byteCount
        try connection.statement("UPDATE entries SET stored = ?, prefix = ? WHERE id = ?")
            .run(stored, try prefix(of: entry, from: 0), entry.value)
    }

    /// The end of the committed bytes that follow `start` without a gap.
    private func prefix(of entry: EntryID, from start: Int64) throws -> Int64 {
        var end = start
        let sql = "SELECT start, stop FROM extents WHERE entry = ? AND start >= ? ORDER BY start"
        try connection.statement(sql).forEach(entry.value, start) { row in
            guard row.integer(0) == end, row.integer(1) > end else { return false }
            end = row.integer(1)
            return true
        }
        return end
    }
}

extension Extent {
    /// The extent of a row `start, stop, digest`.
    fileprivate init?(_ row: borrowing SQLiteRow) {
        self.init(start: row.integer(0), end: row.integer(1), check: row.blob(2))
    }
}
