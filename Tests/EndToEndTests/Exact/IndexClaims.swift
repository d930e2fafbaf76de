import CSQLite
import Foundation
import Media
import TestSupport

/// The bytes that the index of a cache folder claims of one entry, read without the player's code.
struct IndexClaims {
    /// The bytes that extents cover; empty if there is no entry or no index yet.
    private(set) var ranges = ByteRangeSet()
    /// The byte range of each extent.
    private(set) var extents: [ByteRange] = []
    private let cachePath: String
    private var fileName: String?

    /// Reads the index as its last commit left it, also when a process that wrote it was killed.
    init(cachePath: String, url: String) throws {
        self.cachePath = cachePath
        let path = cachePath + "/index.sqlite"
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            // Read-only: this must not change what the killed run left for the next one.
            try read(path, SQLITE_OPEN_READONLY, url: url)
        } catch let failure as NeedsRollback {
            // Killed in the middle of its very first transaction, which has to be undone to be looked at.
            let folder = try TemporaryFolder()
            for suffix in ["", "-wal", "-journal"] {
                let copy = folder.path("index.sqlite" + suffix)
                try? FileManager.default.copyItem(atPath: path + suffix, toPath: copy)
            }
            guard failure.isWorthACopy else { throw failure }
            ranges = ByteRangeSet()
            extents = []
            try read(folder.path("index.sqlite"), SQLITE_OPEN_READWRITE, url: url)
        }
    }

    /// The database cannot be read without being written to first.
    private struct NeedsRollback: Error {
        let isWorthACopy: Bool
    }

    private mutating func read(_ path: String, _ mode: CInt, url: String) throws {
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(path, &opened, mode, nil)
        defer { sqlite3_close(opened) }
        guard status == SQLITE_OK, let database = opened else { throw Self.failure(opened) }
        sqlite3_busy_timeout(database, 10_000)
        do {
            try Self.rows(of: database, "SELECT id FROM entries WHERE url = ?", url) { row in
                fileName = String(sqlite3_column_int64(row, 0))
            }
            let query = "SELECT start, stop FROM extents JOIN entries ON entry = id WHERE url = ?"
            try Self.rows(of: database, query, url) { row in
                extents.append(sqlite3_column_int64(row, 0)..<sqlite3_column_int64(row, 1))
            }
            ranges = ByteRangeSet(extents)
        } catch {
            guard sqlite3_errcode(database) == SQLITE_READONLY else { throw error }
            throw NeedsRollback(isWorthACopy: mode == SQLITE_OPEN_READONLY)
        }
    }

    /// The first claimed byte that is not the one of `source` in its place; nil when all are.
    func firstFalseByte(comparedWith source: [UInt8]) throws -> Int64? {
        guard let fileName, !ranges.isEmpty else { return nil }
        let object = try Data(contentsOf: URL(fileURLWithPath: cachePath + "/objects/" + fileName))
        for range in ranges.ranges {
            guard range.upperBound <= Int64(min(object.count, source.count)) else {
                return range.upperBound - 1
            }
            let start = Int(range.lowerBound)
            let end = Int(range.upperBound)
            let difference = object[start..<end].firstDifference(from: source[start..<end])
            if let difference { return range.lowerBound + Int64(difference) }
        }
        return nil
    }

    private static func rows(
        of database: OpaquePointer,
        _ sql: String,
        _ url: String,
        _ body: (OpaquePointer) -> Void
    ) throws {
        var prepared: OpaquePointer?
        let status = sqlite3_prepare_v2(database, sql, -1, &prepared, nil)
        defer { sqlite3_finalize(prepared) }
        guard let statement = prepared, status == SQLITE_OK else {
            // A process that was killed in its very first moments left an index without tables.
            if String(cString: sqlite3_errmsg(database)).hasPrefix("no such table") { return }
            throw failure(database)
        }
        // SQLite copies the text: the pointer is only good during the call.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, 1, url, -1, copies)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: body(statement)
            case SQLITE_DONE: return
            default: throw failure(database)
            }
        }
    }

    private static func failure(_ database: OpaquePointer?) -> RunningProcess.Failure {
        RunningProcess.Failure(description: "the index: " + String(cString: sqlite3_errmsg(database)))
    }
}
