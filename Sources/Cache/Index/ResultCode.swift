import CSQLite

/// A result code of SQLite, primary part only (sqlite.org/rescode.html).
struct ResultCode: RawRepresentable, Equatable, Sendable {
    let rawValue: CInt

    init(rawValue: CInt) { self.rawValue = rawValue & 0xFF }

    static let ok = ResultCode(rawValue: SQLITE_OK)
    static let row = ResultCode(rawValue: SQLITE_ROW)
    static let done = ResultCode(rawValue: SQLITE_DONE)
    static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    /// Another connection holds a lock.
    static let busy = ResultCode(rawValue: SQLITE_BUSY)
    static let error = ResultCode(rawValue: SQLITE_ERROR)
    static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    /// Tables that are not those of the format they claim to have.
    static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
    static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    static let full = ResultCode(rawValue: SQLITE_FULL)
    static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
}
