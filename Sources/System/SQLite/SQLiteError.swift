import CSQLite

/// A failure of SQLite.
package struct SQLiteError: Error, CustomStringConvertible {
    package let code: Code
    /// SQLite's own message, which names tables and columns but no values.
    package let message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    /// `true` if the file is no database, or is damaged.
    ///
    /// A violated constraint is damage too, for users that write rows only after they have read the existing
    /// ones under a lock: a violation then means that SQLite read something else than what is stored.
    package var isDamage: Bool { [.corrupt, .notADatabase, .constraint, .schema].contains(code) }

    /// `true` if the cause may be that the disk or the folder accepts no writes.
    package var isRefusal: Bool { [.readOnly, .inputOutput, .full, .cannotOpen].contains(code) }

    package var description: String { "the database failed (\(message))" }

    /// A result code of SQLite, primary part only (sqlite.org/rescode.html).
    package struct Code: RawRepresentable, Equatable, Sendable {
        package let rawValue: CInt

        package init(rawValue: CInt) { self.rawValue = rawValue & 0xFF }

        package static let ok = Code(rawValue: SQLITE_OK)
        package static let row = Code(rawValue: SQLITE_ROW)
        package static let done = Code(rawValue: SQLITE_DONE)
        package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
        package static let notADatabase = Code(rawValue: SQLITE_NOTADB)
        package static let error = Code(rawValue: SQLITE_ERROR)
        package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
        /// The tables do not fit the format they claim to have.
        package static let schema = Code(rawValue: SQLITE_SCHEMA)
        package static let readOnly = Code(rawValue: SQLITE_READONLY)
        package static let inputOutput = Code(rawValue: SQLITE_IOERR)
        package static let full = Code(rawValue: SQLITE_FULL)
        package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
    }
}

/// Throws an `SQLiteError` if `status` is a failure. All result codes of SQLite are checked here.
@discardableResult
func check(_ status: CInt, of connection: OpaquePointer?) throws(SQLiteError) -> SQLiteError.Code {
    let code = SQLiteError.Code(rawValue: status)
    switch code {
    case .ok, .row, .done: return code
    default:
        let text = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
        throw SQLiteError(code: code, message: text.map { String(cString: $0) } ?? "code \(status)")
    }
}
