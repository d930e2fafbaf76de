import Media

extension CacheIndex {
    /// Brings the tables of format 1 to the present one, in one transaction: no entry and no extent is lost.
    ///
    /// Format 1 had a column for each thing known of a resource, and no sums of an entry's extents.
    func migrateFromFirstFormat() throws {
        try connection.transaction {
            try connection.execute(Self.additions)
            var entries: [(entry: EntryID, record: EntryRecord)] = []
            let sql = """
                SELECT id, url, length, content_type, etag, last_modified, accepts_ranges, title, artist,
                duration, seek_table FROM entries
                """
            try connection.statement(sql).forEach { row in
                let record = EntryRecord(
                    url: SafeText(row.optionalText(1) ?? ""),
                    description: EntryDescription(firstFormat: row)
                )
                entries.append((EntryID(row.integer(0)), record))
                return true
            }
            for (entry, record) in entries {
                try put(record, of: entry)
                try putSeekTable(record.description.seekTable, of: entry)
                try recountStored(of: entry)
            }
            try connection.execute(Self.removals)
            try connection.execute(Self.turns)
            try connection.execute("PRAGMA user_version = \(Self.version)")
        }
    }

    /// Brings format 2 to the present one, in one transaction. Records were sealed alike for both of their
    /// columns, and nothing summed up what is pinned.
    func migrateFromSecondFormat() throws {
        try connection.transaction {
            // With another secret, or with none, nothing can be sealed anew, and nothing may change.
            try checkSeal()
            if case .sealed = protection { try sealRecordsAnew() }
            try connection.execute("CREATE INDEX entries_pinned ON entries (allocated) WHERE pinned = 1")
            try connection.execute(Self.turns)
            try connection.execute("PRAGMA user_version = \(Self.version)")
        }
    }

    /// Brings format 3 to the present one, in one transaction. It kept no order of what was played within one
    /// second.
    func migrateFromThirdFormat() throws {
        try connection.transaction {
            // With another secret, or with none, nothing may change.
            try checkSeal()
            try connection.execute(Self.turns)
            try connection.execute("PRAGMA user_version = \(Self.version)")
        }
    }

    private func sealRecordsAnew() throws {
        var kept: [(entry: EntryID, about: [UInt8], seekPoints: [UInt8])] = []
        try connection.statement("SELECT id, about, seek_points FROM entries").forEach { row in
            kept.append((EntryID(row.integer(0)), row.blob(1), row.blob(2)))
            return true
        }
        let sql = "UPDATE entries SET about = ?, seek_points = ? WHERE id = ?"
        for (entry, about, seekPoints) in kept {
            func anew(_ old: [UInt8], _ column: RecordColumn) -> SQLiteValue {
                // One that does not open tells nothing, as before.
                let record = protection.record(from: old, in: .anyOfSecondFormat, of: entry)
                return .blob(record.map { protection.keep($0, in: column, of: entry) } ?? [])
            }
            try connection.statement(sql).run(
                anew(about, .about),
                anew(seekPoints, .seekPoints),
                .integer(entry.value)
            )
        }
    }

    private static let additions = """
        ALTER TABLE entries ADD COLUMN identity BLOB;
        ALTER TABLE entries ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE entries ADD COLUMN prefix INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE entries ADD COLUMN about BLOB NOT NULL DEFAULT x'';
        ALTER TABLE entries ADD COLUMN seek_points BLOB NOT NULL DEFAULT x'';
        ALTER TABLE folder ADD COLUMN seal BLOB;
        CREATE TABLE aliases (
            key BLOB PRIMARY KEY,
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            added INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX aliases_by_entry ON aliases (entry, added);
        """

    private static let removals = """
        ALTER TABLE entries DROP COLUMN length;
        ALTER TABLE entries DROP COLUMN content_type;
        ALTER TABLE entries DROP COLUMN etag;
        ALTER TABLE entries DROP COLUMN last_modified;
        ALTER TABLE entries DROP COLUMN accepts_ranges;
        ALTER TABLE entries DROP COLUMN title;
        ALTER TABLE entries DROP COLUMN artist;
        ALTER TABLE entries DROP COLUMN duration;
        ALTER TABLE entries DROP COLUMN seek_table;
        CREATE INDEX entries_by_size ON entries (allocated);
        CREATE INDEX entries_pinned ON entries (allocated) WHERE pinned = 1;
        CREATE INDEX entries_by_identity ON entries (identity) WHERE identity IS NOT NULL;
        """

    private static let turns = """
        ALTER TABLE entries ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
        DROP INDEX entries_by_play;
        CREATE INDEX entries_by_play ON entries (last_played, turn, id, allocated) WHERE pinned = 0;
        """
}

extension EntryDescription {
    /// What the columns of format 1 say. What stands there may have been changed by anyone.
    fileprivate init(firstFormat row: borrowing SQLiteRow) {
        self.init()
        length = row.optionalInteger(2).flatMap { $0 >= 0 ? $0 : nil }
        contentType = row.optionalText(3)
        validators = Validators(etag: row.optionalText(4), lastModified: row.optionalText(5))
        acceptsRanges = row.optionalInteger(6).map { $0 != 0 }
        title = row.optionalText(7)
        artist = row.optionalText(8)
        durationSeconds = row.optionalReal(9).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        seekTable = row.blob(10)
    }
}
