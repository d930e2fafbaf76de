import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

@Suite struct CacheFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `what was committed is there for the next open of the folder`() async throws {
        let first = try await folder.opener().open(url("a.mp3"))
        try await first.write(pattern(0..<200_000), at: 0)
        try await first.write(pattern(900_000..<1_000_000), at: 900_000)
        first.describe(.example)
        await first.close()
        let second = try await folder.opener().open(url("a.mp3"))
        #expect(second.stored == ByteRangeSet([0..<200_000, 900_000..<1_000_000] as [ByteRange]))
        #expect(try await second.all(of: 0..<200_000) == pattern(0..<200_000))
        #expect(try await second.all(of: 900_000..<1_000_000) == pattern(900_000..<1_000_000))
        #expect(second.description == .example)
        await second.close()
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `random writes, commits and reopenings read like an array`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var model = [UInt8?](repeating: nil, count: 200_000)
        let opener = folder.opener()
        for round in 0..<4 {
            let store = try await opener.open(url("a.mp3"))
            try await expect(store, toEqual: model)
            for step in 0..<8 {
                let start = Int.random(in: 0..<model.count, using: &random)
                let end = min(model.count, start + Int.random(in: 1...9_000, using: &random))
                let bytes = pattern(Int64(start)..<Int64(end), salt: UInt64(round * 10 + step))
                try await store.write(bytes, at: Int64(start))
                for index in start..<end where model[index] == nil { model[index] = bytes[index - start] }
                if Bool.random(using: &random) { try await store.commit() }
            }
            await store.close()
        }
        let last = try await folder.opener().open(url("a.mp3"))
        try await expect(last, toEqual: model)
        await last.close()
    }

    @Test func `bytes that were not committed are gone when the process ends`() async throws {
        let killed = try await folder.opener().open(url("a.mp3"))
        try await killed.write(pattern(0..<1_000), at: 0)
        try await killed.commit()
        try await killed.write(pattern(1_000..<2_000), at: 1_000)
        #expect(killed.stored == ByteRangeSet(0..<2_000))
        let next = try await folder.opener().open(url("a.mp3"))
        #expect(next.stored == ByteRangeSet(0..<1_000))
        #expect(try await next.all(of: 0..<1_000) == pattern(0..<1_000))
        await next.close()
        await killed.close()
    }

    @Test func `what is opened, stored, pinned and removed is told, and a question is not`() async throws {
        let asker = folder.opener()
        let asked = Locked(0)
        asker.observe { asked.withLock { $0 += 1 } }
        let opener = folder.opener()
        let told = Locked(0)
        opener.observe { told.withLock { $0 += 1 } }
        func expectUpdate(_ what: String, by work: () async throws -> Void) async throws {
            // The clean-up after the first opening is not counted.
            for _ in 0..<8 { await opener.engine.committer.run {} }
            let before = told.withLock { $0 }
            try await work()
            #expect(told.withLock { $0 } > before, "\(what)")
        }
        let address = try url("a.mp3")
        try await expectUpdate("an entry is made") {
            await (try await opener.open(address)).close()
        }
        let store = try await opener.open(address)
        try await store.write(pattern(0..<1_000), at: 0)
        try await expectUpdate("bytes came") { try await store.commit() }
        try await expectUpdate("it is played again") {
            await (try await opener.open(address)).close()
        }
        try await expectUpdate("it is pinned") { try await opener.setPinned(address, true) }
        await store.close()
        #expect(try await asker.list().count == 1)
        _ = await asker.availability(of: [address])
        try await expectUpdate("it is removed") {
            _ = try await opener.evict([address], includingPinned: true)
        }
        #expect(try await asker.list().isEmpty)
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `a description alone is committed too`() async throws {
        let opener = folder.opener()
        let store = try await opener.open(url("a.mp3"))
        store.describe(.example)
        try await store.commit()
        let other = try await folder.opener().open(url("a.mp3"))
        #expect(other.description == .example)
        await store.close()
        await other.close()
    }

    @Test func `an entry that never got a byte leaves nothing behind`() async throws {
        let opener = folder.opener()
        let store = try await opener.open(url("a.mp3"))
        #expect(try folder.objects.count == 1)
        await store.close()
        #expect(try folder.objects == [])
        #expect(try await opener.list() == [])
    }

    @Test func `two folders on one path see what the other has committed at their opens`() async throws {
        let one = folder.opener()
        let two = folder.opener()
        let first = try await one.open(url("a.mp3"))
        try await first.write(pattern(0..<100_000), at: 0)
        try await first.commit()
        let second = try await two.open(url("a.mp3"))
        #expect(try await second.all(of: 0..<100_000) == pattern(0..<100_000))
        try await second.write(pattern(100_000..<150_000), at: 100_000)
        try await second.commit()
        let third = try await one.open(url("a.mp3"))
        #expect(try await third.all(of: 0..<150_000) == pattern(0..<150_000))
        for store in [first, second, third] { await store.close() }
    }

    @Test func `a store whose entry was replaced claims nothing in the new one`() async throws {
        let opener = folder.opener()
        let old = try await opener.open(url("a.mp3"))
        let new = try await opener.replace(url("a.mp3"))
        try await old.write(pattern(0..<1_000), at: 0)
        try await old.commit()
        #expect(!old.isPersistent)
        try await new.write(pattern(0..<500, salt: 1), at: 0)
        await old.close()
        await new.close()
        let next = try await opener.open(url("a.mp3"))
        #expect(next.stored == ByteRangeSet(0..<500))
        #expect(try await next.all(of: 0..<500) == pattern(0..<500, salt: 1))
        await next.close()
        #expect(try folder.objects.count == 1)
    }

    @Test func `the index holds no password, no user and no query`() async throws {
        let secret = try #require(WebURL("https://alice:wonderland@radio.example/a.mp3?token=sesame"))
        let opener = folder.opener()
        let store = try await opener.open(secret)
        try await store.write(pattern(0..<10), at: 0)
        await store.close()
        for name in ["index.sqlite", "index.sqlite-wal"] {
            guard let bytes = FileManager.default.contents(atPath: folder.file(name)) else { continue }
            for word in ["alice", "wonderland", "sesame", "token"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(word) stands in \(name)")
            }
        }
        #expect(try await opener.list().map(\.url.string) == ["https://radio.example/a.mp3?…"])
        #expect(try await opener.info(for: secret)?.storedBytes == 10)
    }

    @Test func `only the owner can look into the folder`() async throws {
        let store = try await folder.opener().open(url("a.mp3"))
        try await store.write(pattern(0..<10), at: 0)
        try await store.commit()
        #expect(try folder.permissions(folder.cache) == 0o700)
        #expect(try folder.permissions(folder.file("objects")) == 0o700)
        let object = try #require(folder.objects.first)
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "lock", "objects/\(object)"] {
            #expect(try folder.permissions(folder.file(name)) == 0o600, "\(name)")
        }
        await store.close()
    }
}
