import Media
import System

/// The table `facts`: what was derived from the bytes of each entry.
struct FactsTable {
    private let connection: SQLiteConnection
    private let protection: Protection
    /// The known facts by their `kind`.
    private let kinds: [[UInt8]: DerivedFact]

    init(connection: SQLiteConnection, protection: Protection) {
        self.connection = connection
        self.protection = protection
        kinds = Dictionary(uniqueKeysWithValues: DerivedFact.allCases.map { (protection.kind(of: $0), $0) })
    }

    /// The facts of the entry, without those of an unknown kind or version, and damaged ones. Players of
    /// format 5 keep the seek table in `entries`.
    func all(of entry: EntryID) throws -> [DerivedFact: [UInt8]] {
        var facts: [DerivedFact: [UInt8]] = [:]
        try connection.statement("SELECT kind, version, value FROM facts WHERE entry = ?")
            .forEach(entry.value) { row in
                guard let fact = kinds[row.blob(0)], row.integer(1) == fact.version else { return true }
                facts[fact] = protection.record(from: row.blob(2), in: .fact(fact), of: entry)
                return true
            }
        if facts[.seekTable] == nil {
            let former = try connection.statement("SELECT seek_points FROM entries WHERE id = ?")
                .first(entry.value) { $0.blob(0) }
            facts[.seekTable] = former.flatMap {
                protection.record(from: $0, in: .fact(.seekTable), of: entry)
            }
        }
        return facts
    }

    /// Stores or replaces a fact.
    func put(_ value: [UInt8], as fact: DerivedFact, of entry: EntryID) throws {
        let sql = "INSERT OR REPLACE INTO facts (entry, kind, version, value) VALUES (?, ?, ?, ?)"
        let record = protection.keep(value, in: .fact(fact), of: entry)
        try connection.statement(sql).run(entry.value, protection.kind(of: fact), fact.version, record)
    }
}
