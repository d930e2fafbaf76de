import Media

// One resource under several URLs.
extension CacheIndex {
    /// More URLs than this lead to no entry: signed ones change each day, and only the last are asked for.
    private static let mostAliases: Int64 = 8

    /// Another entry that has `identity` (see `EntryDescription.identityText`), the last played first.
    func entry(identity: String, besides entry: EntryID) throws -> EntryRow? {
        let sql = """
            SELECT \(EntryRow.columns), 0 FROM entries WHERE identity = ? AND id <> ?
            ORDER BY stored DESC, id LIMIT 1
            """
        let key = protection.key(of: identity)
        return try connection.statement(sql).first(.blob(key), .integer(entry.value)) { row($0) }
    }

    /// Lets `key` lead to `entry` too, in place of where it led; forgets the oldest of too many.
    func addAlias(_ key: [UInt8], of entry: EntryID, at time: Int64) throws {
        try connection.statement("INSERT OR REPLACE INTO aliases (key, entry, added) VALUES (?, ?, ?)")
            .run(.blob(key), .integer(entry.value), .integer(time))
        let sql = """
            DELETE FROM aliases WHERE entry = ?1 AND key NOT IN (
                SELECT key FROM aliases WHERE entry = ?1 ORDER BY added DESC, key LIMIT ?2
            )
            """
        try connection.statement(sql).run(.integer(entry.value), .integer(Self.mostAliases))
    }

    /// Lets `key` lead nowhere, where it is an alias.
    func removeAlias(_ key: [UInt8]) throws {
        try connection.statement("DELETE FROM aliases WHERE key = ?").run(.blob(key))
    }
}
