import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The real file layer on a disk that says to be as full as the test wants, and that is measured each time
/// something was written to it.
final class MeasuringFiles: FileLayer {
    private struct State {
        var most: Int64 = 0
        var diskSize: Int64?
    }

    private let system = SystemFiles()
    private let folder: TemporaryFolder
    private let state = Locked(State())

    /// `diskSize` is the sum of the objects and the free space; `nil` for the real disk.
    init(folder: TemporaryFolder, diskSize: Int64? = nil) {
        self.folder = folder
        state.withLock { $0.diskSize = diskSize }
    }

    /// The most that the objects ever took.
    var most: Int64 { state.withLock { $0.most } }

    func setDiskSize(_ size: Int64) { state.withLock { $0.diskSize = size } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try system.write(bytes, to: descriptor, at: offset)
        measure()
    }

    func flush(_ descriptor: CInt) throws {
        try system.flush(descriptor)
        // Some filesystems allocate only now.
        measure()
    }

    func record(_ transaction: () throws -> Void) throws { try system.record(transaction) }

    func freeBytes(of descriptor: CInt) throws -> Int64 {
        guard let size = state.withLock({ $0.diskSize }) else { return try system.freeBytes(of: descriptor) }
        return max(0, size - folder.allocated)
    }

    private func measure() {
        let now = folder.allocated
        state.withLock { $0.most = max($0.most, now) }
    }
}

/// The budget, the free disk and the age, all the time.
@Suite struct BoundsTests {
    private let folder: TemporaryFolder
    private let wallClock = TickingWallClock()

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener(
        budget: Int64 = .max,
        minimumFree: Int64 = 0,
        files: any FileLayer = SystemFiles()
    ) -> CacheFolder {
        CacheFolder(
            path: folder.cache,
            budget: budget,
            minimumFree: minimumFree,
            clock: TestClock(),
            wallClock: wallClock.tick,
            files: files
        )
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `not for a moment do the files take more than the budget`(seed: UInt64) async throws {
        let budget: Int64 = 3_000_000
        let files = MeasuringFiles(folder: folder)
        let opener = makeOpener(budget: budget, files: files)
        var random = SeededGenerator(seed: seed)
        var refusals = 0
        for index in 0..<20 {
            let store = try await opener.open(url("\(index)"))
            var offset: Int64 = 0
            let end = Int64.random(in: 10_000...2_500_000, using: &random)
            store.describe(length: end)
            do {
                while offset < end {
                    let size = min(end - offset, Int64.random(in: 1...200_000, using: &random))
                    try await store.write(pattern(offset..<offset + size), at: offset)
                    offset += size + Int64.random(in: 0...3, using: &random) * 5_000
                }
            } catch let error as MediaError where error.code == .notCached {
                refusals += 1
            }
            await store.close()
        }
        #expect(files.most <= budget)
        // The budget was used, and the tracks evicted are those played longest ago.
        #expect(files.most > budget / 2)
        #expect(refusals == 0)
        #expect(try await opener.names.first == "9")
    }

    @Test func `several openers together keep within the budget, each in the middle of a download`()
        async throws
    {
        let budget: Int64 = 2_000_000
        let files = MeasuringFiles(folder: folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for process in 0..<3 {
                // What another process would do: an opener with threads and an index of its own.
                let opener = makeOpener(budget: budget, files: files)
                group.addTask {
                    for index in 0..<6 {
                        let store = try await opener.open(url("\(process)-\(index)"))
                        for step in 0..<8 as Range<Int64> {
                            let range = step * 60_000..<(step + 1) * 60_000
                            try? await store.write(pattern(range), at: range.lowerBound)
                            try? await store.commit()
                        }
                        await store.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(files.most <= budget)
        #expect(files.most > 500_000)
    }

    @Test func `a resource larger than the budget takes nothing away from others`() async throws {
        let opener = makeOpener(budget: 400_000)
        try await opener.cache("a")
        try await opener.cache("b")
        let store = try await opener.open(url("c"))
        store.describe(length: 500_000)
        try await store.write(pattern(0..<300_000), at: 0)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        #expect(error?.cause.string == "its budget is smaller than this one track")
        #expect(try await store.all(of: 0..<300_000) == pattern(0..<300_000))
        await store.close()
        #expect(try await Set(opener.names).isSuperset(of: ["a", "b"]))
        #expect(try await opener.info(for: url("a"))?.storedBytes == 100_000)
    }

    @Test
    func `music of unknown length takes what is free, and of others no more than a quarter of the budget`()
        async throws
    {
        let opener = makeOpener(budget: 2_000_000)
        for name in ["a", "b", "c", "d"] { try await opener.cache(name, 400_000) }
        let store = try await opener.open(url("e"))
        var kept: Int64 = 0
        let error = await #expect(throws: MediaError.self) {
            // It never ends.
            while kept < 4_000_000 {
                try await store.write(pattern(kept..<kept + 40_000), at: kept)
                try await store.commit()
                kept += 40_000
            }
        }
        #expect(error?.code == .notCached)
        #expect(error?.cause.string == "it is full, and the server does not say how long this track is")
        // It took the 400,000 that were free, and the room of one of the four.
        #expect((600_000...800_000).contains(kept))
        #expect(try await Set(opener.names).isSuperset(of: ["b", "c", "d"]))
        // Once it is known to fit, all of it is cached.
        store.describe(length: 1_000_000)
        try await store.commit()
        try await store.write(pattern(kept..<1_000_000), at: kept)
        try await store.commit()
        #expect(store.stored.covers(0..<1_000_000))
        await store.close()
        #expect(try await opener.info(for: url("e"))?.isComplete == true)
    }

    @Test func `what can never fit beside the pins pushes nothing out`() async throws {
        let opener = makeOpener(budget: 1_000_000)
        for name in ["p", "a", "b"] { try await opener.cache(name, 300_000) }
        try await opener.setPinned(url("p"), true)
        let store = try await opener.open(url("c"))
        store.describe(length: 800_000)
        try await store.write(pattern(0..<200_000), at: 0)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.cause.string == "pinned tracks leave too little room for this one")
        #expect(try await Set(opener.names).isSuperset(of: ["p", "a", "b"]))
        // Pinned itself, it does not stand in its own way.
        try await opener.setPinned(url("p"), false)
        try await opener.setPinned(url("c"), true)
        try await store.commit()
        await store.close()
    }

    @Test func `room that a killed process had counted is found again before music is refused`() async throws
    {
        let opener = makeOpener(budget: 1_000_000)
        try await opener.cache("a", 300_000)
        // Nothing else may go.
        let held = try await opener.open(url("a"))
        let store = try await opener.open(url("b"))
        store.describe(length: 250_000)
        try await store.write(pattern(0..<100_000), at: 0)
        try await store.commit()
        try folder.index()
            .execute("UPDATE entries SET allocated = allocated + 400000")
        try await store.write(pattern(100_000..<250_000), at: 100_000)
        try await store.commit()
        #expect(store.isPersistent)
        #expect(try await opener.totalBytes == folder.allocated)
        await store.close()
        await held.close()
    }

    @Test func `music of unknown length has the whole budget where there is room`() async throws {
        let opener = makeOpener(budget: 2_000_000)
        try await opener.cache("a", 1_900_000, isLengthKnown: false)
        #expect(try await opener.info(for: url("a"))?.storedBytes == 1_900_000)
    }

    @Test func `the disk is left its free room, and the oldest go for it`() async throws {
        let files = MeasuringFiles(folder: folder, diskSize: 1_000_000)
        let opener = makeOpener(minimumFree: 600_000, files: files)
        for name in ["a", "b", "c", "d"] { try await opener.cache(name) }
        #expect(try await opener.names == ["d", "c", "b"])
        #expect(files.most <= 400_000)
        // Another program fills the disk: with nothing to evict, nothing more is cached.
        files.setDiskSize(300_000)
        let store = try await opener.open(url("e"))
        try await store.write(pattern(0..<100_000), at: 0)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        #expect(error?.cause.string == "its disk is too full, and evicting tracks would not free enough")
        await store.close()
        #expect(try await Set(opener.names).isSuperset(of: ["b", "c", "d"]), "nothing is lost for nothing")
    }

    @Test func `what a lost index knew of goes while the player runs on`() async throws {
        let opener = makeOpener()
        for name in ["a", "b"] { try await opener.cache(name) }
        for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            unlink(folder.cache + "/" + file)
        }
        try await opener.cache("c")
        try await wait(for: "the old objects to go") {
            try folder.objects.count == 1
        }
        #expect(try await opener.names == ["c"])
    }

    @Test func `what grew too old goes also while the player runs on`() async throws {
        let opener = CacheFolder(
            path: folder.cache,
            maximumAge: .seconds(50),
            clock: TestClock(),
            wallClock: wallClock.tick
        )
        try await opener.cache("a")
        for _ in 0..<100 { _ = wallClock.tick() }
        try await opener.cache("b")
        try await wait(for: "the old one to go") { try await opener.names == ["b"] }
    }

    @Test func `evicting to a size takes the oldest, and pinned ones only when asked to`() async throws {
        let opener = makeOpener()
        for name in ["a", "b", "c", "d"] { try await opener.cache(name) }
        try await opener.setPinned(url("a"), true)
        let held = try await opener.open(url("b"))
        let chosen = try await opener.victims(toBudget: 310_000)
        #expect(chosen.entriesRemoved == 1 && chosen.bytesFreed >= 100_000)
        #expect(try await opener.victims(toBudget: 0).entriesRemoved == 3, "but for the pinned one")
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

    @Test func `naming what to evict spares what is open or pinned, and says what is not there`() async throws
    {
        let opener = makeOpener()
        for name in ["a", "b", "c"] { try await opener.cache(name) }
        try await opener.setPinned(url("a"), true)
        let held = try await opener.open(url("b"))
        let urls = try ["a", "b", "c", "c", "x"].map { try url($0) }
        let removal = try await opener.evict(urls)
        #expect((removal.entriesRemoved, removal.entriesPinned) == (1, 1))
        #expect((removal.entriesInUse, removal.entriesMissing) == (1, 1))
        #expect(try await Set(opener.names) == ["a", "b"])
        #expect(try await opener.evict([url("a")], includingPinned: true).entriesRemoved == 1)
        await held.close()
    }

    @Test func `clearing keeps what is pinned unless asked`() async throws {
        let opener = makeOpener()
        for name in ["a", "b"] { try await opener.cache(name) }
        try await opener.setPinned(url("a"), true)
        let removal = try await opener.clear(includingPinned: false)
        #expect((removal.entriesRemoved, removal.entriesPinned) == (1, 1))
        #expect(try await opener.clear(includingPinned: true).entriesRemoved == 1)
    }
}
