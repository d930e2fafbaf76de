import Glibc
import System
import TestSupport
import Testing

@Suite struct SQLiteTests {
    private let folder: TemporaryFolder
    /// An empty file is an empty database.
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = try folder.write([], to: "a b%.sqlite")
    }

    private func opened() throws -> SQLiteConnection { try SQLiteConnection(path: path) }

    /// A connection whose database has the table `t` with a row for each of `texts`.
    private func filled(_ texts: String...) throws -> SQLiteConnection {
        let connection = try opened()
        try connection.execute("CREATE TABLE t (name TEXT PRIMARY KEY) STRICT")
        for text in texts { try connection.statement("INSERT INTO t VALUES (?)").run(text) }
        return connection
    }

    private func names(_ connection: SQLiteConnection) throws -> [String] {
        try connection.statement("SELECT name FROM t ORDER BY name").all { $0.optionalText(0) }
    }

    /// The code of the error that `body` throws; `nil` if it throws none.
    private func failure(_ body: () throws -> Void) -> SQLiteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteError)?.code
        }
    }

    @Test func `values come back as they were stored, and empty ones are not null`() throws {
        let connection = try opened()
        try connection.execute("CREATE TABLE v (i INTEGER, t TEXT, b BLOB, n TEXT)")
        let texts = ["", "Käse 🧀", "a\0b"]
        let blobs: [[UInt8]] = [[], [0, 255, 1], Array(repeating: 7, count: 100_000)]
        let integers = [Int64.min, 0, .max]
        for index in 0..<3 {
            let insert = try connection.statement("INSERT INTO v VALUES (?, ?, ?, ?)")
            try insert.run(integers[index], texts[index], blobs[index], nil)
        }
        #expect(connection.allChangeCount == 3)
        let select = try connection.statement("SELECT i, t, b, n, b IS NULL FROM v")
        #expect(try select.all { $0.integer(0) } == integers)
        #expect(try select.all { $0.optionalText(1) } == texts)
        #expect(try select.all { $0.blob(2) } == blobs)
        #expect(try select.all { $0.optionalText(3) } == [])
        #expect(try select.all { $0.optionalInteger(3) } == [])
        #expect(try select.all { $0.integer(4) } == [0, 0, 0])
    }

    @Test func `an error within a transaction undoes all of it`() throws {
        let connection = try filled("a")
        #expect(
            failure {
                try connection.transaction {
                    try connection.statement("INSERT INTO t VALUES (?)").run("b")
                    try connection.statement("INSERT INTO t VALUES (?)").run("a")
                }
            } == .constraint
        )
        #expect(try names(connection) == ["a"])
        try connection.transaction { try connection.execute("INSERT INTO t VALUES ('c')") }
        #expect(try names(try opened()) == ["a", "c"])
    }

    @Test func `within a snapshot, the commits of others are not seen`() throws {
        let reader = try filled("a")
        try reader.execute("PRAGMA journal_mode = WAL")
        let writer = try opened()
        try reader.snapshot {
            #expect(try names(reader) == ["a"])
            try writer.execute("INSERT INTO t VALUES ('b')")
            #expect(try names(reader) == ["a"])
        }
        #expect(try names(reader) == ["a", "b"])
    }

    @Test func `a statement that stops early holds no lock`() throws {
        let connection = try filled("a", "b")
        #expect(try connection.statement("SELECT name FROM t").first { $0.optionalText(0) } == "a")
        try opened().execute("DROP TABLE t")
    }

    @Test func `a statement that fits no table means damage`() throws {
        let connection = try filled()
        let code = failure { _ = try connection.statement("SELECT unknown FROM t") }
        #expect(code == .schema)
        #expect(SQLiteError(code: .schema, message: "").isDamage)
    }

    @Test func `noise is no database, and a folder, a missing file and a symlink are not opened`() throws {
        try folder.write((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) }, to: "noise")
        let noise = failure {
            try SQLiteConnection(path: folder.path("noise")).execute("SELECT 1 FROM sqlite_schema")
        }
        #expect(noise == .notADatabase)
        try folder.makeFolder("folder")
        symlink(path, folder.path("link"))
        for name in ["folder", "missing", "link"] {
            #expect(failure { _ = try SQLiteConnection(path: folder.path(name)) } == .cannotOpen)
        }
    }

    @Test(arguments: [false, true])
    func `in a read-only folder a database is read, with its log if asked`(hasLog: Bool) throws {
        let writer = try filled("a")
        try writer.execute("PRAGMA journal_mode = WAL; INSERT INTO t VALUES ('b')")
        let reader = try SQLiteConnection(unwritablePath: path, hasLog: hasLog)
        #expect(try names(reader) == (hasLog ? ["a", "b"] : ["a"]))
        #expect(failure { try reader.execute("DELETE FROM t") } == .readOnly)
    }
}
