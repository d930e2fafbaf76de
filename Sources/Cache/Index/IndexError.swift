import CSQLite

/// A failure of the index.
struct IndexError: Error, CustomStringConvertible {
    let code: ResultCode
    /// SQLite's own words, which name tables and columns but no values.
    let message: String

    /// The file is no index any more, or one that cannot be read; a new one has to take its place.
    ///
    /// A broken constraint is damage too: under the folder's lock nothing is put down without a look at what
    /// is there, so what was seen and what is there differ.
    var isDamage: Bool { [.corrupt, .notADatabase, .constraint, .schema].contains(code) }

    /// The disk or the folder may be one that takes nothing.
    var isRefusal: Bool { [.readOnly, .inputOutput, .full, .cannotOpen].contains(code) }

    var description: String { "the index failed (\(message))" }
}

/// The index has a format that this version does not read.
enum IndexFormatError: Error, CustomStringConvertible {
    /// A later version made it. Nothing in the folder is changed.
    case newer(Int64)
    /// An earlier version made it, and nobody else has it open: a new index takes its place.
    case older(Int64)
    /// An earlier version made it, and another process has it open. Nothing in the folder is changed.
    case olderInUse(Int64)

    var description: String {
        switch self {
        case .newer(let format):
            "its index was made by a newer version (format \(format)); use that version or another folder"
        case .older(let format): "its index has the outdated format \(format)"
        case .olderInUse(let format):
            "its index has the outdated format \(format), and another process has it open; end that process or "
                + "use another folder"
        }
    }
}

/// Turns a result code into an error; the one place that does. Returns what is not one.
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
