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

    /// Entries 2, 1, 4, 3 in the order of their last plays.
    private static let four = [
        candidate(1, played: 20), candidate(2, played: 10), candidate(3, played: 40),
        candidate(4, played: 30),
    ]

    struct Case: Sendable {
        let rule: String
        var candidates = four
        var expiry: Int64?
        let excess: Int64
        let victims: [Int64]
    }

    @Test(
        arguments: [
            Case(rule: "nothing without need", excess: 0, victims: []),
            Case(rule: "the least recently played first", excess: 1, victims: [2]),
            Case(rule: "no more than needed", excess: 100, victims: [2]),
            Case(rule: "whole entries", excess: 150, victims: [2, 1]),
            Case(rule: "all if necessary", excess: 400, victims: [2, 1, 4, 3]),
            Case(
                rule: "neither pinned entries nor those without bytes",
                candidates: [
                    candidate(1, played: 1, isPinned: true), candidate(3, played: 3, bytes: 0),
                    candidate(4, played: 4),
                ],
                excess: 300,
                victims: [4]
            ),
            Case(
                // An entry without bytes reveals what was heard, too.
                rule: "expired entries without need, empty ones too, but not pinned ones",
                candidates: [
                    candidate(1, played: 9), candidate(2, played: 10),
                    candidate(3, played: 5, isPinned: true), candidate(7, played: 9, bytes: 0),
                ],
                expiry: 10,
                excess: 0,
                victims: [1, 7]
            ),
            Case(
                rule: "the lower number of two played in the same turn",
                candidates: [candidate(9, played: 1), candidate(3, played: 1)],
                excess: 100,
                victims: [3]
            ),
            Case(
                rule: "within one second, the earlier turn",
                candidates: [
                    candidate(1, played: 1, turn: 3), candidate(2, played: 1, turn: 1),
                    candidate(3, played: 1, turn: 2), candidate(4, played: 0, turn: 9),
                ],
                excess: 300,
                victims: [4, 2, 3]
            ),
            Case(
                rule: "impossible sizes without overflow",
                candidates: [
                    candidate(1, played: 1, bytes: .max), candidate(2, played: 2, bytes: .max),
                    candidate(3, played: 3, bytes: .min),
                ],
                expiry: 10,
                excess: .max,
                victims: [1, 2, 3]
            ),
        ]
    )
    func `the policy evicts`(what: Case) {
        let policy = EvictionPolicy(budget: 0, expiry: what.expiry)
        let victims = policy.victims(among: what.candidates, excess: what.excess)
        #expect(victims.map(\.value) == what.victims, "\(what.rule)")
    }

    @Test func `a track of unknown length may evict others up to a quarter of the budget`() {
        let policy = EvictionPolicy(budget: 1_000)
        #expect(policy.mayPushOut(unknownLengthOf: 250))
        #expect(!policy.mayPushOut(unknownLengthOf: 251))
        #expect(!EvictionPolicy(budget: 0).mayPushOut(unknownLengthOf: 1))
        #expect(!EvictionPolicy(budget: .max).mayPushOut(unknownLengthOf: .max))
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
    func `the excess is the larger of those over the budget and under the free space`(
        allocated: Int64,
        free: Int64,
        needed: Int64,
        excess: Int64
    ) {
        let policy = EvictionPolicy(budget: 1_000, minimumFree: 500)
        #expect(policy.excess(Fullness(allocated: allocated, free: free, needed: needed)) == excess)
        let noMinimum = EvictionPolicy(budget: 1_000)
        #expect(noMinimum.excess(Fullness(allocated: 0, free: 0, needed: 10)) == 0)
    }

    @Test func `the excess of impossible numbers does not overflow`() {
        let numbers = [Int64.min, -1, 0, 1, .max]
        for allocated in numbers {
            for (free, needed) in zip(numbers, numbers.reversed()) {
                let fullness = Fullness(allocated: allocated, free: free, needed: needed)
                #expect(EvictionPolicy(budget: allocated, minimumFree: free).excess(fullness) >= 0)
            }
        }
    }
}

@Suite struct EvictionTests {
    private let scene = CacheScene()

    @Test func `of entries played within one second the first is evicted first`() async throws {
        scene.wallClock.stop()
        let opener = scene.opener(budget: 850_000)
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] { try await opener.cache(name) }
        for name in ["c", "a"] { try await opener.open(url(name)).close() }
        for name in ["i", "j", "k", "l"] { try await opener.cache(name) }
        #expect(try await opener.names == ["l", "k", "j", "i", "a", "c", "h", "g"])
        #expect(try scene.objects.count == 8)
    }

    @Test func `entries can be played and cached whatever turn the index has`() async throws {
        scene.wallClock.stop()
        let opener = scene.opener()
        for name in ["a", "b"] { try await opener.cache(name) }
        for turn in [Int64.min, .max] {
            try scene.alterIndex("UPDATE entries SET turn = \(turn)")
            try await opener.open(url("a")).close()
            try await opener.cache("c\(turn)")
        }
        #expect(
            try await opener.list().map(\.stored)
                == [ByteRangeSet](repeating: ByteRangeSet(0..<100_000), count: 4)
        )
    }

    @Test func `the next opening evicts down to a smaller budget`() async throws {
        let large = scene.opener()
        for name in ["a", "b", "c", "d"] { try await large.cache(name) }
        let small = scene.opener(budget: 250_000)
        let store = try await small.open(url("a"))
        try await wait(for: "room") { try await small.totalBytes <= 250_000 }
        #expect(try await small.names == ["a", "d"])
        #expect(try await store.holds(0..<100_000))
    }

    @Test(arguments: [Int64.min, -1, Int64.max - 1_000_000] as [Int64])
    func `a wrong sum in the index does no harm, and the next opening corrects it`(sum: Int64) async throws {
        let opener = scene.opener(budget: 10_000_000, maximumAge: .seconds(1_000_000))
        try await opener.cache("a")
        let taken = try await opener.totalBytes
        let held = try await opener.open(url("a"))
        try scene.alterIndex("UPDATE folder SET allocated = \(sum)")
        held.describe(.example)
        try await held.commit()
        #expect(try await opener.totalBytes >= 0)
        let next = scene.opener(budget: 10_000_000)
        let store = try await next.open(url("b"))
        try await wait(for: "the sum") { try await next.totalBytes == taken }
        await store.close()
        await held.close()
    }

    @Test func `open and pinned entries stay, and if no others are left, nothing more is cached`()
        async throws
    {
        let opener = scene.opener(budget: 250_000)
        try await opener.cache("p")
        try scene.alterIndex("UPDATE entries SET pinned = 1")
        // Held open by what could be another process.
        let other = scene.opener(budget: 250_000)
        try await other.cache("o")
        let held = try await other.open(url("o"))
        let store = try await opener.open(url("n"))
        store.describe(length: 120_001)
        try await store.write(0..<100_000)
        #expect(
            try await store.refusedCommit() == "it is full, and every track in it is pinned or being played"
        )
        #expect(try await scene.stored("n")?.isEmpty == true)
        try await store.write([1], at: 120_000)
        #expect(!store.isPersistent)
        #expect(try await store.holds(0..<100_000))
        // As soon as an entry can be evicted, it is, and music is cached again.
        await held.close()
        try await store.commit()
        #expect(try await Set(opener.names) == ["p", "n"])
        try await store.write([1], at: 120_000)
        await store.close()
        #expect(try await opener.info(for: url("n"))?.storedBytes == 100_001)
    }

    @Test func `a listed entry has all facts of its description, without control characters`() async throws {
        let opener = scene.opener()
        let store = try await opener.open(url("a"))
        try await store.write(0..<1_000)
        var description = EntryDescription.example
        description.length = 1_000
        description.tags.title = SafeText("one\u{1B}[2J")
        store.describe(description)
        await store.close()
        let entry = try #require(try await opener.list().first)
        #expect(entry.tags.title?.string == "one\u{FFFD}[2J")
        #expect(entry.tags.artist?.string == "Ὀρφεύς")
        #expect(entry.duration == .seconds(215.25))
        #expect(entry.isComplete)
        #expect(entry.lastPlayed == 1_001)
        #expect(try await opener.info(for: url("a")) == entry)
        #expect(try await opener.info(for: url("b")) == nil)
    }
}
