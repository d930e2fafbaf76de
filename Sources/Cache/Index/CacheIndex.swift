import Media
import System

/// The index of a cache folder: its entries, their names, and which of their bytes are committed.
///
/// An SQLite database behind typed queries. Used by one thread only.
final class CacheIndex {
    let entries: EntriesTable
    let extents: ExtentsTable
    let facts: FactsTable
    let names: NamesTable
    let parts: PartsTable
    let savings: SavingsTable
    private let connection: SQLiteConnection
    private let protection: Protection

    private init(_ connection: SQLiteConnection, _ protection: Protection) {
        self.connection = connection
        self.protection = protection
        entries = EntriesTable(connection: connection, protection: protection)
        extents = ExtentsTable(connection: connection)
        facts = FactsTable(connection: connection, protection: protection)
        names = NamesTable(connection: connection, protection: protection)
        parts = PartsTable(connection: connection, protection: protection)
        savings = SavingsTable(connection: connection, protection: protection)
    }

    /// Opens the index at `path`, creates its tables if it is new, and takes format 5 over. The folder's lock
    /// must be held.
    ///
    /// Throws `IndexFormatError` if it has another format, and `SealError` if the folder's seal differs from
    /// that of `protection`; neither changes anything.
    convenience init(path: String, protection: Protection) throws {
        self.init(try SQLiteConnection(path: path), protection)
        try prepare()
    }

    /// Opens the index at `path` for queries only. Needs no lock and creates nothing.
    ///
    /// Throws as `init(path:protection:)` does.
    convenience init(readingAt path: String, protection: Protection) throws {
        self.init(try SQLiteConnection(path: path), protection)
        try connection.execute("PRAGMA query_only = ON")
        try checkFormat()
        try checkSeal()
    }

    /// Opens the index at `path` for queries only, in a read-only folder.
    ///
    /// With `hasLog`, also reads the write-ahead log, which may hold commits of a process that was killed.
    /// Format 5 is read as it is.
    convenience init(unwritableAt path: String, hasLog: Bool, protection: Protection) throws {
        self.init(try SQLiteConnection(unwritablePath: path, hasLog: hasLog), protection)
        let format = try checkFormat(or: Self.formerVersion)
        try checkSeal()
        if format == Self.formerVersion {
            try connection.execute(
                """
                CREATE TEMP VIEW names AS SELECT *, NULL AS episode FROM main.names;
                CREATE TEMP VIEW tags AS SELECT 0 AS entry, x'' AS value WHERE false;
                CREATE TEMP VIEW facts AS SELECT 0 AS entry, x'' AS kind, 0 AS version, x'' AS value WHERE false
                """
            )
        }
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name = ?"
        for (name, view) in [
            ("parts", PartsTable.noTables), ("savings", SavingsTable.noTable),
            ("renditions", NamesTable.noRenditions),
        ] {
            let count = try connection.statement(sql).first(name) { $0.integer(0) }
            if count == 0 { try connection.execute(view) }
        }
    }

    // MARK: Transactions

    /// Runs `body` as one transaction that is on the disk when this returns.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.transaction(body)
    }

    /// Runs `body` as one transaction that a power cut may undo as a whole, so it does not wait for the disk.
    ///
    /// For changes that claim no bytes: a new, empty entry, and the time an entry was played. The log is
    /// flushed in order, so the next durable transaction makes this one durable too. Durable transactions
    /// also checkpoint the log once it is long. These do so only at 64 MB, because a checkpoint waits for the
    /// disk.
    func relaxedTransaction<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16000")
        defer { try? connection.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 1000") }
        return try connection.transaction(body)
    }

    /// Runs queries on one state of the index, even if other processes commit in the meantime.
    func snapshot<Value>(_ questions: () throws -> Value) throws -> Value {
        try connection.snapshot(questions)
    }

    /// The number of rows that were changed through this object.
    var changeCount: Int64 { connection.allChangeCount }

    /// `true` if SQLite finds no fault in the pages of the database.
    func isSound() throws -> Bool {
        try connection.statement("PRAGMA quick_check(1)").first { $0.optionalText(0) } == "ok"
    }

    // MARK: Entries by their names

    /// Adds a new, empty entry with the name `key`, played at `time`, or at `played` if that is given.
    func insert(
        _ entry: EntryID,
        key: [UInt8],
        url: SafeText,
        isPinned: Bool,
        at time: Int64,
        played: Int64? = nil
    ) throws {
        try entries.insert(entry, isPinned: isPinned, at: time, played: played ?? time)
        try entries.put(EntryRecord(url: url, description: EntryDescription()), of: entry)
        try names.add(key, url: url, to: entry)
    }

    /// Removes the name `key` of `entry`, and the entry itself if that was its last name.
    ///
    /// Returns `true` if the entry was removed.
    func removeName(_ key: [UInt8], of entry: EntryID) throws -> Bool {
        try names.remove(key, of: entry)
        guard let row = try entries.row(entry) else { return false }
        let urls = try names.urls(of: entry)
        guard let first = urls.first else {
            try entries.remove(entry)
            return true
        }
        if !urls.contains(row.url) {
            try entries.put(EntryRecord(url: first, description: row.description), of: entry)
        }
        return false
    }

    /// Removes the part `key` of a stream, and the claims of its bytes, which are in `region`.
    func removePart(_ key: PartKey, at region: ByteRange, of entry: EntryID) throws {
        try transaction {
            try extents.remove(try extents.all(of: entry, overlapping: region), of: entry)
            try parts.remove(key, of: entry)
        }
    }

    /// The entry to open without a network: of several renditions of a stream the pinned one, or else the one
    /// of which the most is cached; otherwise the fullest with the name `key` or of `episode`.
    func offlineRow(named key: [UInt8], of episode: [UInt8]?) throws -> EntryRow? {
        let rows = try entries.rows(named: key)
        guard rows.count > 1 else {
            return try episode.map { try entries.fullestRow(of: $0, orNamed: key) } ?? rows.first
        }
        let shares = try rows.map { row in
            let contents = try streamContents(of: row)
            let cached = contents?.segments.reduce(0) { $0 + $1.count } ?? 0
            return (row, (row.isPinned ? 1 : 0) + Double(cached) / Double(max(1, contents?.count ?? 1)))
        }
        return shares.max { $0.1 < $1.1 }?.0
    }

    /// The committed ranges of an entry. Most are one range from the start, which its row states.
    func stored(of row: EntryRow) throws -> ByteRangeSet {
        row.storedBytes == row.prefix ? ByteRangeSet(0..<row.prefix) : try extents.ranges(of: row.entry)
    }

    func item(_ row: EntryRow, urls: [SafeText] = []) throws -> CachedItem {
        if let contents = try streamContents(of: row) {
            return CachedItem(row, stored: contents.stored, urls: urls, stream: contents)
        }
        return CachedItem(row, stored: try stored(of: row), urls: urls)
    }

    /// How much of the segments is committed; `nil` if the entry is no stream.
    func streamContents(of row: EntryRow) throws -> StreamContents? {
        guard row.isStream, let table = try parts.table(of: row.entry) else { return nil }
        let places = try parts.places(of: row.entry)
        return StreamContents(of: table, at: places, stored: try extents.ranges(of: row.entry))
    }

    // MARK: The folder as a whole

    /// The bytes that all objects take on the disk, as of the last commits.
    func allocated() throws -> Int64 {
        let sum = try connection.statement("SELECT allocated FROM folder").first { $0.integer(0) }
        return Self.plausible(sum ?? 0)
    }

    /// Corrects the sum in `folder`, which eviction relies on, in case another program changed it.
    ///
    /// Reads one narrow index, and writes only if the sum is wrong. `total` adds in floating point: unlike
    /// `sum` it does not fail on numbers that are too large.
    func repairSum() throws {
        let sum = "(SELECT CAST(min(total(max(allocated, 0)), 4e18) AS INTEGER) FROM entries)"
        let isRight = try connection.statement("SELECT allocated = \(sum) FROM folder").first {
            $0.integer(0) != 0
        }
        guard isRight == false else { return }
        try connection.execute("UPDATE folder SET allocated = \(sum)")
    }

    /// Limits a byte count from the index, which may have been tampered with, to 0...2^62: the difference of
    /// two of them never overflows.
    static func plausible(_ bytes: Int64) -> Int64 { min(max(0, bytes), 1 << 62) }

    // MARK: The format

    /// The format of the index. It is raised when the tables below change.
    static let version: Int64 = 6
    /// The format that is taken over.
    static let formerVersion: Int64 = 5

    /// Configures the connection, creates the tables of a new index, and takes the former format over.
    private func prepare() throws {
        let isNew = try Self.version(of: connection) == 0
        if !isNew {
            try checkFormat(or: Self.formerVersion)
            try checkSeal()
        }
        // With a write-ahead log readers never wait, and a commit is one flush. FULL makes that flush part of
        // each commit; with NORMAL a power cut could undo commits that were already reported as cached.
        for setting in [
            "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF",
        ] {
            try connection.execute("PRAGMA \(setting)")
        }
        guard try Self.version(of: connection) != Self.version else {
            return try connection.execute(Self.laterTables)
        }
        try connection.transaction {
            if isNew { try makeTables() }
            try connection.execute(Self.additions)
            try connection.execute(Self.laterTables)
        }
    }

    /// Returns the format. Throws `IndexFormatError` unless it is `version` or `other`.
    @discardableResult
    private func checkFormat(or other: Int64 = version) throws -> Int64 {
        let format = try Self.version(of: connection)
        guard [Self.version, other].contains(format) else {
            // The log stays for the version that wrote it.
            try connection.leaveLog()
            throw IndexFormatError(format: format)
        }
        return format
    }

    /// The format of the tables; 0 if there are no tables.
    static func version(of connection: SQLiteConnection) throws -> Int64 {
        try connection.statement("PRAGMA user_version").first { $0.integer(0) } ?? 0
    }

    private func makeTables() throws {
        let count = try connection.statement("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
        // Tables without a version were not made by this cache.
        guard count == 0 else { throw SQLiteError(code: .notADatabase, message: "it has no version") }
        try connection.execute(Self.tables)
        let seal = protection.checkValue.map { $0 + Digest.check(of: $0) }
        try connection.statement("INSERT INTO folder (allocated, seal) VALUES (0, ?)").run(seal)
    }

    /// Compares the folder's seal with that of `protection`. Throws `SealError`.
    private func checkSeal() throws {
        let row = try connection.statement("SELECT allocated, seal FROM folder").first { row in
            (allocated: row.optionalInteger(0), seal: row.blob(1))
        }
        // This column is never null; on a truncated page, all columns read as null.
        guard let row, row.allocated != nil else {
            throw SQLiteError(code: .corrupt, message: "the row about the folder is missing")
        }
        // The seal ends with a digest, so that a flipped bit is not mistaken for another secret.
        let stored = row.seal.isEmpty ? nil : Array(row.seal.dropLast(16))
        guard stored.map({ $0 + Digest.check(of: $0) == row.seal }) ?? true else {
            throw SQLiteError(code: .corrupt, message: "the row about the folder is damaged")
        }
        switch (stored, protection.checkValue) {
        case (nil, nil): return
        case (nil, _?): throw SealError.notSealed
        case (_?, nil): throw SealError.secretMissing
        case (let stored?, let own?): if stored != own { throw SealError.wrongSecret }
        }
    }

    /// The tables of format 5; `docs/architecture.md` describes the columns. `seek_points` comes last, since
    /// SQLite reads a row only up to the last column requested. `stored` and `prefix` sum up the extents, so
    /// that a query about 100,000 entries reads as many rows. Triggers maintain the sum in `folder`, so that
    /// one row shows how full the folder is.
    private static let tables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            identity BLOB,
            created INTEGER NOT NULL,
            last_played INTEGER NOT NULL,
            turn INTEGER NOT NULL DEFAULT 0,
            pinned INTEGER NOT NULL DEFAULT 0,
            allocated INTEGER NOT NULL DEFAULT 0,
            stored INTEGER NOT NULL DEFAULT 0,
            prefix INTEGER NOT NULL DEFAULT 0,
            url TEXT NOT NULL,
            about BLOB NOT NULL,
            seek_points BLOB NOT NULL DEFAULT x''
        ) STRICT;
        CREATE INDEX entries_by_play ON entries (last_played, turn, id, allocated) WHERE pinned = 0;
        CREATE INDEX entries_by_size ON entries (allocated);
        CREATE INDEX entries_pinned ON entries (allocated) WHERE pinned = 1;
        CREATE INDEX entries_by_identity ON entries (identity) WHERE identity IS NOT NULL;
        CREATE TABLE names (
            key BLOB PRIMARY KEY,
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            display_url BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX names_by_entry ON names (entry, place);
        CREATE TABLE extents (
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            digest BLOB NOT NULL,
            PRIMARY KEY (entry, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE folder (allocated INTEGER NOT NULL, seal BLOB) STRICT;
        CREATE TRIGGER entry_grows AFTER UPDATE OF allocated ON entries BEGIN
            UPDATE folder SET allocated = allocated + new.allocated - old.allocated;
        END;
        CREATE TRIGGER entry_goes AFTER DELETE ON entries BEGIN
            UPDATE folder SET allocated = allocated - old.allocated;
        END;
        """

    /// The tables that format 6 has got since, and that its folders may lack.
    private static let laterTables = PartsTable.tables + SavingsTable.table + NamesTable.renditions

    /// The tables that format 6 adds to those of format 5. The statements run in one transaction and copy
    /// nothing.
    ///
    /// `seek_points` stays: without it, players of format 5 that have the folder open would consider the
    /// index damaged, and set it aside.
    static let additions = """
        CREATE TABLE tags (
            entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
            value BLOB NOT NULL
        ) STRICT;
        CREATE TABLE facts (
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            kind BLOB NOT NULL,
            version INTEGER NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (entry, kind)
        ) STRICT;
        ALTER TABLE names ADD COLUMN episode BLOB;
        CREATE INDEX names_by_episode ON names (episode) WHERE episode IS NOT NULL;
        PRAGMA user_version = \(version);
        """
}

/// Another version made the index, in a format that this one does not read. Nothing in the folder is changed.
struct IndexFormatError: Error, CustomStringConvertible {
    let format: Int64

    var description: String {
        "another version made it (format \(format)); use another --cache-dir, or cache clear --pinned"
    }
}
