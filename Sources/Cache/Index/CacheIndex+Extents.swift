import Media

extension CacheIndex {
    /// Every extent of the entry, in order. Rows that break the rules of extents are passed over.
    func extents(of entry: EntryID) throws -> [Extent] {
        let sql = "SELECT start, stop, digest FROM extents WHERE entry = ? ORDER BY start"
        var extents: [Extent] = []
        try connection.statement(sql).forEach(.integer(entry.value)) { row in
            if let extent = Extent(row) { extents.append(extent) }
            return true
        }
        return extents
    }

    /// The extents of the entry that share bytes with `range`, in order.
    func extents(of entry: EntryID, overlapping range: ByteRange) throws -> [Extent] {
        // An extent stays in its block, so none that starts a block or more before can reach `range`.
        let sql = """
            SELECT start, stop, digest FROM extents
            WHERE entry = ? AND start > ? AND start < ? AND stop > ? ORDER BY start
            """
        var extents: [Extent] = []
        let (start, end) = (range.lowerBound, range.upperBound)
        try connection.statement(sql).forEach(
            .integer(entry.value),
            .integer(start - Extent.blockSize),
            .integer(end),
            .integer(start)
        ) { row in
            if let extent = Extent(row) { extents.append(extent) }
            return true
        }
        return extents
    }

    /// Claims the bytes of `extent`. `count` is due afterwards.
    func insert(_ extent: Extent, of entry: EntryID) throws {
        // What may stand in its place is no extent by its rules, or it would have been found there.
        let sql = "INSERT OR REPLACE INTO extents (entry, start, stop, digest) VALUES (?, ?, ?, ?)"
        try connection.statement(sql).run(
            .integer(entry.value),
            .integer(extent.range.lowerBound),
            .integer(extent.range.upperBound),
            .blob(extent.check.bytes)
        )
    }

    /// Withdraws the claim, unless another process has put a different one in its place.
    ///
    /// Says whether it did.
    @discardableResult
    func remove(_ extent: Extent, of entry: EntryID) throws -> Bool {
        let sql = "DELETE FROM extents WHERE entry = ? AND start = ? AND stop = ? AND digest = ?"
        try connection.statement(sql).run(
            .integer(entry.value),
            .integer(extent.range.lowerBound),
            .integer(extent.range.upperBound),
            .blob(extent.check.bytes)
        )
        guard connection.changeCount > 0 else { return false }
        let shrink = """
            UPDATE entries SET stored = max(0, stored - ?1), prefix = min(prefix, ?2) WHERE id = ?3
            """
        try connection.statement(shrink).run(
            .integer(Int64(extent.range.count)),
            .integer(extent.range.lowerBound),
            .integer(entry.value)
        )
        return true
    }

    /// Adds `extents`, which were inserted just now, to the sums of the entry.
    func count(_ extents: [Extent], of entry: EntryID) throws {
        guard !extents.isEmpty else { return }
        let sum = extents.reduce(0) { $0 + Int64($1.range.count) }
        let old = try connection.statement("SELECT prefix FROM entries WHERE id = ?")
            .first(.integer(entry.value)) { Self.plausible($0.integer(0)) }
        let prefix = try self.prefix(of: entry, from: old ?? 0)
        try connection.statement("UPDATE entries SET stored = stored + ?, prefix = ? WHERE id = ?")
            .run(.integer(sum), .integer(prefix), .integer(entry.value))
    }

    /// Makes the sums of the entry anew from its extents.
    func recountStored(of entry: EntryID) throws {
        let stored = try storedRanges(of: entry).byteCount
        try connection.statement("UPDATE entries SET stored = ?, prefix = ? WHERE id = ?")
            .run(.integer(stored), .integer(prefix(of: entry, from: 0)), .integer(entry.value))
    }

    /// Where the committed bytes that reach `start` without a gap end.
    private func prefix(of entry: EntryID, from start: Int64) throws -> Int64 {
        var end = start
        let sql = "SELECT start, stop FROM extents WHERE entry = ? AND start >= ? ORDER BY start"
        try connection.statement(sql).forEach(.integer(entry.value), .integer(start)) { row in
            guard row.integer(0) == end, row.integer(1) > end else { return false }
            end = row.integer(1)
            return true
        }
        return end
    }

    /// Where the last claimed byte of the entry ends; 0 when there is none.
    func end(of entry: EntryID) throws -> Int64 {
        let sql = "SELECT stop FROM extents WHERE entry = ? ORDER BY start DESC LIMIT 1"
        return try connection.statement(sql).first(.integer(entry.value)) { $0.integer(0) } ?? 0
    }

    /// Whether any byte of the entry is claimed.
    func hasExtents(_ entry: EntryID) throws -> Bool {
        let sql = "SELECT 1 FROM extents WHERE entry = ? LIMIT 1"
        return try connection.statement(sql).first(.integer(entry.value)) { _ in true } ?? false
    }
}

extension Extent {
    /// The extent of a row `start, stop, digest`.
    fileprivate init?(_ row: borrowing SQLiteRow) {
        self.init(start: row.integer(0), end: row.integer(1), check: row.blob(2))
    }
}
