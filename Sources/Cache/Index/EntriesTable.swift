import Media
import System

/// The table `entries`: one row for each entry, with the sums of its extents.
struct EntriesTable {
    private let connection: SQLiteConnection
    private let protection: Protection

    init(connection: SQLiteConnection, protection: Protection) {
        self.connection = connection
        self.protection = protection
    }

    // MARK: One entry

    func row(_ entry: EntryID) throws -> EntryRow? {
        let sql = "SELECT \(EntryRow.columns) FROM entries WHERE id = ?"
        return try connection.statement(sql).first(entry.value) { row($0) }
    }

    /// The entry with the name `key`; if there is none, a rendition that was set aside for it.
    func row(named key: [UInt8]) throws -> EntryRow? {
        try connection.statement(Self.named).first(key) { row($0) }
            ?? connection.statement(Self.aside).first(key) { row($0) }
    }

    /// The entry with the name `key`, and the renditions that were set aside for it, the most recently
    /// played first.
    func rows(named key: [UInt8]) throws -> [EntryRow] {
        try connection.statement(Self.named).all(key) { row($0) }
            + connection.statement(Self.aside).all(key) { row($0) }
    }

    private static let named = """
        SELECT \(EntryRow.columns) FROM names JOIN entries ON id = names.entry WHERE names.key = ?
        """
    private static let aside = """
        SELECT \(EntryRow.columns) FROM renditions JOIN entries ON id = renditions.entry
        WHERE stream = ? ORDER BY last_played DESC, turn DESC
        """

    /// The fullest of the entries with the name `key`, or with a name of `episode`.
    func fullestRow(of episode: [UInt8], orNamed key: [UInt8]) throws -> EntryRow? {
        let sql = """
            SELECT \(EntryRow.columns) FROM names JOIN entries ON id = names.entry
            WHERE episode = ?1 OR names.key = ?2 ORDER BY stored DESC, names.key = ?2 DESC LIMIT 1
            """
        return try connection.statement(sql).first(episode, key) { row($0) }
    }

    /// The fullest entry other than `entry` with this `EntryDescription.identityText`.
    func row(identity: String, besides entry: EntryID) throws -> EntryRow? {
        let sql = """
            SELECT \(EntryRow.columns) FROM entries WHERE identity = ? AND id <> ?
            ORDER BY stored DESC, id LIMIT 1
            """
        let key = protection.key(of: identity)
        return try connection.statement(sql).first(key, entry.value) { row($0) }
    }

    /// The bytes that the entry's file takes on the disk, including those that a commit is about to write;
    /// `nil` if there is no such entry.
    func allocated(of entry: EntryID) throws -> Int64? {
        try connection.statement("SELECT allocated FROM entries WHERE id = ?")
            .first(entry.value) { $0.integer(0) }
    }

    /// Adds a new row without a record.
    func insert(_ entry: EntryID, isPinned: Bool, at time: Int64, played: Int64) throws {
        let sql = """
            INSERT INTO entries (id, url, about, pinned, created, last_played, turn)
            VALUES (?1, '', x'', ?2, ?3, ?4, \(Self.nextTurn(at: "?4")))
            """
        try connection.statement(sql).run(entry.value, isPinned ? 1 : 0 as Int64, time, played)
    }

    /// Records that the entry was played at `time`, in seconds since 1970, so that it sorts after all entries
    /// played before.
    func touch(_ entry: EntryID, at time: Int64) throws {
        let sql = "UPDATE entries SET last_played = ?1, turn = \(Self.nextTurn(at: "?1")) WHERE id = ?2"
        try connection.statement(sql).run(time, entry.value)
    }

    /// The SQL for a turn after those of all unpinned entries played at `time`. Several entries are opened
    /// within one second if tracks are very short or skipped quickly.
    ///
    /// Bounded, so that a number from a tampered index cannot overflow the column.
    private static func nextTurn(at time: String) -> String {
        """
        (SELECT 1 + min(ifnull(max(turn), 0), 1000000000) FROM entries
        WHERE pinned = 0 AND last_played = \(time))
        """
    }

    /// Replaces the record of the entry's resource.
    func put(_ record: EntryRecord, of entry: EntryID) throws {
        let sql = "UPDATE entries SET url = ?, about = ?, identity = ? WHERE id = ?"
        let identity = record.description.identityText.map { protection.key(of: $0) }
        try connection.statement(sql).run(
            protection.checkValue == nil ? record.url.string : "",
            protection.keep(record.bytes, in: .about, of: entry),
            identity,
            entry.value
        )
        guard record.description.tags != TrackTags() else { return }
        let tags = protection.keep(record.description.tags.stored.bytes, in: .tags, of: entry)
        try connection.statement("INSERT OR REPLACE INTO tags (entry, value) VALUES (?, ?)")
            .run(entry.value, tags)
    }

    /// Records how many bytes the entry's file takes on the disk.
    func setAllocated(_ bytes: Int64, of entry: EntryID) throws {
        let sql = "UPDATE entries SET allocated = ? WHERE id = ? AND allocated <> ?"
        try connection.statement(sql).run(bytes, entry.value, bytes)
    }

    func setPinned(_ isPinned: Bool, of entry: EntryID) throws {
        let sql = "UPDATE entries SET pinned = ? WHERE id = ?"
        try connection.statement(sql).run(isPinned ? 1 : 0 as Int64, entry.value)
    }

    /// Removes the entry, and all that belongs to it.
    func remove(_ entry: EntryID) throws {
        try connection.statement("DELETE FROM entries WHERE id = ?").run(entry.value)
    }

    /// Removes the entry unless it is pinned.
    func removeUnpinned(_ entry: EntryID) throws {
        try connection.statement("DELETE FROM entries WHERE id = ? AND pinned = 0").run(entry.value)
    }

    // MARK: All entries

    /// All entries, the most recently played first.
    func rows() throws -> [EntryRow] {
        let sql = "SELECT \(EntryRow.columns) FROM entries ORDER BY last_played DESC, turn DESC, id"
        return try connection.statement(sql).all { row($0) }
    }

    /// The numbers of all entries, and how many bytes are committed in total.
    func everything() throws -> (entries: [EntryID], storedBytes: Int64) {
        var entries: [EntryID] = []
        var bytes: Int64 = 0
        try connection.statement("SELECT id, stored FROM entries ORDER BY id").forEach { row in
            entries.append(EntryID(row.integer(0)))
            bytes = CacheIndex.plausible(bytes + min(CacheIndex.plausible(row.integer(1)), 1 << 50))
            return true
        }
        return (entries, bytes)
    }

    /// Up to `limit` unpinned entries that come after `last`, the least recently played first.
    func candidates(after last: EvictionCandidate?, limit: Int) throws -> [EvictionCandidate] {
        let sql = """
            SELECT id, allocated, last_played, pinned, turn FROM entries
            WHERE pinned = 0 AND (last_played, turn, id) > (?, ?, ?) ORDER BY last_played, turn, id LIMIT ?
            """
        let played = last?.lastPlayed ?? .min
        let turn = last?.turn ?? .min
        return try connection.statement(sql)
            .all(played, turn, last?.entry.value ?? .min, Int64(limit)) { EvictionCandidate($0) }
    }

    /// All entries, including pinned ones, as candidates for eviction, the least recently played first.
    func removables() throws -> [EvictionCandidate] {
        try connection.statement(
            "SELECT id, allocated, last_played, pinned, turn FROM entries ORDER BY last_played, turn, id"
        )
        .all { EvictionCandidate($0) }
    }

    /// The bytes that pinned entries other than `entry` take on the disk.
    func pinnedBytes(besides entry: EntryID) throws -> Int64 {
        let sql = "SELECT total(max(allocated, 0)) FROM entries WHERE pinned = 1 AND id <> ?"
        let sum = try connection.statement(sql).first(entry.value) { $0.optionalReal(0) ?? 0 }
        return CacheIndex.plausible(Int64(min(sum ?? 0, 4e18)))
    }

    private func row(_ row: borrowing SQLiteRow) -> EntryRow { EntryRow(row, protection: protection) }
}

extension EvictionCandidate {
    /// The candidate of a row `id, allocated, last_played, pinned, turn`.
    fileprivate init(_ row: borrowing SQLiteRow) {
        self.init(
            entry: EntryID(row.integer(0)),
            allocated: CacheIndex.plausible(row.integer(1)),
            lastPlayed: row.integer(2),
            turn: row.integer(4),
            isPinned: row.integer(3) != 0
        )
    }
}
