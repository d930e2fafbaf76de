import Foundation
import Media
import System

@testable import Cache

/// What an index claims, compared with the bytes it ought to be, without the code under test.
struct FolderAudit {
    /// The claimed bytes, by entity tag.
    private(set) var claims: [String: ByteRangeSet] = [:]
    /// The sentence about every claim that is not true.
    private(set) var lies: [String] = []

    /// Looks at the folder at `path`. Throws where the index cannot be read at all.
    ///
    /// Without a secret the objects must hold the very bytes; with one, what is unsealed must be them.
    init(path: String, music: FireMusic, secret: CacheSecret? = nil) throws {
        let index = path + "/index.sqlite"
        guard FileManager.default.fileExists(atPath: index) else { return }
        let connection = try SQLiteConnection(path: index)
        guard try Self.hasTables(connection) else { return }
        try connection.statement("PRAGMA integrity_check").forEach { row in
            let text = row.optionalText(0) ?? ""
            if text != "ok" { lies.append("the index: \(text)") }
            return true
        }
        var claims: [(entry: EntryID, record: [UInt8], range: ByteRange, digest: [UInt8])] = []
        let sql = """
            SELECT id, about, start, stop, digest FROM entries JOIN extents ON entry = id ORDER BY id, start
            """
        try connection.statement(sql).forEach { row in
            let range = row.integer(2)..<max(row.integer(2), row.integer(3))
            claims.append((EntryID(row.integer(0)), row.blob(1), range, row.blob(4)))
            return true
        }
        let protection = Protection(secret)
        var objects: [EntryID: [UInt8]] = [:]
        for claim in claims {
            let path = path + "/objects/" + claim.entry.fileName
            let object =
                objects[claim.entry] ?? [UInt8](FileManager.default.contents(atPath: path) ?? Data())
            objects[claim.entry] = object
            let record = protection.record(from: claim.record, in: .about, of: claim.entry)
            let etag = record.flatMap { EntryRecord(bytes: $0) }?.description.validators.etag ?? ""
            guard claim.range.upperBound <= Int64(object.count) else {
                lies.append("bytes \(claim.range) of \(etag): the object has \(object.count) bytes")
                continue
            }
            let kept = Array(object[Int(claim.range.lowerBound)..<Int(claim.range.upperBound)])
            let extent = ExtentCheck(bytes: claim.digest).map { Extent(range: claim.range, check: $0) }
            let bytes =
                secret == nil
                ? kept : extent.flatMap { protection.bytes(of: $0, from: kept, of: claim.entry) }
            guard let source = music.bytes(etag: etag), let bytes,
                bytes.matches(source, at: Int(claim.range.lowerBound))
            else {
                lies.append("bytes \(claim.range) of \(etag): wrong bytes")
                continue
            }
            self.claims[etag, default: ByteRangeSet()].insert(contentsOf: claim.range)
        }
    }

    /// Nothing was ever claimed by an index that was cut off before it had tables.
    private static func hasTables(_ connection: SQLiteConnection) throws -> Bool {
        try connection.statement("SELECT 1 FROM sqlite_master WHERE name = 'extents'").first { _ in true }
            ?? false
    }
}
