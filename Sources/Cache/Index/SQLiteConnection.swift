import CSQLite

/// The owner of one connection to a database. Used by one thread at a time.
final class SQLiteConnection {
    private let pointer: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens the database at `path`, which has to be there; a symlink in its place is refused.
    convenience init(path: String) throws(IndexError) {
        try self.init(name: path, SQLITE_OPEN_READWRITE)
    }

    /// Opens the database at `path` without any lock, and makes no file beside it: for a folder that cannot be
    /// written to. Should somebody else write after all, what is read may be wrong: nothing of it may be
    /// believed without a check of its own.
    ///
    /// With `hasLog`, what a killed process left in the log is read too: with an exclusive lock, which nobody
    /// knows of without a locking method, the log's index is kept in memory (sqlite.org/wal.html, "Use of WAL
    /// Without Shared-Memory"). Without a log the file alone is taken (sqlite.org/uri.html, `immutable`).
    convenience init(unwritablePath path: String, hasLog: Bool) throws(IndexError) {
        let allowed = Set("/-_.~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = path.utf8.flatMap { byte in
            allowed.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        let name = "file:" + String(decoding: escaped, as: UTF8.self)
        let manner = hasLog ? "?vfs=unix-none" : "?immutable=1"
        try self.init(name: name + manner, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        guard hasLog else { return }
        try check(csqlite_leave_log(pointer), of: pointer)
        try execute("PRAGMA locking_mode = EXCLUSIVE")
    }

    private init(name: String, _ mode: CInt) throws(IndexError) {
        var opened: OpaquePointer?
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let status = sqlite3_open_v2(name, &opened, flags, nil)
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

    /// How many rows this connection has changed since it was opened.
    var allChangeCount: Int64 { sqlite3_total_changes64(pointer) }

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
