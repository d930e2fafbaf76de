/// A value on its way into a statement.
enum SQLiteValue {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    /// Null where there is no number.
    init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
    /// Null where there is no number.
    init(_ value: Double?) { self = value.map { .real($0) } ?? .null }
    /// Null where there is no text.
    init(_ value: String?) { self = value.map { .text($0) } ?? .null }
    /// Null where there are no bytes.
    init(_ value: [UInt8]?) { self = value.map { .blob($0) } ?? .null }
    /// Null where it is unknown, else 0 or 1.
    init(_ value: Bool?) { self = value.map { .integer($0 ? 1 : 0) } ?? .null }
}
