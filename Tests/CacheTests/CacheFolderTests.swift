import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

@Suite struct CacheFolderTests {
    private let scene = CacheScene()

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `random writes, commits and reopenings read like an array`(seed: UInt64) async throws {
        var model = StoreModel(seed: seed)
        let opener = scene.opener()
        for _ in 0..<4 {
            let store = try await opener.open(url("a"))
            try await model.expectEqual(store)
            for _ in 0..<8 {
                try await model.write(9_000, to: store)
                if Bool.random(using: &model.random) { try await store.commit() }
            }
            await store.close()
        }
        try await model.expectEqual(scene.opener().open(url("a")))
    }

    @Test func `committed bytes and descriptions outlive the process, uncommitted bytes do not`() async throws
    {
        let killed = try await scene.opener().opened("a", 0..<1_000, 900_000..<1_000_000)
        killed.describe(.example)
        try await killed.commit()
        try await killed.write(1_000..<2_000)
        let next = try await scene.opener().open(url("a"))
        #expect(next.stored == ByteRangeSet([0..<1_000, 900_000..<1_000_000] as [ByteRange]))
        #expect(try await next.holds(0..<1_000))
        #expect(try await next.holds(900_000..<1_000_000))
        #expect(next.description == .example)
        await killed.close()
    }

    @Test func `the observer is called after openings, commits, pins and removals, not after queries`()
        async throws
    {
        let asker = scene.opener()
        let asked = Locked(0)
        asker.observe { asked.withLock { $0 += 1 } }
        let opener = scene.opener()
        let calls = Locked(0)
        opener.observe { calls.withLock { $0 += 1 } }
        func expectCall(after work: () async throws -> Void, line: Int = #line) async throws {
            // The clean-up after the first opening is not counted.
            await opener.rest()
            let before = calls.withLock { $0 }
            try await work()
            #expect(calls.withLock { $0 } > before, "line \(line)")
        }
        let address = try url("a")
        try await expectCall { await (try await opener.open(address)).close() }
        let store = try await opener.open(address)
        try await store.write(0..<1_000)
        try await expectCall { try await store.commit() }
        try await expectCall { await (try await opener.open(address)).close() }
        try await expectCall { try await opener.setPinned(address, true) }
        await store.close()
        #expect(try await asker.list().count == 1)
        _ = await asker.availability(of: [address])
        let entries = try await asker.entries("a")
        try await expectCall { _ = try await opener.evict(entries, includingPinned: true) }
        #expect(try await asker.list().isEmpty)
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `an entry without bytes leaves nothing behind when it is closed`() async throws {
        let opener = scene.opener()
        let store = try await opener.open(url("a"))
        #expect(try scene.objects.count == 1)
        await store.close()
        #expect(try scene.objects == [])
        #expect(try await opener.list() == [])
    }

    @Test func `queries of a missing folder find nothing and create none`() async throws {
        let opener = scene.opener()
        #expect(try await opener.list() == [])
        #expect(try await opener.clear(includingPinned: true) == CacheRemoval())
        #expect(try await opener.verify() == VerifyReport())
        #expect(try await opener.availability(of: [url("a")]) == [nil])
        #expect(try await !opener.holdsSome(of: url("a")))
        #expect(access(scene.cache, F_OK) != 0)
    }

    @Test func `a store whose entry was replaced claims nothing in the new one`() async throws {
        let opener = scene.opener()
        let old = try await opener.open(url("a"))
        let new = try await opener.replace(url("a"))
        try await old.write(0..<1_000)
        try await old.commit()
        #expect(!old.isPersistent)
        try await new.write(0..<500, salt: 1)
        await old.close()
        await new.close()
        let next = try await opener.open(url("a"))
        #expect(next.stored == ByteRangeSet(0..<500))
        #expect(try await next.holds(0..<500, salt: 1))
        #expect(try scene.objects.count == 1)
    }

    @Test func `the index holds no user name, password or query`() async throws {
        let secret = try #require(WebURL("https://alice:wonderland@radio.example/a.mp3?token=sesame"))
        let opener = scene.opener()
        let store = try await opener.open(secret)
        try await store.write(0..<10)
        await store.close()
        for name in ["index.sqlite", "index.sqlite-wal"] {
            guard let bytes = scene.content(name) else { continue }
            for word in ["alice", "wonderland", "sesame", "token"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) stands in \(name)")
            }
        }
        #expect(try await opener.list().map(\.url.string) == ["https://radio.example/a.mp3?…"])
        #expect(try await opener.info(for: secret)?.storedBytes == 10)
    }
}
