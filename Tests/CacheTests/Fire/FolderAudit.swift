import Foundation
import Media

@testable import Cache

/// What an index claims, compared with the bytes it ought to be, without the code under test.
struct FolderAudit {
    /// What is claimed, by entity tag.
    private(set) var claims: [String: ByteRangeSet] = [:]
    /// The sentence about every claim that is not true.
    private(set) var lies: [String] = []

    /// Looks at the folder at `path`. Throws where the index cannot be read at all.
    init(path: String, music: FireMusic) throws {
        let index = path + "/index.sqlite"
        guard FileManager.default.fileExists(atPath: index) else { return }
        let connection = try SQLiteConnection(path: index)
        guard try Self.hasTables(connection) else { return }
        try connection.statement("PRAGMA integrity_check").forEach { row in
            let text = row.optionalText(0) ?? ""
            if text != "ok" { lies.append("the index: \(text)") }
            return true
        }
        var rows: [(etag: String, file: String, range: ByteRange)] = []
        let sql = "SELECT etag, id, start, stop FROM entries JOIN extents ON entry = id ORDER BY id, start"
        try connection.statement(sql).forEach { row in
            let range = row.integer(2)..<max(row.integer(2), row.integer(3))
            rows.append((row.optionalText(0) ?? "", String(row.integer(1)), range))
            return true
        }
        var objects: [String: [UInt8]] = [:]
        for row in rows {
            let path = path + "/objects/" + row.file
            let object = objects[row.file] ?? [UInt8](FileManager.default.contents(atPath: path) ?? Data())
            objects[row.file] = object
            check(row, object: object, music: music)
        }
    }

    private mutating func check(
        _ row: (etag: String, file: String, range: ByteRange),
        object: [UInt8],
        music: FireMusic
    ) {
        let subject = "bytes \(row.range) of \(row.etag)"
        guard let source = music.bytes(etag: row.etag), row.range.upperBound <= Int64(source.count) else {
            lies.append("\(subject): no such resource")
            return
        }
        guard row.range.upperBound <= Int64(object.count) else {
            lies.append("\(subject): the object has \(object.count) bytes")
            return
        }
        let (start, end) = (Int(row.range.lowerBound), Int(row.range.upperBound))
        guard Array(object[start..<end]).matches(source, at: start) else {
            lies.append("\(subject): wrong bytes")
            return
        }
        claims[row.etag, default: ByteRangeSet()].insert(contentsOf: row.range)
    }

    /// Nothing was ever claimed by an index that was cut off before it had tables.
    private static func hasTables(_ connection: SQLiteConnection) throws -> Bool {
        try connection.statement("SELECT 1 FROM sqlite_master WHERE name = 'extents'").first { _ in true }
            ?? false
    }
}
