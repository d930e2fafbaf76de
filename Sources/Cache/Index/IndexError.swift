import CSQLite

/// A failure of SQLite.
struct IndexError: Error, CustomStringConvertible {
    let code: ResultCode
    /// SQLite's own message, which names tables and columns but no values.
    let message: String

    /// `true` if the file is not an index, or is damaged: a new one must replace it.
    ///
    /// A violated constraint is damage too. Under the folder's lock, rows are only written after reading the
    /// existing ones, so a violation means that SQLite read something else than what is stored.
    var isDamage: Bool { [.corrupt, .notADatabase, .constraint, .schema].contains(code) }

    /// `true` if the cause may be that the disk or the folder accepts no writes.
    var isRefusal: Bool { [.readOnly, .inputOutput, .full, .cannotOpen].contains(code) }

    var description: String { "the index failed (\(message))" }
}

/// Another version made the index, in a format that this one does not read. Nothing in the folder is changed.
struct IndexFormatError: Error, CustomStringConvertible {
    let format: Int64

    var description: String {
        "another version made it (format \(format)); use another --cache-dir, or cache clear --pinned"
    }
}

/// A result code of SQLite, primary part only (sqlite.org/rescode.html).
struct ResultCode: RawRepresentable, Equatable, Sendable {
    let rawValue: CInt

    init(rawValue: CInt) { self.rawValue = rawValue & 0xFF }

    static let ok = ResultCode(rawValue: SQLITE_OK)
    static let row = ResultCode(rawValue: SQLITE_ROW)
    static let done = ResultCode(rawValue: SQLITE_DONE)
    /// Another connection holds a lock.
    static let busy = ResultCode(rawValue: SQLITE_BUSY)
    static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
    static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)
    static let error = ResultCode(rawValue: SQLITE_ERROR)
    static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
    /// The tables do not fit the format they claim to have.
    static let schema = ResultCode(rawValue: SQLITE_SCHEMA)
    static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
    static let inputOutput = ResultCode(rawValue: SQLITE_IOERR)
    static let full = ResultCode(rawValue: SQLITE_FULL)
    static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
}

/// Throws an `IndexError` if `status` is a failure. All result codes of SQLite are checked here.
@discardableResult
func check(_ status: CInt, of connection: OpaquePointer?) throws(IndexError) -> ResultCode {
    let code = ResultCode(rawValue: status)
    switch code {
    case .ok, .row, .done: return code
    default:
        let text = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
        throw IndexError(code: code, message: text.map { String(cString: $0) } ?? "code \(status)")
    }
}
