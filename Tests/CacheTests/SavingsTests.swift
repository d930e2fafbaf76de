import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The sums of what was heard from a folder.
@Suite struct SavingsTests {
    private let scene = CacheScene()
    /// 2026-11-27 12:00 UTC.
    private static let noon: Int64 = 1_795_780_800
    private static let day: Int64 = 86_400

    private func index(_ secret: CacheSecret? = nil) throws -> CacheIndex {
        let path = scene.file("index.sqlite")
        if !FileManager.default.fileExists(atPath: path) {
            try FileManager.default.createDirectory(atPath: scene.cache, withIntermediateDirectories: true)
            try Data().write(to: URL(fileURLWithPath: path))
        }
        return try CacheIndex(path: path, protection: Protection(secret))
    }

    private static func heard(_ heard: Int64, saved: Int64) -> HeardBytes {
        HeardBytes(heard: heard, saved: saved)
    }

    @Test(arguments: [false, true])
    func `what was heard is summed by day, month, server and in all, and a sealed folder names no server`(
        isSealed: Bool
    ) async throws {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        do {
            let savings = try index(secret).savings
            try savings.add(Self.heard(100, saved: 100), of: "old.example", at: Self.noon - 60 * Self.day)
            try savings.add(Self.heard(1_000, saved: 0), of: "a.example", at: Self.noon - 2 * Self.day)
            try savings.add(Self.heard(1_000, saved: 1_000), of: "a.example", at: Self.noon)
            try savings.add(Self.heard(400, saved: 300), of: "b.example", at: Self.noon)
            let all = try savings.all(at: Self.noon)
            #expect(all.today == Self.heard(1_400, saved: 1_300))
            #expect(all.month == Self.heard(2_400, saved: 1_300))
            #expect(all.total == Self.heard(2_500, saved: 1_400))
            #expect(all.hosts.map(\.name) == ["a.example", "b.example", "old.example"])
            #expect(all.hosts.first?.total == Self.heard(2_000, saved: 1_000))
            #expect(all.text == "1 kB saved this month, 54 % of what you heard")
            // Next month, the sums in all are said.
            let later = try savings.all(at: Self.noon + 31 * Self.day)
            #expect(later.text == "1 kB saved, 56 % of what you heard")
        }
        let bytes = try #require(FileManager.default.contents(atPath: scene.file("index.sqlite")))
        #expect((bytes.range(of: Data("a.example".utf8)) == nil) == isSealed)
        let other = try index(secret)
        #expect(try other.savings.all(at: Self.noon).hosts.count == 3)
    }

    @Test func `31 days and 12 months are kept`() throws {
        let index = try index()
        for day in (0..<800).reversed() {
            try index.savings.add(Self.heard(10, saved: 5), of: "a", at: Self.noon - Int64(day) * Self.day)
        }
        let connection = try SQLiteConnection(path: scene.file("index.sqlite"))
        func count(_ condition: String) throws -> Int64? {
            let sql = "SELECT count(*) FROM savings WHERE \(condition)"
            return try connection.statement(sql).first { $0.integer(0) }
        }
        #expect(try count("period > 999999") == 31)
        #expect(try count("period BETWEEN 1 AND 999999") == 12)
        #expect(try index.savings.all(at: Self.noon).total == Self.heard(8_000, saved: 4_000))
    }

    @Test func `two players add to the same sums, and nothing is counted without a folder`() async throws {
        let place = try url("a")
        #expect(try await scene.opener().savings() == Savings())
        let early = scene.opener()
        early.count(Self.heard(7, saved: 7), of: place)
        // It is counted in the background, which must not find the folder of the others.
        await early.settle()
        let players = [scene.opener(), scene.opener()]
        try await players[0].cache("a")
        for _ in 0..<10 {
            for player in players { player.count(Self.heard(5, saved: 4), of: place) }
        }
        for player in players { await player.settle() }
        #expect(try await scene.opener().savings().total == Self.heard(100, saved: 80))
        // Deleting music changes nothing that was heard.
        _ = try await players[0].clear(includingPinned: true)
        #expect(try await scene.opener().savings().total == Self.heard(100, saved: 80))
    }
}
