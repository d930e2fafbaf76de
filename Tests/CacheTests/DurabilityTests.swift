import Media
import System
import TestSupport
import Testing

@testable import Cache

/// When bytes are claimed, and that none are claimed before they are on the disk.
@Suite struct DurabilityTests {
    private let scene: CacheScene
    private let disk: TestDisk
    private let opener: CacheFolder
    private var clock: TestClock { scene.clock }

    init() {
        scene = CacheScene()
        disk = TestDisk(scene)
        opener = scene.opener(files: disk)
    }

    /// What another process would find.
    private func claimed() async throws -> ByteRangeSet { try await scene.stored() ?? ByteRangeSet() }

    @Test(arguments: 0..<15 as Range<UInt64>)
    func `every byte that the index ever claims was flushed before`(seed: UInt64) async throws {
        let early = Locked(ByteRangeSet())
        let index = scene.index
        disk.after(.record) { disk in
            let claims = try? SQLiteConnection(path: index).statement("SELECT start, stop FROM extents")
                .all { $0.integer(0)..<$0.integer(1) }
            early.withLock { $0.formUnion(ByteRangeSet(claims ?? [0..<1]).subtracting(disk.flushed)) }
        }
        var random = SeededGenerator(seed: seed)
        let store = try await opener.open(url("a"))
        // A third of the runs writes enough for automatic commits, which run while the writing continues; in
        // the others only the test commits.
        let isAutomatic = seed >= 10
        for _ in 0..<(isAutomatic ? 60 : 30) {
            let start = Int64.random(in: 0..<(isAutomatic ? 20_000_000 : 3_000_000), using: &random)
            let count = isAutomatic ? 120_000 : Int.random(in: 1...30_000, using: &random)
            try await store.write([UInt8](repeating: UInt8(seed), count: count), at: start)
            if !isAutomatic, Int.random(in: 0..<5, using: &random) == 0 { try await store.commit() }
        }
        await store.close()
        #expect(early.withLock { $0 }.isEmpty)
        #expect(disk.operations.count { $0 == .record } > 1)
    }

    @Test func `half a mebibyte is committed automatically`() async throws {
        let store = try await opener.open(url("a"))
        try await store.write(0..<500_000)
        #expect(!disk.operations.contains(.record))
        try await store.write(500_000..<600_000)
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<600_000) }
        await store.close()
    }

    @Test func `the first uncommitted byte waits one second and no longer`() async throws {
        let store = try await opener.open(url("a"))
        try await store.write(0..<100)
        try await wait(for: "the timer") { self.clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(999))
        try await store.write(100..<200)
        #expect(clock.sleeperCount == 1)
        #expect(!disk.operations.contains(.record))
        clock.advance(by: .milliseconds(1))
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<200) }
        try await store.write(200..<300)
        try await wait(for: "the next timer") { self.clock.sleeperCount == 1 }
        await store.close()
        try await wait(for: "the end of the timer") { self.clock.sleeperCount == 0 }
        #expect(try await claimed() == ByteRangeSet(0..<300))
    }

    @Test(arguments: [TestDisk.Operation.write, .flush, .record])
    func `bytes that the disk refuses are not claimed but can be read, and the next commit writes all again`(
        refused: TestDisk.Operation
    ) async throws {
        let store = try await opener.opened("a", 0..<100)
        disk.refuse(refused)
        try await store.write(100..<200)
        #expect(try await store.refusedCommit() == "the disk refuses")
        #expect(try await claimed() == ByteRangeSet(0..<100))
        try await store.write(200..<300)
        #expect(!store.isPersistent)
        #expect(try await store.holds(0..<300))
        // After a failed flush, a later one that succeeds proves nothing about the bytes written before it.
        disk.refuseNothing()
        disk.forget()
        try await store.commit()
        #expect(disk.operations == [.write, .flush, .record])
        #expect(try await claimed() == ByteRangeSet(0..<200))
        try await store.write(300..<400)
        await store.close()
        #expect(try await claimed() == ByteRangeSet([0..<200, 300..<400] as [ByteRange]))
    }

    @Test func `a refused commit is retried one second after the next bytes`() async throws {
        let store = try await opener.open(url("a"))
        disk.refuse(.write)
        try await store.write(0..<100)
        await #expect(throws: MediaError.self) { try await store.commit() }
        try await wait(for: "the end of the first timer") { self.clock.sleeperCount == 0 }
        disk.refuseNothing()
        try await store.write(100..<200)
        try await wait(for: "the timer") { self.clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await wait(for: "the commit") { try await self.claimed() == ByteRangeSet(0..<100) }
        await store.close()
    }

    @Test func `one reason why nothing is cached is reported once, not with every track`() async throws {
        disk.refuse(.write)
        for name in ["a", "b"] {
            let store = try await opener.open(url(name))
            // More than is buffered before a commit.
            for step in 0..<60 as Range<Int64> {
                try await store.write(step * 65_536..<(step + 1) * 65_536)
            }
            #expect(!store.isPersistent)
            #expect(
                try await store.holds(PersistentStore.mostBuffered - 1_000..<PersistentStore.mostBuffered + 1)
            )
            await store.close()
        }
        #expect(scene.notices.codes == [.notCached])
        #expect(scene.notices.texts.first?.hasSuffix("the disk refuses") == true)
    }

    @Test func `a reason is reported again if bytes were cached in between`() async throws {
        let store = try await opener.open(url("a"))
        for round in 0..<2 as Range<Int64> {
            disk.refuse(.write)
            try await store.write(round * 100..<round * 100 + 50)
            await #expect(throws: MediaError.self) { try await store.commit() }
            // Of the writes after a refused commit only the first one reports why bytes are not cached.
            for start in [60, 70] as [Int64] { try await store.write([1], at: round * 100 + start) }
            #expect(scene.notices.count(.notCached) == Int(round) + 1)
            disk.refuseNothing()
            try await store.commit()
        }
    }

    @Test func `without a usable folder, bytes can be read until the store is closed`() async throws {
        let opener = CacheFolder(path: "/dev/null/cache", clock: clock, onNotice: scene.notices.note)
        for name in ["a", "b"] {
            let store = try await opener.open(url(name))
            try await store.write(0..<100_000)
            #expect(try await store.holds(0..<100_000))
            #expect(!store.isPersistent)
            await store.close()
        }
        #expect(scene.notices.codes == [.notCached])
    }

    @Test func `a commit with nothing new does nothing`() async throws {
        let store = try await opener.opened("a", 0..<100)
        disk.forget()
        try await store.commit()
        #expect(disk.operations == [])
    }

    @Test func `close waits for a commit that was requested, even by a cancelled task`() async throws {
        let store = try await opener.open(url("a"))
        disk.hold(.flush)
        try await store.write(0..<1_000)
        let asked = Task { try await store.commit() }
        try await wait(for: "the flush") { self.disk.isHolding }
        asked.cancel()
        let isClosed = Locked(false)
        let closing = Task {
            await store.close()
            isClosed.withLock { $0 = true }
        }
        // Reads continue, and the close waits for the disk.
        #expect(try await store.holds(0..<1_000))
        #expect(!isClosed.withLock { $0 })
        disk.hold(nil)
        try await asked.value
        await closing.value
        #expect(try await claimed() == ByteRangeSet(0..<1_000))
    }

    @Test(arguments: [false, true])
    func `no opening waits for the disk`(isShared: Bool) async throws {
        let other = try await scene.opener().opened("a", 0..<100_000)
        // The last process to close the index checkpoints its log.
        if !isShared { await other.close() }
        let disk = RecordedDisk(root: scene.cache)
        defer { disk.stop() }
        let opener = scene.opener(files: disk)
        let known = try await opener.open(url("a"))
        #expect(try await known.holds(0..<100_000))
        let new = try await opener.open(url("b"))
        // The clean-up after them has nothing to flush either.
        await opener.rest()
        #expect(disk.flushCount == 0)
        try await new.write(0..<1_000)
        try await new.commit()
        // The new file's name, its bytes, and the claim of them.
        #expect(disk.flushCount >= 3)
        for store in [known, new] + (isShared ? [other] : []) { await store.close() }
    }

    @Test func `a long log is checkpointed by a commit, not by an opening`() async throws {
        let other = try await scene.opener().opened("a", 0..<1_000)
        // Longer than SQLite would let it grow, because another connection stays open.
        let connection = try SQLiteConnection(path: scene.index)
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute("UPDATE entries SET seek_points = randomblob(6000000)")
        func length() throws -> Int { try #require(scene.content("index.sqlite")?.count) }
        let before = try length()
        let disk = RecordedDisk(root: scene.cache)
        defer { disk.stop() }
        let opener = scene.opener(files: disk)
        let known = try await opener.open(url("a"))
        let new = try await opener.open(url("b"))
        await opener.rest()
        #expect(disk.flushCount == 0)
        #expect(try length() == before)
        try await new.write(0..<1_000)
        try await new.commit()
        #expect(try length() > before + 5_000_000)
        for store in [known, new, other] as [any ByteStore] { await store.close() }
    }

    @Test func `close reports lost bytes, but not a lost description`() async throws {
        let store = try await opener.opened("a", 0..<1_000)
        disk.refuse(.record)
        store.describe(.example)
        await store.close()
        #expect(scene.notices.all.isEmpty)
        let next = try await opener.open(url("a"))
        try await next.write(1_000..<2_000)
        await next.close()
        #expect(scene.notices.codes == [.notCached])
    }
}
