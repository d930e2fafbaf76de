import Media
import System

/// The key of a part in the index: its `PartName`, without the URL.
struct PartKey: Hashable, Sendable {
    /// The kinds of parts; the numbers are stored.
    enum Kind: Int64, Sendable {
        case list = 0
        case key = 1
        case section = 2
        case segments = 3
    }

    let kind: Kind
    /// The level of a list, or the number of a segment; 0 for others.
    let number: Int64
    /// The hash of the URL of a key or section; empty for others.
    let name: [UInt8]
}

/// A part of a stream: where its bytes are in the object of the stream's entry, and what they are.
struct PartRow: Sendable, Equatable {
    /// The offsets that are reserved for its bytes; those of parts do not overlap.
    var region: ByteRange
    /// For display: without user name, password and query.
    var url: SafeText
    /// Without tags and facts.
    var description = EntryDescription()
}

/// The tables `streams` and `parts`: which entries are streams of segments, and where the parts of each are.
struct PartsTable {
    /// The first offset after the list of the stream itself, which is the longest that is accepted.
    static let firstOffset: Int64 = 64 << 20
    /// Regions are multiples of this. The most segments of an accepted list take 2 TiB of offsets.
    static let regionSize: Int64 = 16 << 20
    /// ext4's longest file.
    private static let mostOffset: Int64 = 16 << 40

    private let connection: SQLiteConnection
    private let protection: Protection

    init(connection: SQLiteConnection, protection: Protection) {
        self.connection = connection
        self.protection = protection
    }

    // MARK: Parts

    /// The part `key` of the entry; `nil` if the entry has no such part, or if its row is damaged.
    func row(_ key: PartKey, of entry: EntryID) throws -> PartRow? {
        let sql = """
            SELECT start, stop, about FROM parts WHERE entry = ? AND kind = ? AND number = ? AND name = ?
            """
        let row = try connection.statement(sql).first(entry.value, key.kind.rawValue, key.number, key.name) {
            row in (start: row.integer(0), stop: row.integer(1), about: row.blob(2))
        }
        guard let row, row.start >= Self.firstOffset, row.start < row.stop, row.stop <= Self.mostOffset,
            case let region = row.start..<row.stop,
            let record = protection.record(from: row.about, in: .part, of: entry),
            let values = ValueList(record[...]), values[0].map(Array.init) == Self.place(of: key, region),
            let about = values[1].flatMap({ EntryRecord(bytes: Array($0)) })
        else { return nil }
        return PartRow(region: region, url: about.url, description: about.description)
    }

    /// Adds or replaces the part `key` of the entry.
    func put(_ row: PartRow, as key: PartKey, of entry: EntryID) throws {
        var record = ValueList()
        record.append(Self.place(of: key, row.region))
        record.append(EntryRecord(url: row.url, description: row.description).bytes)
        let sql = """
            INSERT OR REPLACE INTO parts (entry, kind, number, name, start, stop, length, about)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        try connection.statement(sql).run(
            entry.value,
            key.kind.rawValue,
            key.number,
            key.name,
            row.region.lowerBound,
            row.region.upperBound,
            row.description.length,
            protection.keep(record.bytes, in: .part, of: entry)
        )
    }

    /// Removes the part `key`. Its region stays reserved, since stores that have it open still read there.
    func remove(_ key: PartKey, of entry: EntryID) throws {
        let sql = """
            UPDATE OR REPLACE parts SET kind = -1, number = start, name = x'', length = NULL, about = x''
            WHERE entry = ? AND kind = ? AND number = ? AND name = ?
            """
        try connection.statement(sql).run(entry.value, key.kind.rawValue, key.number, key.name)
    }

    /// A region of at least `count` bytes after those of all parts of the entry; `nil` if there is no room.
    func room(for count: Int64, in entry: EntryID) throws -> ByteRange? {
        let end = try connection.statement("SELECT max(stop) FROM parts WHERE entry = ?")
            .first(entry.value) { $0.integer(0) }
        // Bytes that no part has any more are not those of the next one.
        let claimed = try connection.statement("SELECT max(stop) FROM extents WHERE entry = ?")
            .first(entry.value) { $0.integer(0) }
        let used = CacheIndex.plausible(max(end ?? 0, claimed ?? 0, Self.firstOffset))
        let start = (used + Self.regionSize - 1) / Self.regionSize * Self.regionSize
        guard start < Self.mostOffset, count <= Self.mostOffset - start else { return nil }
        let size = (max(1, count) + Self.regionSize - 1) / Self.regionSize * Self.regionSize
        return start + size <= Self.mostOffset ? start..<start + size : nil
    }

    /// `region`, lengthened so that it has at least `count` bytes; `nil` if it has as many, or if another one
    /// follows.
    func lengthened(_ region: ByteRange, to count: Int64, in entry: EntryID) throws -> ByteRange? {
        guard count > region.count, let room = try room(for: count - Int64(region.count), in: entry),
            room.lowerBound == region.upperBound
        else { return nil }
        return region.lowerBound..<room.upperBound
    }

    /// The places of the resources with segments, in the order of their segments.
    func places(of entry: EntryID) throws -> [PartPlace] {
        let sql = "SELECT number, start, stop, length FROM parts WHERE entry = ? AND kind = ? ORDER BY number"
        return try connection.statement(sql).all(entry.value, PartKey.Kind.segments.rawValue) { row in
            let start = row.integer(1)
            let stop = row.integer(2)
            guard start >= Self.firstOffset, start < stop, stop <= Self.mostOffset else { return nil }
            let length = row.optionalInteger(3).flatMap { (0...stop - start).contains($0) ? $0 : nil }
            return PartPlace(segment: Int(row.integer(0)), region: start..<stop, length: length)
        }
    }

    /// The values that a row's digest covers besides its record. So no changed offset is believed.
    private static func place(of key: PartKey, _ region: ByteRange) -> [UInt8] {
        [key.kind.rawValue, key.number, region.lowerBound, region.upperBound].flatMap { $0.bigEndianBytes }
            + key.name
    }

    // MARK: Streams

    /// The segments of the entry; `nil` if it is no stream.
    func table(of entry: EntryID) throws -> StreamTable? {
        let value = try connection.statement("SELECT value FROM streams WHERE entry = ?")
            .first(entry.value) { $0.blob(0) }
        return value.flatMap { protection.record(from: $0, in: .stream, of: entry) }
            .flatMap { StreamTable(bytes: $0) }
    }

    func put(_ table: StreamTable, of entry: EntryID) throws {
        try connection.statement("INSERT OR REPLACE INTO streams (entry, value) VALUES (?, ?)")
            .run(entry.value, protection.keep(table.bytes, in: .stream, of: entry))
    }

    /// Both tables, which are added to folders of format 6 that lack them.
    static let tables = """
        CREATE TABLE IF NOT EXISTS streams (
            entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
            value BLOB NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS parts (
            entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
            kind INTEGER NOT NULL,
            number INTEGER NOT NULL,
            name BLOB NOT NULL,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            length INTEGER,
            about BLOB NOT NULL,
            PRIMARY KEY (entry, kind, number, name)
        ) STRICT, WITHOUT ROWID;
        """

    /// Empty tables for a folder that cannot be written to and has none.
    static let noTables = """
        CREATE TEMP VIEW streams AS SELECT 0 AS entry, x'' AS value WHERE false;
        CREATE TEMP VIEW parts AS SELECT 0 AS entry, 0 AS kind, 0 AS number, x'' AS name, 0 AS start, 0 AS stop,
            0 AS length, x'' AS about WHERE false
        """
}
