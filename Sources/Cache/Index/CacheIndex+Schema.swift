extension CacheIndex {
    /// The format of the index; a change of the tables below that others must know of raises it.
    static let version: Int64 = 1

    /// Sets the connection up and makes the tables of a new index.
    static func prepare(_ connection: SQLiteConnection) throws {
        let version = try connection.statement("PRAGMA user_version").first { $0.integer(0) } ?? 0
        guard version <= Self.version else { throw NewerIndexError(version: version) }
        // With a write-ahead log readers never wait, and a commit is one flush. FULL makes that flush
        // happen in each commit; with NORMAL a power cut could undo what a listener was told is kept.
        for setting in [
            "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF",
        ] {
            try connection.execute("PRAGMA \(setting)")
        }
        if version == 0 {
            try connection.transaction { try connection.execute(tables) }
        } else {
            try repairSum(connection)
        }
    }

    /// Puts the sum in `folder` right if somebody changed it, because eviction goes by it.
    ///
    /// Reads one narrow index once for each opening of a folder, and writes only where the sum is wrong.
    /// `total` adds up in floating point: unlike `sum` it does not fail on numbers that are too large.
    private static func repairSum(_ connection: SQLiteConnection) throws {
        let sum = "(SELECT CAST(min(total(max(allocated, 0)), 4e18) AS INTEGER) FROM entries)"
        let isRight = try connection.statement("SELECT allocated = \(sum) FROM folder").first {
            $0.integer(0) != 0
        }
        guard isRight == false else { return }
        try connection.execute("UPDATE folder SET allocated = \(sum)")
    }

    /// `url` is for people and has no secrets in it; `key` is what an entry is found by. The sum in
    /// `folder` is kept by triggers, so that asking whether the folder is full costs one row however
    /// many entries there are.
    private static let tables = """
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE,
            url TEXT NOT NULL,
            length INTEGER,
            content_type TEXT,
            etag TEXT,
            last_modified TEXT,
            accepts_ranges INTEGER,
            title TEXT,
            artist TEXT,
            duration REAL,
            seek_table BLOB NOT NULL DEFAULT x'',
            created INTEGER NOT NULL,
            last_played INTEGER NOT NULL,
            pinned INTEGER NOT NULL DEFAULT 0,
            allocated INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX entries_by_play ON entries (last_played, id, pinned, allocated);
        CREATE TABLE extents (
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            digest BLOB NOT NULL,
            PRIMARY KEY (entry, start)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE folder (allocated INTEGER NOT NULL) STRICT;
        INSERT INTO folder VALUES (0);
        CREATE TRIGGER entry_grows AFTER UPDATE OF allocated ON entries BEGIN
            UPDATE folder SET allocated = allocated + new.allocated - old.allocated;
        END;
        CREATE TRIGGER entry_goes AFTER DELETE ON entries BEGIN
            UPDATE folder SET allocated = allocated - old.allocated;
        END;
        PRAGMA user_version = 1;
        """
}
