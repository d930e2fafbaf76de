import Media

/// The URLs that lead to each entry. An entry has several if servers send the same resource under several URLs.
extension CacheIndex {
    /// Besides its first name an entry has at most this many: signed URLs change each day, and only the latest
    /// are requested again.
    private static let mostLaterNames = 8

    /// The entry that `key` leads to.
    func entry(key: [UInt8]) throws -> EntryRow? {
        let sql = """
            SELECT \(EntryRow.columns) FROM names JOIN entries ON id = names.entry WHERE names.key = ?
            """
        return try connection.statement(sql).first(.blob(key)) { row($0) }
    }

    /// The last played entry other than `entry` with `identity` (see `EntryDescription.identityText`).
    func entry(identity: String, besides entry: EntryID) throws -> EntryRow? {
        let sql = """
            SELECT \(EntryRow.columns) FROM entries WHERE identity = ? AND id <> ?
            ORDER BY stored DESC, id LIMIT 1
            """
        let key = protection.key(of: identity)
        return try connection.statement(sql).first(.blob(key), .integer(entry.value)) { row($0) }
    }

    /// Makes `key` a name of `entry`, and no longer of another one; forgets the oldest of too many.
    ///
    /// `url` is what people read, without secrets.
    func addName(_ key: [UInt8], url: SafeText, of entry: EntryID) throws {
        // Bounded, so that a number that somebody else left cannot overflow the column.
        let insert = """
            INSERT OR REPLACE INTO names (key, entry, place, display_url) VALUES (?1, ?2,
            (SELECT 1 + min(ifnull(max(place), 0), 1000000000) FROM names WHERE entry = ?2), ?3)
            """
        let record = protection.keep(Array(url.string.utf8), in: .name, of: entry)
        try connection.statement(insert).run(.blob(key), .integer(entry.value), .blob(record))
        let forget = """
            DELETE FROM names WHERE entry = ?1 AND place > (SELECT min(place) FROM names WHERE entry = ?1)
            AND key NOT IN (SELECT key FROM names WHERE entry = ?1 ORDER BY place DESC LIMIT ?2)
            """
        try connection.statement(forget).run(.integer(entry.value), .integer(Int64(Self.mostLaterNames)))
    }

    /// Takes the name `key` from `entry`, and removes the entry with its last name.
    ///
    /// Returns `true` if the entry was removed.
    func removeName(_ key: [UInt8], of entry: EntryID) throws -> Bool {
        try connection.statement("DELETE FROM names WHERE key = ? AND entry = ?")
            .run(.blob(key), .integer(entry.value))
        guard let row = try self.entry(entry) else { return false }
        let urls = try urls(of: entry)
        guard let first = urls.first else {
            try remove(entry)
            return true
        }
        if !urls.contains(row.url) {
            try put(EntryRecord(url: first, description: row.description), of: entry)
        }
        return false
    }

    /// The URLs that lead to the entry, the oldest first, for people to read.
    func urls(of entry: EntryID) throws -> [SafeText] {
        var urls: [SafeText] = []
        let sql = "SELECT display_url FROM names WHERE entry = ? ORDER BY place, key"
        try connection.statement(sql).forEach(.integer(entry.value)) { row in
            // A damaged record is still a name, only not one that can be shown.
            let record = protection.record(from: row.blob(0), in: .name, of: entry)
            urls.append(SafeText(String(decoding: record ?? [], as: UTF8.self)))
            return true
        }
        return urls
    }
}
