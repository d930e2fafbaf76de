import Glibc
import Media
import TestSupport
import Testing

@testable import Cache

@Suite struct EvictionPolicyTests {
    private static func candidate(
        _ entry: Int64,
        played: Int64,
        turn: Int64 = 0,
        bytes: Int64 = 100,
        isPinned: Bool = false
    ) -> EvictionCandidate {
        EvictionCandidate(
            entry: EntryID(entry),
            allocated: bytes,
            lastPlayed: played,
            turn: turn,
            isPinned: isPinned
        )
    }

    @Test(
        arguments: [
            (budget: 400, expected: []),
            (budget: 399, expected: [2]),
            (budget: 300, expected: [2]),
            (budget: 250, expected: [2, 1]),
            (budget: 0, expected: [2, 1, 4, 3]),
        ] as [(budget: Int64, expected: [Int64])]
    )
    func `the least recently played go, and no more than needed`(budget: Int64, expected: [Int64]) {
        let candidates = [
            Self.candidate(1, played: 20), Self.candidate(2, played: 10), Self.candidate(3, played: 40),
            Self.candidate(4, played: 30),
        ]
        let policy = EvictionPolicy(budget: budget)
        let excess = policy.excess(Fullness(allocated: 400, free: .max))
        let victims = policy.victims(among: candidates, excess: excess)
        #expect(victims.map(\.value) == expected)
    }

    @Test func `entries that are pinned or without bytes are passed over`() {
        let candidates = [
            Self.candidate(1, played: 1, isPinned: true), Self.candidate(3, played: 3, bytes: 0),
            Self.candidate(4, played: 4),
        ]
        let victims = EvictionPolicy(budget: 0).victims(among: candidates, excess: 300)
        #expect(victims.map(\.value) == [4])
    }

    @Test func `what is older than the limit goes though there is room, and pinned music stays`() {
        let candidates = [
            Self.candidate(1, played: 9), Self.candidate(2, played: 10),
            Self.candidate(3, played: 5, isPinned: true),
        ]
        let policy = EvictionPolicy(budget: 1_000, expiry: 10)
        #expect(policy.victims(among: candidates, excess: 0).map(\.value) == [1])
        // An entry without bytes reveals what was heard, too.
        #expect(policy.victims(among: [Self.candidate(7, played: 9, bytes: 0)], excess: 0).count == 1)
    }

    @Test func `of entries played in the same second always the same one goes`() {
        let candidates = [Self.candidate(9, played: 1), Self.candidate(3, played: 1)]
        let victims = EvictionPolicy(budget: 100).victims(among: candidates, excess: 100)
        #expect(victims.map(\.value) == [3])
    }

    @Test func `of entries played in the same second the one whose turn came first goes`() {
        let candidates = [
            Self.candidate(1, played: 1, turn: 3), Self.candidate(2, played: 1, turn: 1),
            Self.candidate(3, played: 1, turn: 2), Self.candidate(4, played: 0, turn: 9),
        ]
        let victims = EvictionPolicy(budget: 100).victims(among: candidates, excess: 300)
        #expect(victims.map(\.value) == [4, 2, 3])
    }

    @Test func `what nobody knows the length of may push others out up to a quarter of the budget`() {
        let policy = EvictionPolicy(budget: 1_000)
        #expect(policy.mayPushOut(unknownLengthOf: 250))
        #expect(!policy.mayPushOut(unknownLengthOf: 251))
        #expect(!EvictionPolicy(budget: 0).mayPushOut(unknownLengthOf: 1))
        #expect(!EvictionPolicy(budget: .max).mayPushOut(unknownLengthOf: .max))
    }

    @Test func `no number is too large or too small to choose by`() {
        let candidates = [
            Self.candidate(1, played: 1, bytes: .max), Self.candidate(2, played: 2, bytes: .max),
            Self.candidate(3, played: 3, bytes: .min),
        ]
        let policy = EvictionPolicy(budget: 100, expiry: 10)
        #expect(policy.victims(among: candidates, excess: .min).map(\.value) == [1, 2, 3])
        #expect(policy.victims(among: candidates, excess: .max).map(\.value) == [1, 2, 3])
        let numbers = [Int64.min, -1, 0, 1, .max]
        for allocated in numbers {
            for (free, needed) in zip(numbers, numbers.reversed()) {
                let fullness = Fullness(allocated: allocated, free: free, needed: needed)
                #expect(EvictionPolicy(budget: allocated, minimumFree: free).excess(fullness) >= 0)
            }
        }
    }

    @Test(
        arguments: [
            (allocated: 900, free: 10_000, needed: 100, excess: 0),
            (allocated: 900, free: 10_000, needed: 101, excess: 1),
            (allocated: 0, free: 500, needed: 0, excess: 0),
            (allocated: 0, free: 500, needed: 20, excess: 20),
            (allocated: 1_100, free: 350, needed: 0, excess: 150),
        ] as [(allocated: Int64, free: Int64, needed: Int64, excess: Int64)]
    )
    func `the budget and the free disk both count, whichever asks for more`(
        allocated: Int64,
        free: Int64,
        needed: Int64,
        excess: Int64
    ) {
        let policy = EvictionPolicy(budget: 1_000, minimumFree: 500)
        #expect(
            policy.excess(Fullness(allocated: allocated, free: free, needed: needed)) == excess
        )
        let noMinimum = EvictionPolicy(budget: 1_000)
        #expect(noMinimum.excess(Fullness(allocated: 0, free: 0, needed: 10)) == 0)
    }
}

@Suite struct EvictionTests {
    private let folder: TemporaryFolder
    private let wallClock = TickingWallClock()

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener(budget: Int64) -> CacheFolder {
        CacheFolder(path: folder.cache, budget: budget, clock: TestClock(), wallClock: wallClock.tick)
    }

    @Test func `a folder over its budget loses what was played longest ago`() async throws {
        let opener = makeOpener(budget: 350_000)
        for name in ["a", "b", "c"] { try await opener.cache(name) }
        try await opener.open(url("a")).close()
        try await opener.cache("d")
        #expect(try await opener.names == ["d", "a", "c"])
        #expect(try folder.objects.count == 3)
    }

    @Test func `of what was played within one second the first goes first`() async throws {
        let opener = CacheFolder(
            path: folder.cache,
            budget: 850_000,
            clock: TestClock(),
            wallClock: { 1_000 }
        )
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] { try await opener.cache(name) }
        for name in ["c", "a"] { try await opener.open(url(name)).close() }
        for name in ["i", "j", "k", "l"] { try await opener.cache(name) }
        #expect(try await opener.names == ["l", "k", "j", "i", "a", "c", "h", "g"])
    }

    @Test func `a turn that somebody changed keeps nothing from being played`() async throws {
        let opener = CacheFolder(path: folder.cache, clock: TestClock(), wallClock: { 1_000 })
        for name in ["a", "b"] { try await opener.cache(name) }
        let connection = try folder.index()
        for turn in [Int64.min, .max] {
            try connection.execute("UPDATE entries SET turn = \(turn)")
            try await opener.open(url("a")).close()
            try await opener.cache("c\(turn)")
        }
        #expect(try await opener.list().count == 4)
        #expect(try await opener.list().allSatisfy { $0.stored == ByteRangeSet(0..<100_000) })
    }

    @Test func `a smaller budget is met at the next open`() async throws {
        let large = makeOpener(budget: 10_000_000)
        for name in ["a", "b", "c", "d"] { try await large.cache(name) }
        let small = makeOpener(budget: 250_000)
        let store = try await small.open(url("a"))
        try await wait(for: "room") { try await small.totalBytes <= 250_000 }
        #expect(try await small.names == ["a", "d"])
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        await store.close()
    }

    @Test func `what was not played for longer than the limit goes at the next open`() async throws {
        try await makeOpener(budget: 10_000_000).cache("a")
        for _ in 0..<100 { _ = wallClock.tick() }
        let opener = CacheFolder(
            path: folder.cache,
            maximumAge: .seconds(50),
            clock: TestClock(),
            wallClock: wallClock.tick
        )
        try await opener.cache("b")
        try await wait(for: "the old one to go") { try await opener.names == ["b"] }
    }

    @Test(arguments: [Int64.min, -1, Int64.max - 1_000_000] as [Int64])
    func `a sum that somebody changed does no harm, and is right at the next opening`(
        sum: Int64
    ) async throws {
        let opener = CacheFolder(
            path: folder.cache,
            budget: 10_000_000,
            maximumAge: .seconds(1_000_000),
            clock: TestClock(),
            wallClock: wallClock.tick
        )
        try await opener.cache("a")
        let taken = try await opener.totalBytes
        let held = try await opener.open(url("a"))
        try folder.index()
            .execute("UPDATE folder SET allocated = \(sum)")
        held.describe(.example)
        try await held.commit()
        #expect(try await opener.totalBytes >= 0)
        let next = makeOpener(budget: 10_000_000)
        let store = try await next.open(url("b"))
        try await wait(for: "the sum") { try await next.totalBytes == taken }
        await store.close()
        await held.close()
    }

    @Test func `what is open or pinned stays, and then nothing more is kept`() async throws {
        let opener = makeOpener(budget: 250_000)
        try await opener.cache("p")
        let connection = try folder.index()
        try connection.execute("UPDATE entries SET pinned = 1")
        // Held open by what could be another process.
        let other = makeOpener(budget: 250_000)
        try await other.cache("o")
        let held = try await other.open(url("o"))
        let store = try await opener.open(url("n"))
        store.describe(length: 120_001)
        try await store.write(pattern(0..<100_000), at: 0)
        let refused = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(refused?.code == .notCached)
        #expect(try await opener.info(for: url("n"))?.storedBytes == 0)
        try await store.write([1], at: 120_000)
        #expect(!store.isPersistent)
        // The bytes that were handed over can still be played.
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        // As soon as an entry can be evicted, it is, and music is cached again.
        await held.close()
        try await store.commit()
        #expect(try await Set(opener.names) == ["p", "n"])
        try await store.write([1], at: 120_000)
        await store.close()
        #expect(try await opener.info(for: url("n"))?.storedBytes == 100_001)
    }

    @Test func `clearing spares what is open and says what it freed`() async throws {
        let opener = makeOpener(budget: 10_000_000)
        for name in ["a", "b", "c"] { try await opener.cache(name) }
        let held = try await opener.open(url("b"))
        let before = try await opener.totalBytes
        let removal = try await opener.clear(includingPinned: true)
        let freed = removal.bytesFreed
        #expect(removal.entriesRemoved == 2)
        #expect(removal.entriesInUse == 1)
        #expect(freed > 150_000)
        #expect(try await opener.totalBytes == before - freed)
        #expect(try await opener.names == ["b"])
        #expect(try await held.all(of: 0..<100_000) == pattern(0..<100_000))
        await held.close()
    }

    @Test func `a listing tells what is known, without control characters`() async throws {
        let opener = makeOpener(budget: 10_000_000)
        let store = try await opener.open(url("a"))
        try await store.write(pattern(0..<1_000), at: 0)
        var description = EntryDescription.example
        description.length = 1_000
        description.title = "one\u{1B}[2J"
        store.describe(description)
        await store.close()
        let entry = try #require(try await opener.list().first)
        #expect(entry.title?.string == "one\u{FFFD}[2J")
        #expect(entry.artist?.string == "Ὀρφεύς")
        #expect(entry.duration == .seconds(215.25))
        #expect(entry.stored == ByteRangeSet(0..<1_000))
        #expect(entry.isComplete)
        #expect(entry.lastPlayed == 1_001)
        #expect(try await opener.info(for: url("a")) == entry)
        #expect(try await opener.info(for: url("b")) == nil)
    }

    @Test func `asking about a folder that is not there makes none`() async throws {
        let opener = makeOpener(budget: 10_000_000)
        #expect(try await opener.list() == [])
        #expect(try await opener.clear(includingPinned: true) == CacheRemoval())
        #expect(access(folder.cache, F_OK) != 0)
    }
}
