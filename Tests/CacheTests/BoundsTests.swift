import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The limits of budget, free disk space and age.
@Suite struct BoundsTests {
    private let scene = CacheScene()

    @Test func `several processes that download at once keep within the budget together`() async throws {
        let budget: Int64 = 2_000_000
        let disk = TestDisk(scene)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for process in 0..<3 {
                let opener = scene.opener(budget: budget, files: disk)
                group.addTask {
                    for index in 0..<6 {
                        let store = try await opener.open(url("\(process)-\(index)"))
                        for step in 0..<8 as Range<Int64> {
                            try? await store.write(step * 60_000..<(step + 1) * 60_000)
                            try? await store.commit()
                        }
                        await store.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(disk.most <= budget)
        #expect(disk.most > 500_000)
    }

    @Test func `a resource larger than the budget evicts nothing`() async throws {
        let opener = scene.opener(budget: 400_000)
        for name in ["a", "b"] { try await opener.cache(name) }
        let store = try await opener.open(url("c"))
        store.describe(length: 500_000)
        try await store.write(0..<300_000)
        #expect(try await store.refusedCommit() == "its budget is smaller than this one track")
        #expect(try await store.holds(0..<300_000))
        await store.close()
        #expect(try await Set(opener.names).isSuperset(of: ["a", "b"]))
        #expect(try await scene.stored() == ByteRangeSet(0..<100_000))
    }

    @Test
    func `a track of unknown length takes free space, and evicts at most a quarter of the budget`()
        async throws
    {
        let opener = scene.opener(budget: 2_000_000)
        for name in ["a", "b", "c", "d"] { try await opener.cache(name, 400_000) }
        let store = try await opener.open(url("e"))
        var kept: Int64 = 0
        let error = await #expect(throws: MediaError.self) {
            // It never ends.
            while kept < 4_000_000 {
                try await store.write(kept..<kept + 40_000)
                try await store.commit()
                kept += 40_000
            }
        }
        #expect(error?.cause.string == "it is full, and the server does not say how long this track is")
        // It took the 400,000 that were free, and the space of one of the four.
        #expect((600_000...800_000).contains(kept))
        #expect(try await Set(opener.names).isSuperset(of: ["b", "c", "d"]))
        // Once it is known to fit, all of it is cached.
        store.describe(length: 1_000_000)
        try await store.commit()
        try await store.write(kept..<1_000_000)
        await store.close()
        #expect(try await opener.info(for: url("e"))?.isComplete == true)
        // In an empty folder it may fill the whole budget.
        _ = try await opener.clear(includingPinned: true)
        try await opener.cache("a", 1_900_000, isLengthKnown: false)
        #expect(try await scene.stored() == ByteRangeSet(0..<1_900_000))
    }

    @Test func `a track that cannot fit beside the pinned ones evicts nothing`() async throws {
        let opener = scene.opener(budget: 1_000_000)
        for name in ["p", "a", "b"] { try await opener.cache(name, 300_000) }
        try await opener.setPinned(url("p"), true)
        let store = try await opener.open(url("c"))
        store.describe(length: 800_000)
        try await store.write(0..<200_000)
        #expect(try await store.refusedCommit() == "pinned tracks leave too little room for this one")
        #expect(try await Set(opener.names).isSuperset(of: ["p", "a", "b"]))
        // If the track itself is pinned, its own size does not count against it.
        try await opener.setPinned(url("p"), false)
        try await opener.setPinned(url("c"), true)
        try await store.commit()
    }

    @Test func `space that a killed process had reserved is recovered before a track is refused`()
        async throws
    {
        let opener = scene.opener(budget: 1_000_000)
        try await opener.cache("a", 300_000)
        // Open, so it cannot be evicted.
        let held = try await opener.open(url("a"))
        let store = try await opener.open(url("b"))
        store.describe(length: 250_000)
        try await store.write(0..<100_000)
        try await store.commit()
        try scene.alterIndex("UPDATE entries SET allocated = allocated + 400000")
        try await store.write(100_000..<250_000)
        try await store.commit()
        #expect(store.isPersistent)
        #expect(try await opener.totalBytes == scene.allocated)
        await held.close()
    }

    @Test func `the oldest tracks are evicted to leave space free on the disk`() async throws {
        let disk = TestDisk(scene, size: 1_000_000)
        let opener = scene.opener(minimumFree: 600_000, files: disk)
        for name in ["a", "b", "c", "d"] { try await opener.cache(name) }
        #expect(try await opener.names == ["d", "c", "b"])
        #expect(disk.most <= 400_000)
        // If another program fills the disk, evicting everything would not help, so nothing is evicted.
        disk.resize(300_000)
        let store = try await opener.open(url("e"))
        try await store.write(0..<100_000)
        let cause = try await store.refusedCommit()
        #expect(cause == "its disk is too full, and evicting tracks would not free enough")
        await store.close()
        #expect(try await Set(opener.names).isSuperset(of: ["b", "c", "d"]))
    }

    @Test func `the objects of a lost index are removed while the player runs`() async throws {
        let opener = scene.opener()
        for name in ["a", "b"] { try await opener.cache(name) }
        // A clean-up that still runs could make a new index in between, and would lose its log.
        await opener.rest()
        for suffix in ["", "-wal", "-shm"] { unlink(scene.index + suffix) }
        try await opener.cache("c")
        try await wait(for: "the old objects to go") { try scene.objects.count == 1 }
        #expect(try await opener.names == ["c"])
    }

    @Test(arguments: [true, false])
    func `tracks not played for the maximum age are removed, at the next start or while the player runs`(
        isRestarted: Bool
    ) async throws {
        let opener = scene.opener(maximumAge: .seconds(50))
        try await (isRestarted ? scene.opener() : opener).cache("a")
        scene.wallClock.advance(by: 100)
        try await opener.cache("b")
        try await wait(for: "the old one to go") { try await opener.names == ["b"] }
    }

    @Test func `evicting to a size removes the oldest, and pinned ones only on request`() async throws {
        let opener = scene.opener()
        for name in ["a", "b", "c", "d"] { try await opener.cache(name) }
        try await opener.setPinned(url("a"), true)
        let held = try await opener.open(url("b"))
        let chosen = try await opener.victims(toBudget: 310_000)
        #expect(chosen.count == 1 && chosen[0].allocatedBytes >= 100_000)
        #expect(try await opener.victims(toBudget: 0).count == 3)
        #expect(try await opener.names.count == 4)
        let first = try await opener.evict(toBudget: 310_000)
        #expect(first.entriesRemoved == 1)
        #expect(first.bytesFreed >= 100_000)
        #expect(try await Set(opener.names) == ["a", "b", "d"])
        let second = try await opener.evict(toBudget: 0)
        #expect((second.entriesRemoved, second.entriesPinned, second.entriesInUse) == (1, 1, 1))
        await held.close()
        let third = try await opener.evict(toBudget: 0, includingPinned: true)
        #expect((third.entriesRemoved, third.entriesPinned, third.entriesInUse) == (2, 0, 0))
        #expect(try await opener.totalBytes == 0)
    }

    @Test(arguments: [true, false])
    func `evicting entries or clearing spares open and pinned entries, and counts what it freed`(
        isClearing: Bool
    ) async throws {
        let opener = scene.opener()
        for name in ["a", "b", "c"] { try await opener.cache(name) }
        try await opener.setPinned(url("a"), true)
        let held = try await opener.open(url("b"))
        let before = try await opener.totalBytes
        let entries = try await opener.entries("a", "b", "c") + [CachedItem.ID(12_345)]
        let removal =
            try await isClearing ? opener.clear(includingPinned: false) : opener.evict(entries)
        #expect((removal.entriesRemoved, removal.entriesPinned, removal.entriesInUse) == (1, 1, 1))
        #expect(removal.bytesFreed >= 100_000)
        #expect(try await opener.totalBytes == before - removal.bytesFreed)
        #expect(try await Set(opener.names) == ["a", "b"])
        #expect(try await held.holds(0..<100_000))
        let pinned =
            try await isClearing
            ? opener.clear(includingPinned: true) : opener.evict(opener.entries("a"), includingPinned: true)
        #expect(pinned.entriesRemoved == 1)
        await held.close()
    }
}
