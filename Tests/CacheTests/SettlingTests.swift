import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// How a process leaves the folder to the next one.
@Suite struct SettlingTests {
    private let scene: CacheScene
    private let opener: CacheFolder

    init() {
        scene = CacheScene()
        opener = scene.opener()
    }

    /// The length of the index's log; 0 if there is none.
    private var logSize: Int { scene.content("index.sqlite-wal")?.count ?? 0 }

    /// Commits a block at a time; returns how many.
    private func commit(_ store: any ByteStore, untilLogHas size: Int) async throws -> Int64 {
        var count: Int64 = 0
        while logSize <= size {
            try await store.write(pattern(count * 65_536..<(count + 1) * 65_536), at: count * 65_536)
            try await store.commit()
            count += 1
        }
        return count
    }

    private static let long = 256 * 1024

    @Test func `settling empties a long log and keeps all claims`() async throws {
        let store = try await opener.open(url("a"))
        let count = try await commit(store, untilLogHas: Self.long)
        // Questions have a connection of their own.
        #expect(try await opener.list().count == 1)
        await opener.settle()
        #expect(logSize == 0)
        // The store can still be used.
        try await store.write(pattern(count * 65_536..<count * 65_536 + 10), at: count * 65_536)
        await store.close()
        let next = try await scene.opener().open(url("a"))
        let end = count * 65_536 + 10
        #expect(next.stored == ByteRangeSet(0..<end))
        #expect(try await next.holds(0..<end))
        await next.close()
    }

    @Test func `settling leaves a short log, so that a replay ends without waiting for the disk`()
        async throws
    {
        let store = try await opener.open(url("a"))
        _ = try await commit(store, untilLogHas: 0)
        let before = logSize
        #expect((1...Self.long).contains(before))
        await opener.settle()
        #expect(logSize == before)
        await store.close()
    }

    @Test func `a log that another process reads is left as it is`() async throws {
        let store = try await opener.open(url("a"))
        _ = try await commit(store, untilLogHas: 1)
        let other = try SQLiteConnection(path: scene.index)
        try other.execute("BEGIN")
        let entries = "SELECT count(*) FROM extents"
        let seen = try other.statement(entries).first { $0.integer(0) }
        let count = try await commit(store, untilLogHas: Self.long)
        await opener.settle()
        #expect(logSize > Self.long)
        #expect(try other.statement(entries).first { $0.integer(0) } == seen)
        try other.execute("COMMIT")
        #expect(store.stored.covers(0..<count * 65_536))
        await store.close()
    }
}
