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

    /// Claims the bytes of `extent`.
    func insert(_ extent: Extent, of entry: EntryID) throws {
        let sql = "INSERT INTO extents (entry, start, stop, digest) VALUES (?, ?, ?, ?)"
        try connection.statement(sql).run(
            .integer(entry.value),
            .integer(extent.range.lowerBound),
            .integer(extent.range.upperBound),
            .blob(extent.check.bytes)
        )
    }

    /// Withdraws the claim, unless another process has put a different one in its place.
    func remove(_ extent: Extent, of entry: EntryID) throws {
        let sql = "DELETE FROM extents WHERE entry = ? AND start = ? AND stop = ? AND digest = ?"
        try connection.statement(sql).run(
            .integer(entry.value),
            .integer(extent.range.lowerBound),
            .integer(extent.range.upperBound),
            .blob(extent.check.bytes)
        )
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
