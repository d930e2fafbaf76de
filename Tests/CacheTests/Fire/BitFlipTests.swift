import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Bits that flip on the disk are found, all of them, and nothing else is lost.
@Suite(.serialized) struct BitFlipTests {
    @Test(arguments: TestCount.seeds(90, full: 1_030))
    func `every flipped bit is found, by reading or by a verification`(seed: UInt64) async throws {
        let filled = try await FilledFolder(seed: seed, isSealed: seed % 4 == 3)
        try await filled.scene.waitUntilClosed()
        var random = SeededGenerator(seed: seed)
        let lost = try flip(in: filled, using: &random)

        TestCount.note("extents with flipped bits", Int64(lost.count))

        if seed % 2 == 0 {
            let report = try await filled.opener().verify()
            #expect(report.damagedBytes == lost.reduce(0) { $0 + Int64($1.range.count) })
            #expect(report.damaged.count == Set(lost.map(\.entry)).count)
            #expect(!report.isSound)
        }
        let found = try await filled.expectNoWrongByte(by: filled.opener())
        for name in filled.music.names {
            let gone = ByteRangeSet(lost.filter { $0.name == name }.map(\.range))
            #expect(found[name] == filled.kept[name]?.subtracting(gone))
        }
        if seed % 2 == 1 { #expect(filled.scene.notices.count(.damagedExtent) == lost.count) }

        // Once the bytes are written again, the next process reads all of them.
        try await filled.complete(by: filled.opener())
        let before = filled.scene.notices.all
        let whole = try await filled.expectNoWrongByte(by: filled.opener())
        for name in filled.music.names {
            let length = Int64(filled.music.newest(name)?.bytes.count ?? 0)
            #expect(whole[name] == ByteRangeSet(0..<length))
        }
        #expect(filled.scene.notices.all == before)
    }

    private struct Lost: Hashable {
        let entry: Int64
        let name: String
        let range: ByteRange
    }

    /// Flips up to five bits under claims; returns the extents that lie there.
    private func flip(in filled: FilledFolder, using random: inout SeededGenerator) throws -> Set<Lost> {
        var extents: [Lost] = []
        let connection = try SQLiteConnection(path: filled.scene.index)
        for name in filled.music.names {
            let key = Protection(filled.secret).key(of: try url(name).requestString)
            let sql = """
                SELECT extents.entry, start, stop FROM names JOIN extents ON extents.entry = names.entry
                WHERE key = ?
                """
            try connection.statement(sql).forEach(key) { row in
                extents.append(
                    Lost(entry: row.integer(0), name: name, range: row.integer(1)..<row.integer(2))
                )
                return true
            }
        }
        var lost = Set<Lost>()
        var places = Set<String>()
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let extent = try #require(extents.randomElement(using: &random))
            let offset = Int64.random(in: extent.range, using: &random)
            let path = filled.scene.file("objects/\(extent.entry)")
            // Flipping the same bit twice would change nothing.
            guard places.insert("\(path) \(offset)").inserted else { continue }
            try flipBit(Int.random(in: 0..<8, using: &random), ofByteAt: offset, in: path)
            lost.insert(extent)
        }
        return lost
    }
}
