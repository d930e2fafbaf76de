import Media
import System

/// The table `names`: the URLs of each entry, and the podcast episodes that they are of; and the table
/// `renditions`: the entries of further renditions of a stream.
///
/// An entry has several names if servers send the same resource under several URLs, as signed URLs and
/// mirrors do. Of the renditions of a stream, one has the name; the others are set aside, without a name.
struct NamesTable {
    private let connection: SQLiteConnection
    private let protection: Protection

    /// The most names besides the first one. Signed URLs change each day, and only the latest are requested
    /// again.
    private static let mostLaterNames: Int64 = 8

    init(connection: SQLiteConnection, protection: Protection) {
        self.connection = connection
        self.protection = protection
    }

    /// Makes `key` a name of `entry` and of no other entry. If there are too many, removes the oldest except
    /// the first.
    ///
    /// `url` is for display, without secrets.
    func add(_ key: [UInt8], url: SafeText, to entry: EntryID) throws {
        // Bounded, so that a number from a tampered index cannot overflow the column.
        let insert = """
            INSERT INTO names (key, entry, place, display_url) VALUES (?1, ?2,
            (SELECT 1 + min(ifnull(max(place), 0), 1000000000) FROM names WHERE entry = ?2), ?3)
            ON CONFLICT (key) DO UPDATE SET
            entry = excluded.entry, place = excluded.place, display_url = excluded.display_url
            """
        let record = protection.keep(Array(url.string.utf8), in: .name, of: entry)
        try connection.statement(insert).run(key, entry.value, record)
        let forget = """
            DELETE FROM names WHERE entry = ?1 AND place > (SELECT min(place) FROM names WHERE entry = ?1)
            AND key NOT IN (SELECT key FROM names WHERE entry = ?1 ORDER BY place DESC LIMIT ?2)
            """
        try connection.statement(forget).run(entry.value, Self.mostLaterNames)
    }

    /// Notes that the name `key`, if it exists, is of an episode, given by its hash; `nil` changes nothing.
    func note(_ episode: [UInt8]?, of key: [UInt8]) throws {
        guard let episode else { return }
        try connection.statement("UPDATE names SET episode = ?1 WHERE key = ?2 AND episode IS NOT ?1")
            .run(episode, key)
    }

    /// Removes the name `key` of `entry`.
    func remove(_ key: [UInt8], of entry: EntryID) throws {
        try connection.statement("DELETE FROM names WHERE key = ? AND entry = ?")
            .run(key, entry.value)
    }

    // MARK: Renditions

    /// Sets aside the entry with the name `key`, if there is one: another rendition gets the name.
    func setAside(_ key: [UInt8]) throws {
        let keep =
            "INSERT OR REPLACE INTO renditions (entry, stream) SELECT entry, key FROM names WHERE key = ?"
        try connection.statement(keep).run(key)
        try connection.statement("DELETE FROM names WHERE key = ?").run(key)
    }

    /// If `entry` was set aside for `key`, gives it this name, and sets aside the entry that has it.
    func bringBack(_ entry: EntryID, as key: [UInt8], url: SafeText) throws {
        let sql = "DELETE FROM renditions WHERE entry = ? AND stream = ? RETURNING entry"
        let found = try connection.statement(sql).first(entry.value, key) { $0.integer(0) }
        guard found != nil else { return }
        try setAside(key)
        try add(key, url: url, to: entry)
    }

    /// The table `renditions`, which is added to folders of format 6 that lack it.
    static let renditions = """
        CREATE TABLE IF NOT EXISTS renditions (
            entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
            stream BLOB NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS renditions_by_stream ON renditions (stream);
        """

    /// An empty table for a folder that cannot be written to and has none.
    static let noRenditions = "CREATE TEMP VIEW renditions AS SELECT 0 AS entry, x'' AS stream WHERE false"

    // MARK: Display

    /// The URLs of the entry for display, the oldest name first. A damaged record yields an empty text, since
    /// its key remains valid.
    func urls(of entry: EntryID) throws -> [SafeText] {
        let sql = "SELECT display_url FROM names WHERE entry = ? ORDER BY place, key"
        return try connection.statement(sql).all(entry.value) { row in
            let record = protection.record(from: row.blob(0), in: .name, of: entry)
            return SafeText(String(decoding: record ?? [], as: UTF8.self))
        }
    }
}
