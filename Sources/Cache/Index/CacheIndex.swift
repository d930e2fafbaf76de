import Media

/// The index: which entries there are, and which of their bytes are committed.
///
/// Typed questions and answers over SQLite. Used by the committing thread only.
final class CacheIndex {
    let connection: SQLiteConnection

    /// Opens the index at `path` and makes its tables when it is new. The folder's lock must be held.
    init(path: String) throws {
        connection = try SQLiteConnection(path: path)
        try Self.prepare(connection)
    }

    /// Runs `body` as one transaction that is on the disk when this returns.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.transaction(body)
    }

    /// Runs `body` as one transaction that a power cut may undo as a whole, so without waiting for the disk.
    ///
    /// For what claims no bytes: a new, empty entry, and when one was played. The next transaction
    /// that does wait takes it along, as the log is flushed in order.
    func relaxedTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.execute("PRAGMA synchronous = NORMAL")
        defer { try? connection.execute("PRAGMA synchronous = FULL") }
        return try connection.transaction(body)
    }

    /// The entry with this key.
    func entry(key: [UInt8]) throws -> EntryRow? {
        let sql = "SELECT \(EntryRow.columns) FROM entries WHERE key = ?"
        return try connection.statement(sql).first(.blob(key)) { EntryRow($0) }
    }

    /// Whether there is such an entry.
    func contains(_ entry: EntryID) throws -> Bool {
        let sql = "SELECT 1 FROM entries WHERE id = ?"
        return try connection.statement(sql).first(.integer(entry.value)) { _ in true } ?? false
    }

    /// Makes a new, empty entry.
    func insert(_ entry: EntryID, key: [UInt8], url: SafeText, isPinned: Bool, at time: Int64) throws {
        let sql = """
            INSERT INTO entries (id, key, url, pinned, created, last_played) VALUES (?, ?, ?, ?, ?, ?)
            """
        try connection.statement(sql).run(
            .integer(entry.value),
            .blob(key),
            .text(url.string),
            SQLiteValue(isPinned),
            .integer(time),
            .integer(time)
        )
    }

    /// Says that the entry was played at `time`, in seconds since 1970.
    func touch(_ entry: EntryID, at time: Int64) throws {
        let sql = "UPDATE entries SET last_played = ? WHERE id = ?"
        try connection.statement(sql).run(.integer(time), .integer(entry.value))
    }

    /// Replaces what is known of the entry's resource.
    func describe(_ entry: EntryID, as description: EntryDescription) throws {
        let sql = """
            UPDATE entries SET length = ?, content_type = ?, etag = ?, last_modified = ?, accepts_ranges = ?,
            title = ?, artist = ?, duration = ?, seek_table = ? WHERE id = ?
            """
        try connection.statement(sql).run(
            SQLiteValue(description.length),
            SQLiteValue(description.contentType),
            SQLiteValue(description.validators.etag),
            SQLiteValue(description.validators.lastModified),
            SQLiteValue(description.acceptsRanges),
            SQLiteValue(description.title),
            SQLiteValue(description.artist),
            SQLiteValue(description.durationSeconds),
            .blob(description.seekTable),
            .integer(entry.value)
        )
    }

    /// Says how many bytes the entry's file takes on the disk.
    func setAllocated(_ bytes: Int64, of entry: EntryID) throws {
        let sql = "UPDATE entries SET allocated = ? WHERE id = ? AND allocated <> ?"
        try connection.statement(sql).run(.integer(bytes), .integer(entry.value), .integer(bytes))
    }

    /// Removes the entry and its extents.
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

    /// A number of bytes as anyone may have left it in the index, made one that can be reckoned with:
    /// the difference of two of them never overflows.
    static func plausible(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 62) }
}
