import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// How a process leaves the folder to the next one.
@Suite struct SettlingTests {
    private let folder: TemporaryFolder
    private let opener: CacheFolder

    init() throws {
        folder = try TemporaryFolder()
        opener = folder.opener()
    }

    /// The bytes of the index's log; 0 where there is none.
    private var logSize: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.file("index.sqlite-wal"))
        return attributes?[.size] as? Int ?? 0
    }

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

    @Test func `a long log is emptied, and all that was claimed stays`() async throws {
        let store = try await opener.open(url("a.mp3"))
        let count = try await commit(store, untilLogHas: Self.long)
        // Questions have a connection of their own.
        #expect(try await opener.list().count == 1)
        await opener.settle()
        #expect(logSize == 0)
        // Who goes on after all is no worse off.
        try await store.write(pattern(count * 65_536..<count * 65_536 + 10), at: count * 65_536)
        await store.close()
        let next = try await folder.opener().open(url("a.mp3"))
        let end = count * 65_536 + 10
        #expect(next.stored == ByteRangeSet(0..<end))
        #expect(try await next.all(of: 0..<end) == pattern(0..<end))
        await next.close()
    }

    @Test func `a short log is left, so that a replay ends without waiting for the disk`() async throws {
        let store = try await opener.open(url("a.mp3"))
        _ = try await commit(store, untilLogHas: 0)
        let before = logSize
        #expect((1...Self.long).contains(before))
        await opener.settle()
        #expect(logSize == before)
        await store.close()
    }

    @Test func `a log that somebody reads is left to them`() async throws {
        let store = try await opener.open(url("a.mp3"))
        _ = try await commit(store, untilLogHas: 1)
        let other = try folder.index()
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
