import Media
import System
import TestSupport
import Testing

@testable import Cache

/// When bytes are claimed, and that nothing is claimed before it is on the disk.
@Suite struct DurabilityTests {
    private let folder: TemporaryFolder
    private let files = RecordingFiles()
    private let clock = TestClock()
    private let opener: CacheFolder

    init() throws {
        folder = try TemporaryFolder()
        opener = CacheFolder(path: folder.cache, clock: clock, files: files)
    }

    /// What another process would find.
    private func claimed() async throws -> ByteRangeSet {
        try await CacheFolder(path: folder.cache, clock: clock).info(for: url("a.mp3"))?.stored
            ?? ByteRangeSet()
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `no transaction claims bytes that were not flushed after their last write`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: seed)
        let store = try await opener.open(url("a.mp3"))
        // Too little to commit by itself: the test alone says when, and the order noted is that of the bytes.
        for _ in 0..<30 {
            let start = Int64.random(in: 0..<3_000_000, using: &random)
            try await store.write(
                pattern(start..<start + Int64.random(in: 1...30_000, using: &random)),
                at: start
            )
            if Int.random(in: 0..<5, using: &random) == 0 { try await store.commit() }
        }
        await store.close()
        var isFlushed = true
        var recordCount = 0
        for operation in files.operations {
            switch operation {
            case .write: isFlushed = false
            case .flush: isFlushed = true
            case .record:
                recordCount += 1
                #expect(isFlushed)
            }
        }
        #expect(recordCount > 1)
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `every byte that the index ever claims was flushed before`(seed: UInt64) async throws {
        let watching = ClaimWatchingFiles(index: folder.file("index.sqlite"))
        let opener = CacheFolder(path: folder.cache, clock: clock, files: watching)
        var random = SeededGenerator(seed: seed)
        let store = try await opener.open(url("a.mp3"))
        // Enough for several automatic commits, which run while the writing continues.
        for _ in 0..<60 {
            let start = Int64.random(in: 0..<20_000_000, using: &random)
            try await store.write([UInt8](repeating: UInt8(seed), count: 120_000), at: start)
        }
        await store.close()
        #expect(watching.claimedTooEarly.isEmpty)
        #expect(watching.recordCount > 1, "at least one commit ran while the writing went on")
    }

    @Test func `a mebibyte commits by itself`() async throws {
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000_000), at: 0)
        #expect(!files.operations.contains(.record))
        try await store.write(pattern(1_000_000..<1_100_000), at: 1_000_000)
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<1_100_000) }
        await store.close()
    }

    @Test func `the first uncommitted byte waits one second and no longer`() async throws {
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<100), at: 0)
        try await wait(for: "the timer") { self.clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(999))
        try await store.write(pattern(100..<200), at: 100)
        #expect(clock.sleeperCount == 1)
        #expect(!files.operations.contains(.record))
        clock.advance(by: .milliseconds(1))
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<200) }
        try await store.write(pattern(200..<300), at: 200)
        try await wait(for: "the next timer") { self.clock.sleeperCount == 1 }
        await store.close()
        try await wait(for: "the end of the timer") { self.clock.sleeperCount == 0 }
        #expect(try await claimed() == ByteRangeSet(0..<300))
    }

    @Test func `when the disk refuses to flush nothing is claimed, and all is written anew the next time`()
        async throws
    {
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<100), at: 0)
        try await store.commit()
        files.refuse(.flush)
        try await store.write(pattern(100..<200), at: 100)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        #expect(try await claimed() == ByteRangeSet(0..<100))
        #expect(try await store.read(at: 100, count: 100) == pattern(100..<200))
        try await store.write(pattern(200..<300), at: 200)
        #expect(!store.isPersistent)
        #expect(try await store.all(of: 100..<300) == pattern(100..<300))
        // The kernel forgets that a flush failed: a later one that succeeds proves nothing of that write.
        files.refuse(nil)
        files.forget()
        await store.close()
        #expect(files.operations.prefix(2) == [.write, .flush])
        #expect(try await claimed() == ByteRangeSet(0..<200))
    }

    @Test func `bytes that could not be claimed are read on and claimed by the next commit`() async throws {
        let store = try await opener.open(url("a.mp3"))
        files.refuse(.record)
        try await store.write(pattern(0..<100), at: 0)
        await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(try await claimed().isEmpty)
        #expect(try await store.read(at: 0, count: 100) == pattern(0..<100))
        try await store.write([1], at: 500)
        #expect(try await store.read(at: 500, count: 1) == [1])
        files.refuse(nil)
        try await store.commit()
        try await store.write(pattern(100..<200), at: 100)
        await store.close()
        #expect(try await claimed() == ByteRangeSet(0..<200))
    }

    @Test func `a refused commit is tried again one second after the next bytes`() async throws {
        let store = try await opener.open(url("a.mp3"))
        files.refuse(.write)
        try await store.write(pattern(0..<100), at: 0)
        await #expect(throws: MediaError.self) { try await store.commit() }
        try await wait(for: "the end of the first timer") { self.clock.sleeperCount == 0 }
        files.refuse(nil)
        try await store.write(pattern(100..<200), at: 100)
        try await wait(for: "the timer") { self.clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<100) }
        await store.close()
    }

    @Test func `what the disk refuses to write is told, not claimed, and still read`() async throws {
        let store = try await opener.open(url("a.mp3"))
        files.refuse(.write)
        try await store.write([1, 2], at: 0)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        try await store.write([3], at: 2)
        #expect(try await store.all(of: 0..<3) == [1, 2, 3])
        await store.close()
        #expect(try await claimed().isEmpty)
    }

    @Test func `one cause for which nothing is cached is reported once, not with every track`() async throws {
        let notices = Notices()
        files.refuse(.write)
        let opener = CacheFolder(path: folder.cache, clock: clock, files: files, onNotice: notices.note)
        for name in ["a.mp3", "b.mp3"] {
            let store = try await opener.open(url(name))
            // More than is held before a commit.
            for step in 0..<60 as Range<Int64> {
                try await store.write(pattern(step * 65_536..<(step + 1) * 65_536), at: step * 65_536)
            }
            #expect(!store.isPersistent)
            let middle = PersistentStore.mostBuffered - 1_000..<PersistentStore.mostBuffered + 1_000
            #expect(try await store.all(of: middle) == pattern(middle))
            await store.close()
        }
        #expect(notices.all.map(\.code) == [.notCached])
        #expect(notices.all.first?.description.hasSuffix("the disk refuses") == true)
    }

    @Test func `a cause is reported again if bytes were cached in between`() async throws {
        let notices = Notices()
        let opener = CacheFolder(path: folder.cache, clock: clock, files: files, onNotice: notices.note)
        let store = try await opener.open(url("a.mp3"))
        for round in 0..<2 as Range<Int64> {
            files.refuse(.write)
            try await store.write(pattern(round * 100..<round * 100 + 50), at: round * 100)
            await #expect(throws: MediaError.self) { try await store.commit() }
            // The first write after a refused commit reports why bytes are not cached; the second repeats nothing.
            for start in [60, 70] as [Int64] { try await store.write([1], at: round * 100 + start) }
            #expect(notices.count(.notCached) == Int(round) + 1)
            files.refuse(nil)
            try await store.commit()
        }
        await store.close()
    }

    @Test func `without a usable folder the music is held until the close`() async throws {
        let notices = Notices()
        let opener = CacheFolder(path: "/dev/null/cache", clock: clock, onNotice: notices.note)
        for name in ["a.mp3", "b.mp3"] {
            let store = try await opener.open(url(name))
            try await store.write(pattern(0..<100_000), at: 0)
            #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
            #expect(!store.isPersistent)
            await store.close()
        }
        #expect(notices.all.map(\.code) == [.notCached])
    }

    @Test func `a commit with nothing new does nothing`() async throws {
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<100), at: 0)
        try await store.commit()
        files.forget()
        try await store.commit()
        #expect(files.operations == [])
        await store.close()
    }

    @Test func `a commit that was asked for is done when the store is closed, also for who was cancelled`()
        async throws
    {
        let files = GatedFiles()
        let store = try await folder.opener(files: files)
            .open(url("a.mp3"))
        files.shut()
        try await store.write(pattern(0..<1_000), at: 0)
        let asked = Task { try await store.commit() }
        try await wait(for: "the flush") { files.isHolding }
        asked.cancel()
        let isClosed = Locked(false)
        let closing = Task {
            await store.close()
            isClosed.withLock { $0 = true }
        }
        // Reads continue, and the close waits for the disk.
        #expect(try await store.read(at: 0, count: 1_000) == pattern(0..<1_000))
        #expect(!isClosed.withLock { $0 })
        files.open()
        try await asked.value
        await closing.value
        #expect(try await CacheFolder(path: folder.cache).info(for: url("a.mp3"))?.storedBytes == 1_000)
    }

    @Test(arguments: [false, true])
    func `no opening waits for the disk`(isShared: Bool) async throws {
        let earlier = folder.opener()
        let other = try await earlier.open(url("a.mp3"))
        try await other.write(pattern(0..<100_000), at: 0)
        try await other.commit()
        // Else the last one to close it has put the log into the index.
        if !isShared { await other.close() }
        let disk = RecordedDisk(root: folder.cache)
        defer { disk.stop() }
        let opener = folder.opener(files: disk)
        let known = try await opener.open(url("a.mp3"))
        #expect(try await known.all(of: 0..<100_000) == pattern(0..<100_000))
        let new = try await opener.open(url("b.mp3"))
        // The clean-up after them has nothing to flush either.
        for _ in 0..<10 { await opener.engine.committer.run {} }
        #expect(disk.flushCount == 0)
        try await new.write(pattern(0..<1_000), at: 0)
        try await new.commit()
        // The new file's name, its bytes, and the claim of them.
        #expect(disk.flushCount >= 3)
        for store in [known, new] + (isShared ? [other] : []) { await store.close() }
    }

    @Test func `a long log is put into the index by a commit, and by no opening`() async throws {
        let other = try await folder.opener().open(url("a.mp3"))
        try await other.write(pattern(0..<1_000), at: 0)
        try await other.commit()
        // Longer than SQLite would let it grow, because another connection stays open.
        let connection = try folder.index()
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute("UPDATE entries SET seek_points = randomblob(6000000)")
        let length = try folder.length(of: "index.sqlite")
        let disk = RecordedDisk(root: folder.cache)
        defer { disk.stop() }
        let opener = folder.opener(files: disk)
        let known = try await opener.open(url("a.mp3"))
        let new = try await opener.open(url("b.mp3"))
        for _ in 0..<10 { await opener.engine.committer.run {} }
        #expect(disk.flushCount == 0)
        #expect(try folder.length(of: "index.sqlite") == length)
        try await new.write(pattern(0..<1_000), at: 0)
        try await new.commit()
        #expect(try folder.length(of: "index.sqlite") > length + 5_000_000)
        for store in [known, new, other] { await store.close() }
    }

    @Test func `a close tells of bytes that are lost, and not of a description alone`() async throws {
        let files = RecordingFiles()
        let notices = Notices()
        let opener = folder.opener(files: files, onNotice: notices.note)
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000), at: 0)
        try await store.commit()
        files.refuse(.record)
        store.describe(.example)
        await store.close()
        #expect(notices.all.isEmpty)
        let next = try await opener.open(url("a.mp3"))
        try await next.write(pattern(1_000..<2_000), at: 1_000)
        await next.close()
        #expect(notices.all.map(\.code) == [.notCached])
    }
}
