import Media

extension CacheIndex {
    /// The format of the index. A change of the tables below raises it; an index of an earlier format is not
    /// migrated.
    static let version: Int64 = 5

    /// Sets the connection up and makes the tables of a new index.
    ///
    /// Throws `IndexFormatError` if the index has another format.
    func prepare() throws {
        let version = try Self.version(of: connection)
        guard version <= Self.version else { throw IndexFormatError.newer(version) }
        guard version == 0 || version == Self.version else { try refuseOlder(version) }
        // With a write-ahead log readers never wait, and a commit is one flush. FULL makes that flush
        // happen in each commit; with NORMAL a power cut could undo what a listener was told is kept.
        for setting in [
            "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF",
        ] {
            try connection.execute("PRAGMA \(setting)")
        }
        if version == 0 { try makeTables() }
    }

    /// Throws what an index of an earlier format is refused with.
    private func refuseOlder(_ version: Int64) throws -> Never {
        // Without the right secret nothing in a sealed folder may change. (Format 1 had no seal.)
        if version > 1 { try checkSeal() }
        do {
            // Only the sole connection to a database can leave the write-ahead log (sqlite.org/wal.html), and
            // a process keeps its connection as long as it has the folder open.
            try connection.execute("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE")
        } catch let error where error.code == .busy {
            throw IndexFormatError.olderInUse(version)
        }
        throw IndexFormatError.older(version)
    }

    /// The format that the tables are in; 0 when there are none.
    static func version(of connection: SQLiteConnection) throws -> Int64 {
        try connection.statement("PRAGMA user_version").first { $0.integer(0) } ?? 0
    }

    private func makeTables() throws {
        try connection.transaction {
            let count = try connection.statement("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) }
            // Tables without a version are none that this cache made.
            guard count == 0 else { throw IndexError(code: .notADatabase, message: "it has no version") }
            try connection.execute(Self.tables)
            let seal = SQLiteValue(protection.checkValue.map { $0 + Digest.check(of: $0) })
            try connection.statement("INSERT INTO folder (allocated, seal) VALUES (0, ?)").run(seal)
            try connection.execute("PRAGMA user_version = \(Self.version)")
        }
    }

    /// Tests what the folder is sealed with. Throws `SealError`.
    func checkSeal() throws {
        let row = try connection.statement("SELECT allocated, seal FROM folder").first { row in
            (allocated: row.optionalInteger(0), seal: row.blob(1))
        }
        // A page that is cut off reads as nulls, and this column never is one.
        guard let row, row.allocated != nil else {
            throw IndexError(code: .corrupt, message: "it has no line about the folder")
        }
        // With a check of its own: a flipped bit must not be taken for another secret.
        let there = row.seal.isEmpty ? nil : Array(row.seal.dropLast(16))
        guard there.map({ $0 + Digest.check(of: $0) == row.seal }) ?? true else {
            throw IndexError(code: .corrupt, message: "its line about the folder is damaged")
        }
        switch (there, protection.checkValue) {
        case (nil, nil): return
        case (nil, _?): throw SealError.notSealed
        case (_?, nil): throw SealError.secretMissing
        case (let there?, let mine?): if there != mine { throw SealError.wrongSecret }
        }
    }

    /// Puts the sum in `folder` right if somebody changed it, because eviction goes by it.
    ///
    /// Reads one narrow index, and writes only where the sum is wrong. `total` adds up in floating point:
    /// unlike `sum` it does not fail on numbers that are too large.
    func repairSum() throws {
        let sum = "(SELECT CAST(min(total(max(allocated, 0)), 4e18) AS INTEGER) FROM entries)"
        let isRight = try connection.statement("SELECT allocated = \(sum) FROM folder").first {
            $0.integer(0) != 0
        }
        guard isRight == false else { return }
        try connection.execute("UPDATE folder SET allocated = \(sum)")
    }

    /// `identity` is what an entry has in common with the same resource under another URL. The keys of all URLs
    /// that lead to it stand in `names`, in the order of `place`, each with its URL for people, checked or sealed.
    /// `about` is an `EntryRecord`, checked or sealed; `url` stands beside it for people, without secrets, and
    /// is empty where the folder is sealed. `turn` orders what was last played within one second. The seek table
    /// stands last, since it may be long and is rarely wanted: a row is read up to the last column asked for.
    /// `stored` and `prefix` sum up the extents, so that a question about 100,000 entries reads as many rows.
    /// The sum in `folder` is kept by triggers, so that asking whether the folder is full costs one row however
    /// many entries there are.
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
}
