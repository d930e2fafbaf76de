import CSQLite

/// A prepared statement, used by the one thread that uses its connection.
package final class SQLiteStatement {
    private let pointer: OpaquePointer
    private let connection: OpaquePointer

    /// Prepares `sql`, which must be a single statement.
    init(_ sql: String, on connection: OpaquePointer) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        do {
            try check(sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil), of: connection)
        } catch let error where error.code == .error {
            // All statements are constants of this program: if one does not match the tables, the tables are
            // damaged.
            throw SQLiteError(code: .schema, message: error.message)
        }
        guard let prepared else {
            throw SQLiteError(code: .error, message: "an empty statement")
        }
        pointer = prepared
        self.connection = connection
    }

    deinit { sqlite3_finalize(pointer) }

    /// Runs the statement with `values` in place of its parameters, and ignores its rows.
    package func run(_ values: (any SQLiteValue)?...) throws { try run(all: values) }

    /// Runs the statement with `values` in place of its parameters, and ignores its rows.
    package func run(all values: [(any SQLiteValue)?]) throws {
        try step(through: values) { _ in false }
    }

    /// Runs the statement and passes each row to `body`, until that returns `false`. The row is valid within
    /// `body`.
    package func forEach(_ values: (any SQLiteValue)?..., row body: (borrowing SQLiteRow) throws -> Bool)
        throws
    {
        try step(through: values, row: body)
    }

    /// All rows as `body` reads them, except those for which it returns `nil`.
    package func all<Value>(
        _ values: (any SQLiteValue)?...,
        row body: (borrowing SQLiteRow) throws -> Value?
    ) throws -> [Value] {
        var all: [Value] = []
        try step(through: values) { row in
            if let value = try body(row) { all.append(value) }
            return true
        }
        return all
    }

    /// The first row as `body` reads it; `nil` if there is none.
    package func first<Value>(
        _ values: (any SQLiteValue)?...,
        row body: (borrowing SQLiteRow) throws -> Value
    ) throws -> Value? {
        var value: Value?
        try step(through: values) { row in
            value = try body(row)
            return false
        }
        return value
    }

    private func step(through values: [(any SQLiteValue)?], row body: (borrowing SQLiteRow) throws -> Bool)
        throws
    {
        // Without a reset, the statement's read transaction would stay open and prevent checkpoints of the
        // log.
        defer {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
        for (index, value) in values.enumerated() {
            let status = value?.bind(to: pointer, at: CInt(index) + 1)
            try check(status ?? sqlite3_bind_null(pointer, CInt(index) + 1), of: connection)
        }
        while try check(sqlite3_step(pointer), of: connection) == .row {
            guard try body(SQLiteRow(pointer: pointer)) else { return }
        }
    }
}

/// A parameter of a statement; `nil` is bound as NULL.
package protocol SQLiteValue {
    /// Returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: CInt) -> CInt
}

extension Int64: SQLiteValue {
    package func bind(to statement: OpaquePointer, at index: CInt) -> CInt {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension String: SQLiteValue {
    package func bind(to statement: OpaquePointer, at index: CInt) -> CInt {
        sqlite3_bind_text64(statement, index, self, UInt64(utf8.count), copied, UInt8(SQLITE_UTF8))
    }
}

extension [UInt8]: SQLiteValue {
    package func bind(to statement: OpaquePointer, at index: CInt) -> CInt {
        // The pointer of an empty array is null, which would bind NULL.
        guard !isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
        return sqlite3_bind_blob64(statement, index, self, UInt64(count), copied)
    }
}

/// SQLite's `SQLITE_TRANSIENT`, a macro that Swift cannot import: SQLite copies the value at once.
private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

/// The current row of a statement, valid until its next step.
package struct SQLiteRow: ~Copyable {
    fileprivate let pointer: OpaquePointer

    package func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(pointer, column) }

    package func optionalInteger(_ column: CInt) -> Int64? { isNull(column) ? nil : integer(column) }

    package func optionalReal(_ column: CInt) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(pointer, column)
    }

    package func optionalText(_ column: CInt) -> String? {
        guard let text = sqlite3_column_text(pointer, column) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    package func blob(_ column: CInt) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(pointer, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(pointer, column))))
    }

    package func isNull(_ column: CInt) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
}
