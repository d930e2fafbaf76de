import CSQLite

/// The owner of one connection to a database. Used by one thread at a time.
final class SQLiteConnection {
    private let pointer: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens the database at `path`, which has to be there; a symlink in its place is refused.
    init(path: String) throws(IndexError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let status = sqlite3_open_v2(path, &opened, flags, nil)
        do {
            try check(status, of: opened)
        } catch {
            // SQLite hands out a connection even when it fails, to be asked why.
            sqlite3_close_v2(opened)
            throw error
        }
        guard let opened else { throw IndexError(code: .error, message: "out of memory") }
        pointer = opened
        // Another process's transaction is short; waiting five seconds for one means that it hangs.
        sqlite3_busy_timeout(opened, 5_000)
    }

    deinit {
        // Statements first: a connection with living statements would stay open.
        statements.removeAll()
        sqlite3_close_v2(pointer)
    }

    /// Runs statements without values or results.
    func execute(_ sql: String) throws(IndexError) {
        try check(sqlite3_exec(pointer, sql, nil, nil, nil), of: pointer)
    }

    /// The prepared statement of `sql`, prepared at its first use.
    func statement(_ sql: String) throws(IndexError) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try SQLiteStatement(sql, on: pointer)
        statements[sql] = statement
        return statement
    }

    /// How many rows the last statement changed.
    var changeCount: Int64 { sqlite3_changes64(pointer) }

    /// A number that is another one after each commit of another connection (sqlite.org/pragma.html).
    func dataVersion() throws -> Int64 {
        try statement("PRAGMA data_version").first { $0.integer(0) } ?? 0
    }

    /// Runs `body` on one state of the database, whatever others commit meanwhile.
    func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN")
        defer { try? execute("COMMIT") }
        return try body()
    }

    /// Runs `body` in one transaction that nobody else's can come between; an error undoes all of it.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // The cause is the error to tell; some failures have ended the transaction already.
            try? execute("ROLLBACK")
            throw error
        }
    }
}
