import CSQLite

/// One connection to a database and its prepared statements. Used by one thread at a time.
package final class SQLiteConnection {
    private let pointer: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens the existing database at `path`; a symlink in its place is refused.
    package convenience init(path: String) throws(SQLiteError) {
        try self.init(name: path, SQLITE_OPEN_READWRITE)
    }

    /// Opens the database at `path` in a read-only folder: takes no lock and creates no file. If another
    /// process writes after all, reads may return wrong data, so callers must check all they use.
    ///
    /// With `hasLog`, also reads the log that a killed process left: in exclusive mode SQLite has the log's
    /// index in memory (sqlite.org/wal.html, "Use of WAL Without Shared-Memory"), and the VFS `unix-none`
    /// takes no real lock. Otherwise only the file is read (sqlite.org/uri.html, `immutable`).
    package convenience init(unwritablePath path: String, hasLog: Bool) throws(SQLiteError) {
        let allowed = Set("/-_.~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        let escaped = FileName.bytes(of: path).flatMap { byte in
            allowed.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        let name = "file:" + String(decoding: escaped, as: UTF8.self)
        let manner = hasLog ? "?vfs=unix-none" : "?immutable=1"
        try self.init(name: name + manner, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
        guard hasLog else { return }
        try leaveLog()
        try execute("PRAGMA locking_mode = EXCLUSIVE")
    }

    private init(name: String, _ mode: CInt) throws(SQLiteError) {
        var opened: OpaquePointer?
        let flags = mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let status = sqlite3_open_v2(FileName.cString(name), &opened, flags, nil)
        do {
            try check(status, of: opened)
        } catch {
            // SQLite returns a connection even if opening fails, so that `sqlite3_errmsg` can be called.
            sqlite3_close_v2(opened)
            throw error
        }
        guard let opened else { throw SQLiteError(code: .error, message: "out of memory") }
        pointer = opened
        // Transactions are short; if another process's takes five seconds, that process hangs.
        sqlite3_busy_timeout(opened, 5_000)
    }

    deinit {
        // A connection is closed only after all its statements are finalized.
        statements.removeAll()
        sqlite3_close_v2(pointer)
    }

    /// From now on, closing the connection leaves the write-ahead log as it is.
    package func leaveLog() throws(SQLiteError) { try check(csqlite_leave_log(pointer), of: pointer) }

    /// Runs statements without values or results.
    package func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(pointer, sql, nil, nil, nil), of: pointer)
    }

    /// The prepared statement of `sql`, prepared at its first use.
    package func statement(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try SQLiteStatement(sql, on: pointer)
        statements[sql] = statement
        return statement
    }

    /// How many rows the last statement changed.
    package var changeCount: Int64 { sqlite3_changes64(pointer) }

    /// How many rows this connection has changed since it was opened.
    package var allChangeCount: Int64 { sqlite3_total_changes64(pointer) }

    /// Runs `body`, for which the database does not change, even if other connections commit meanwhile.
    package func snapshot<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN")
        defer { try? execute("COMMIT") }
        return try body()
    }

    /// Runs `body` in one write transaction, of which a database has one at a time; an error rolls it back.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // After some failures SQLite has already rolled back, and this fails; the first error is the one
            // to report.
            try? execute("ROLLBACK")
            throw error
        }
    }
}
