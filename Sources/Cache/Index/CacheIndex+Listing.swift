import Media

extension CacheIndex {
    /// Up to `limit` entries for eviction to choose from, the least recently played first, that come after
    /// `last` in that order. Pinned ones are not among them.
    func candidates(after last: EvictionCandidate?, limit: Int) throws -> [EvictionCandidate] {
        let sql = """
            SELECT last_played, turn, id, allocated FROM entries
            WHERE pinned = 0 AND (last_played, turn, id) > (?, ?, ?) ORDER BY last_played, turn, id LIMIT ?
            """
        var candidates: [EvictionCandidate] = []
        try connection.statement(sql).forEach(
            .integer(last?.lastPlayed ?? Int64.min),
            .integer(last?.turn ?? Int64.min),
            .integer(last?.entry.value ?? Int64.min),
            .integer(Int64(limit))
        ) { row in
            candidates.append(
                EvictionCandidate(
                    entry: EntryID(row.integer(2)),
                    allocated: Self.plausible(row.integer(3)),
                    lastPlayed: row.integer(0),
                    turn: row.integer(1)
                )
            )
            return true
        }
        return candidates
    }

    /// Every entry as a removal sees it.
    func removables() throws -> [EvictionCandidate] {
        var all: [EvictionCandidate] = []
        let sql = "SELECT id, allocated, last_played, pinned, turn FROM entries"
        try connection.statement(sql).forEach { row in
            all.append(
                EvictionCandidate(
                    entry: EntryID(row.integer(0)),
                    allocated: Self.plausible(row.integer(1)),
                    lastPlayed: row.integer(2),
                    turn: row.integer(4),
                    isPinned: row.integer(3) != 0
                )
            )
            return true
        }
        return all
    }

    /// Every entry, the most recently played first, with the ranges that are committed.
    func entries() throws -> [(row: EntryRow, stored: ByteRangeSet)] {
        var rows: [EntryRow] = []
        let sql = "SELECT \(EntryRow.columns) FROM entries ORDER BY last_played DESC, turn DESC, id"
        try connection.statement(sql).forEach { row in
            rows.append(self.row(row))
            return true
        }
        return try rows.map { ($0, try storedRanges(of: $0.entry)) }
    }

    /// The entries, and how many bytes are committed of them all.
    func everything() throws -> (entries: [EntryID], storedBytes: Int64) {
        var entries: [EntryID] = []
        var bytes: Int64 = 0
        try connection.statement("SELECT id, stored FROM entries ORDER BY id").forEach { row in
            entries.append(EntryID(row.integer(0)))
            bytes = Self.plausible(bytes + min(Self.plausible(row.integer(1)), 1 << 50))
            return true
        }
        return (entries, bytes)
    }

    /// The committed ranges of an entry.
    func storedRanges(of entry: EntryID) throws -> ByteRangeSet {
        ByteRangeSet(try extents(of: entry).map(\.range))
    }
}
