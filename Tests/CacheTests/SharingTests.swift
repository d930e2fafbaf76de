import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Several openers of one folder, as several processes have them.
@Suite struct SharingTests {
    private let scene = CacheScene()

    @Test func `refresh finds what another process has committed since`() async throws {
        let one = try await scene.opener().open(url("a"))
        let two = try await scene.opener().open(url("a"))
        try await two.write(0..<100_000)
        #expect(await one.refresh(0..<100_000).isEmpty)
        try await two.commit()
        #expect(one.stored.isEmpty)
        #expect(await one.refresh(0..<100_000) == ByteRangeSet(0..<100_000))
        #expect(try await one.holds(0..<100_000))
    }

    @Test(arguments: [false, true])
    func `a commit takes over its own extents, and all of the entry only after another store has added some`(
        isShared: Bool
    ) async throws {
        let opener = scene.opener()
        let store = try await opener.opened("a", 0..<200_000)
        if isShared { await (try await scene.opener().opened("a", 500_000..<510_000)).close() }
        try await store.write(300_000..<310_000)
        let (plan, file) = store.guarded.withLock { ($0.state.commitPlan(), $0.file) }
        let commitment = try await opener.engine.committer.run {
            try opener.engine.commits.commit(try #require(plan), to: file, for: .playing, sparing: [])
        }
        guard case .cached(let extents, _) = commitment else {
            Issue.record("the commit claimed nothing")
            return
        }
        let own = ByteRangeSet(300_000..<310_000)
        let all = ByteRangeSet([0..<200_000, 300_000..<310_000, 500_000..<510_000])
        #expect(
            extents.reduce(into: ByteRangeSet()) { $0.insert(contentsOf: $1.range) } == (isShared ? all : own)
        )
        await store.close()
    }

    @Test
    func
        `an urgent refresh asks only if another store is known to add to the entry, and a commit shows that`()
        async throws
    {
        let one = try await scene.opener().open(url("a"))
        let two = try await scene.opener().open(url("a"))
        try await two.write(0..<100_000)
        try await two.commit()
        #expect(await one.refresh(0..<100_000, isUrgent: true).isEmpty)
        try await one.write(200_000..<210_000)
        try await one.commit()
        #expect(one.stored == ByteRangeSet([0..<100_000, 200_000..<210_000]))
        try await two.write(100_000..<150_000)
        try await two.commit()
        #expect(await one.refresh(0..<200_000, isUrgent: true).covers(100_000..<150_000))
        #expect(try await one.holds(0..<150_000))
    }

    @Test func `a store that does not know its version yet takes over only bytes at its own place`()
        async throws
    {
        let one = try await scene.opener().open(url("a"))
        let other = try await scene.opener().open(url("a"))
        other.describe(length: 100_000, etag: "\"two\"")
        try await other.write(0..<50_000, salt: 1)
        try await other.commit()
        try await one.write(60_000..<70_000)
        try await one.commit()
        #expect(one.stored == ByteRangeSet(60_000..<70_000))
    }

    @Test func `committed bytes are never overwritten by an opener that did not know them`() async throws {
        let disk = TestDisk(scene)
        let late = try await scene.opener(files: disk).open(url("a"))
        let early = try await scene.opener().opened("a", 50_000..<150_000)
        try await late.write([UInt8](repeating: 1, count: 200_000), at: 0)
        try await late.commit()
        #expect(disk.written.allSatisfy { !$0.overlaps(50_000..<150_000) })
        #expect(try await early.holds(50_000..<150_000))
        #expect(try await late.holds(50_000..<150_000))
        #expect(late.stored == ByteRangeSet(0..<200_000))
    }

    @Test func `of two versions of a resource in one entry only the first is cached`() async throws {
        let one = try await scene.opener().open(url("a"))
        let two = try await scene.opener().open(url("a"))
        one.describe(length: 100_000, etag: "\"one\"")
        two.describe(length: 100_000, etag: "\"two\"")
        try await one.write(0..<50_000)
        try await two.write(40_000..<100_000, salt: 1)
        try await one.commit()
        try await two.commit()
        #expect(one.isPersistent)
        #expect(!two.isPersistent)
        // Each continues to play its own bytes.
        try await two.write(0..<40_000, salt: 1)
        #expect(try await two.holds(0..<100_000, salt: 1))
        await two.close()
        await one.close()
        let next = try await scene.opener().open(url("a"))
        #expect(next.stored == ByteRangeSet(0..<50_000))
        #expect(try await next.holds(0..<50_000))
        #expect(next.description.validators.etag == "\"one\"")
    }

    @Test func `a store adopts the bytes of its own version only`() async throws {
        let one = try await scene.opener().open(url("a"))
        let same = try await scene.opener().open(url("a"))
        let other = try await scene.opener().open(url("a"))
        other.describe(length: 100_000, etag: "\"two\"")
        try await other.write(0..<50_000, salt: 1)
        try await other.commit()
        // The version that the server sends to the first two is not known yet.
        for store in [one, same] { #expect(await store.refresh(0..<50_000).isEmpty) }
        same.describe(length: 100_000, etag: "\"two\"")
        #expect(await same.refresh(0..<50_000) == ByteRangeSet(0..<50_000))
        one.describe(length: 100_000, etag: "\"one\"")
        #expect(await one.refresh(0..<50_000).isEmpty)
        #expect(!one.isPersistent)
        try await one.write(0..<100_000)
        #expect(try await one.holds(0..<100_000))
        #expect(try await other.holds(0..<50_000, salt: 1))
    }

    @Test func `while one process waits for its disk, others open, read, query and commit`() async throws {
        let disk = TestDisk(scene)
        let slow = try await scene.opener(files: disk).opened("a", 0..<1_000)
        disk.hold(.flush)
        try await slow.write(1_000..<2_000)
        let commit = Task { try await slow.commit() }
        try await wait(for: "the flush") { disk.isHolding }
        let other = scene.opener()
        try await other.cache("b", 5_000)
        let same = try await other.open(url("a"))
        #expect(try await same.holds(0..<1_000))
        #expect(try await other.list().count == 2)
        // In the process itself, queries and reads do not wait either.
        #expect(await slow.refresh(1_000..<3_000) == ByteRangeSet(0..<2_000))
        #expect(try await slow.holds(0..<2_000))
        disk.hold(nil)
        try await commit.value
        #expect(await same.refresh(0..<2_000) == ByteRangeSet(0..<2_000))
    }

    @Test func `queries are answered while another process has locked the folder`() async throws {
        let earlier = scene.opener()
        try await earlier.cache("a", 1_000)
        await earlier.rest()
        // An opener that prepares the folder creates `objects` before it waits for the lock.
        try FileManager.default.removeItem(atPath: scene.file("objects"))
        let holder = open(scene.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0 && ByteLock.acquire(FolderLock.gate, of: holder))
        let opener = scene.opener()
        try await opener.checkSecret(isAsking: true)
        #expect(try await opener.list().map(\.storedBytes) == [1_000])
        #expect(try await opener.info(for: url("a"))?.storedBytes == 1_000)
        #expect(try await opener.availability(of: [url("a")]).map { $0?.stored.byteCount } == [1_000])
        #expect(try await opener.victims(toBudget: 0).count == 1)
        #expect(try await opener.totalBytes > 0)
        let other = scene.opener(secret: .generate())
        let error = await #expect(throws: MediaError.self) { try await other.checkSecret(isAsking: true) }
        #expect(error?.code == .cacheSecret)
        #expect(access(scene.file("objects"), F_OK) != 0)
    }

    @Test func `the space that a commit has reserved is counted by every process`() async throws {
        let disk = TestDisk(scene)
        let slow = try await scene.opener(files: disk).opened("a", 0..<1_000)
        disk.hold(.write)
        try await slow.write(100_000..<600_000)
        let commit = Task { try await slow.commit() }
        try await wait(for: "the write") { disk.isHolding }
        // Its first opening sweeps, and a verification counts too, while nothing is written yet.
        let other = scene.opener()
        try await other.open(url("b")).close()
        #expect(try await other.verify().isSound)
        #expect(try await other.totalBytes >= 500_000)
        disk.hold(nil)
        try await commit.value
        await slow.close()
        #expect(try await scene.opener().verify().isSound)
        #expect(try await other.totalBytes == scene.allocated)
    }

    @Test func `a disk slower than the network bounds the uncommitted bytes`() async throws {
        let disk = TestDisk(scene)
        let store = try await scene.opener(files: disk).opened("a")
        let most = Locked<Int64>(0)
        disk.after(.flush) { [weak store] _ in
            let count = store?.guarded.withLock { $0.state.bufferedByteCount } ?? 0
            most.withLock { $0 = max($0, count) }
        }
        for step in 0..<160 as Range<Int64> {
            try await store.write([UInt8](repeating: 7, count: 65_536), at: step * 65_536)
            #expect(store.guarded.withLock { $0.state.bufferedByteCount } <= PersistentStore.mostBuffered)
        }
        await store.close()
        #expect((PersistentStore.commitSize...PersistentStore.mostBuffered).contains(most.withLock { $0 }))
    }

    @Test func `while the disk is busy with a commit, no small ones queue up behind it`() async throws {
        let disk = TestDisk(scene)
        let store = try await scene.opener(files: disk).opened("a")
        let records = disk.operations.count { $0 == .record }
        @Sendable func write(_ block: Int64) async throws {
            try await store.write([UInt8](repeating: 7, count: 65_536), at: block * 65_536)
        }
        disk.hold(.flush)
        let most = PersistentStore.mostBuffered / 65_536
        for block in 0..<most { try await write(block) }
        try await wait(for: "the commit") { disk.isHolding }
        let waiting = Task { try await write(most) }
        disk.hold(nil)
        try await waiting.value
        await store.close()
        // One for the first half mebibyte, and that of closing.
        #expect(disk.operations.count { $0 == .record } == records + 2)
    }

    @Test func `no seek table is stored while bytes are not proven to be of this version`() async throws {
        let store = try await scene.opener().opened("a", 0..<1_000)
        var description = store.description
        for (proven, table) in [(ByteRangeSet(0..<1_000), [1]), (nil, [2])] as [(ByteRangeSet?, [UInt8])] {
            store.commitOnly(proven)
            description.facts[.seekTable] = table
            store.describe(description)
            #expect(store.description.facts[.seekTable] == (proven == nil ? table : nil))
        }
        await store.close()
    }

    @Test func `a commit waits for another store's commit of the entry, but not for ever`() async throws {
        let store = try await scene.opener().open(url("a"))
        try await store.write(0..<1_000)
        let holder = open(try scene.firstObject, O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(ByteLock.acquire(ObjectFile.commitByte, of: holder))
        let cause = try await store.refusedCommit()
        #expect(cause == "another process has locked it for too long; try again, or end that process")
        ByteLock.release(ObjectFile.commitByte, of: holder)
        try await store.commit()
    }
}
