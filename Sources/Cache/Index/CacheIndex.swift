import Media

/// The index: which entries there are, and which of their bytes are committed.
///
/// Typed questions and answers over SQLite. Used by one thread only.
final class CacheIndex {
    let connection: SQLiteConnection
    let protection: Protection

    /// Opens the index at `path` and makes its tables when it is new. The folder's lock must be held.
    ///
    /// Throws `SealError` when the folder is sealed otherwise than `protection` says.
    init(path: String, protection: Protection) throws {
        connection = try SQLiteConnection(path: path)
        self.protection = protection
        try prepare()
        try checkSeal()
    }

    /// Opens the index at `path` for questions only. No lock is needed; nothing is made, and
    /// `IndexError` is thrown for an index of another format.
    init(readingAt path: String, protection: Protection) throws {
        connection = try SQLiteConnection(path: path)
        self.protection = protection
        try connection.execute("PRAGMA query_only = ON")
        guard try Self.version(of: connection) == Self.version else {
            throw IndexError(code: .error, message: "it is of another format")
        }
        try checkSeal()
    }

    /// Opens the index at `path` in a folder that cannot be written to, for questions only; with `hasLog`,
    /// together with what a killed process left in its log.
    init(unwritableAt path: String, hasLog: Bool, protection: Protection) throws {
        connection = try SQLiteConnection(unwritablePath: path, hasLog: hasLog)
        self.protection = protection
        guard try Self.version(of: connection) == Self.version else {
            throw IndexError(code: .error, message: "it is of another format")
        }
        try checkSeal()
    }

    /// Runs `body` as one transaction that is on the disk when this returns.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.transaction(body)
    }

    /// Runs `body` as one transaction that a power cut may undo as a whole, so without waiting for the disk.
    ///
    /// For what claims no bytes: a new, empty entry, and when one was played. The next transaction
    /// that does wait takes it along, as the log is flushed in order. That one also puts a long log into the
    /// index, which waits for the disk too; only a log of 64 MB nobody waits with.
    func relaxedTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000")
        defer { try? connection.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000") }
        return try connection.transaction(body)
    }

    /// Runs `body` in one of the two.
    func transaction<Value>(isRelaxed: Bool, _ body: () throws -> Value) throws -> Value {
        isRelaxed ? try relaxedTransaction(body) : try transaction(body)
    }

    /// The entry with this number.
    func entry(_ entry: EntryID) throws -> EntryRow? {
        let sql = "SELECT \(EntryRow.columns) FROM entries WHERE id = ?"
        return try connection.statement(sql).first(.integer(entry.value)) { row($0) }
    }

    /// Whether there is such an entry.
    func contains(_ entry: EntryID) throws -> Bool {
        let sql = "SELECT 1 FROM entries WHERE id = ?"
        return try connection.statement(sql).first(.integer(entry.value)) { _ in true } ?? false
    }

    /// The bytes that the entry's file takes on the disk, those included that somebody is about to write; nil
    /// where there is no such entry.
    func allocated(of entry: EntryID) throws -> Int64? {
        try connection.statement("SELECT allocated FROM entries WHERE id = ?")
            .first(.integer(entry.value)) { $0.integer(0) }
    }

    /// Makes a new, empty entry with the name `key`.
    func insert(_ entry: EntryID, key: [UInt8], url: SafeText, isPinned: Bool, at time: Int64) throws {
        let sql = """
            INSERT INTO entries (id, url, about, pinned, created, last_played, turn)
            VALUES (?1, '', x'', ?2, ?3, ?3, \(Self.nextTurn(at: "?3")))
            """
        try connection.statement(sql).run(
            .integer(entry.value),
            SQLiteValue(isPinned),
            .integer(time)
        )
        try addName(key, url: url, of: entry)
        try put(EntryRecord(url: url, description: EntryDescription()), of: entry)
    }

    /// Says that the entry was played at `time`, in seconds since 1970, after all that was before this call.
    func touch(_ entry: EntryID, at time: Int64) throws {
        let sql = "UPDATE entries SET last_played = ?1, turn = \(Self.nextTurn(at: "?1")) WHERE id = ?2"
        try connection.statement(sql).run(.integer(time), .integer(entry.value))
    }

    /// A turn behind those of all that eviction may choose and that was played at `time`: many short pieces, or
    /// a list that is skipped through, are opened within one second.
    ///
    /// Bounded, since a number that somebody else left must not make the sum too large for its column.
    private static func nextTurn(at time: String) -> String {
        """
        (SELECT 1 + min(ifnull(max(turn), 0), 1000000000) FROM entries
        WHERE pinned = 0 AND last_played = \(time))
        """
    }

    /// Replaces what is known of the entry's resource.
    func put(_ record: EntryRecord, of entry: EntryID) throws {
        let sql = "UPDATE entries SET url = ?, about = ?, identity = ? WHERE id = ?"
        let identity = record.description.identityText.map { protection.key(of: $0) }
        try connection.statement(sql).run(
            .text(protection.checkValue == nil ? record.url.string : ""),
            .blob(protection.keep(record.bytes, in: .about, of: entry)),
            SQLiteValue(identity),
            .integer(entry.value)
        )
    }

    /// Replaces the entry's seek table; empty for none.
    func putSeekTable(_ table: [UInt8], of entry: EntryID) throws {
        let kept = table.isEmpty ? [] : protection.keep(table, in: .seekPoints, of: entry)
        try connection.statement("UPDATE entries SET seek_points = ? WHERE id = ?")
            .run(.blob(kept), .integer(entry.value))
    }

    /// The entry's seek table; empty when there is none, or when it is not what was put down.
    func seekTable(of entry: EntryID) throws -> [UInt8] {
        let kept = try connection.statement("SELECT seek_points FROM entries WHERE id = ?")
            .first(.integer(entry.value)) { $0.blob(0) }
        return kept.flatMap { protection.record(from: $0, in: .seekPoints, of: entry) } ?? []
    }

    /// Says how many bytes the entry's file takes on the disk.
    func setAllocated(_ bytes: Int64, of entry: EntryID) throws {
        let sql = "UPDATE entries SET allocated = ? WHERE id = ? AND allocated <> ?"
        try connection.statement(sql).run(.integer(bytes), .integer(entry.value), .integer(bytes))
    }

    /// Keeps the entry whatever the budget says, or no longer.
    func setPinned(_ isPinned: Bool, of entry: EntryID) throws {
        let sql = "UPDATE entries SET pinned = ? WHERE id = ?"
        try connection.statement(sql).run(SQLiteValue(isPinned), .integer(entry.value))
    }

    /// Removes the entry, its extents and its names.
    func remove(_ entry: EntryID) throws {
        try connection.statement("DELETE FROM entries WHERE id = ?").run(.integer(entry.value))
    }

    /// Removes the entry unless it is pinned.
    func removeUnpinned(_ entry: EntryID) throws {
        try connection.statement("DELETE FROM entries WHERE id = ? AND pinned = 0").run(.integer(entry.value))
    }

    /// The bytes that all objects take on the disk, as of their last commits.
    func allocated() throws -> Int64 {
        let sum = try connection.statement("SELECT allocated FROM folder").first { $0.integer(0) }
        return Self.plausible(sum ?? 0)
    }

    /// The bytes that what is pinned takes on the disk, without `entry`.
    func pinnedBytes(besides entry: EntryID) throws -> Int64 {
        let sql = "SELECT total(max(allocated, 0)) FROM entries WHERE pinned = 1 AND id <> ?"
        let sum = try connection.statement(sql).first(.integer(entry.value)) { $0.optionalReal(0) ?? 0 }
        return Self.plausible(Int64(min(sum ?? 0, 4e18)))
    }

    /// The row at which a statement stands, as `EntryRow.columns` names it.
    func row(_ row: borrowing SQLiteRow) -> EntryRow { EntryRow(row, protection: protection) }

    /// A number of bytes as anyone may have left it in the index, made one that can be reckoned with:
    /// the difference of two of them never overflows.
    static func plausible(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 62) }
}
