import Media

extension CacheIndex {
    /// Up to `limit` entries for eviction to choose from, the least recently played first,
    /// that come after `last` in that order.
    func candidates(after last: EvictionCandidate?, limit: Int) throws -> [EvictionCandidate] {
        let sql = """
            SELECT last_played, id, pinned, allocated FROM entries
            WHERE (last_played, id) > (?, ?) ORDER BY last_played, id LIMIT ?
            """
        var candidates: [EvictionCandidate] = []
        try connection.statement(sql).forEach(
            .integer(last?.lastPlayed ?? Int64.min),
            .integer(last?.entry.value ?? 0),
            .integer(Int64(limit))
        ) { row in
            candidates.append(
                EvictionCandidate(
                    entry: EntryID(row.integer(1)),
                    allocated: Self.plausible(row.integer(3)),
                    lastPlayed: row.integer(0),
                    isPinned: row.integer(2) != 0
                )
            )
            return true
        }
        return candidates
    }

    /// Every entry, the most recently played first, with the ranges that are committed.
    func entries() throws -> [(row: EntryRow, stored: ByteRangeSet)] {
        var rows: [EntryRow] = []
        let sql = "SELECT \(EntryRow.columns) FROM entries ORDER BY last_played DESC, id"
        try connection.statement(sql).forEach { row in
            rows.append(EntryRow(row))
            return true
        }
        return try rows.map { ($0, try storedRanges(of: $0.entry)) }
    }

    /// Every entry as a removal sees it, the least recently played first.
    func removables() throws -> [EvictionCandidate] {
        var all: [EvictionCandidate] = []
        while case let page = try candidates(after: all.last, limit: 1_000), !page.isEmpty { all += page }
        return all
    }

    /// The committed ranges of an entry.
    func storedRanges(of entry: EntryID) throws -> ByteRangeSet {
        ByteRangeSet(try extents(of: entry).map(\.range))
    }
}
