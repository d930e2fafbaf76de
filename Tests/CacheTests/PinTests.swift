import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Pins, and the player's queries about cached tracks.
@Suite struct PinTests {
    private let scene = CacheScene()

    @Test func `a pinned entry is not evicted for later ones`() async throws {
        let opener = scene.opener(budget: 250_000)
        try await opener.cache("a")
        try await opener.setPinned(url("a"), true)
        for name in ["b", "c", "d"] { try await opener.cache(name) }
        #expect(try await opener.names == ["d", "a"])
        try await opener.setPinned(url("a"), false)
        try await opener.cache("e")
        #expect(try await opener.names == ["e", "d"])
    }

    @Test func `an entry pinned before its first byte stays pinned`() async throws {
        let opener = scene.opener()
        try await opener.setPinned(url("a"), true)
        #expect(try await scene.opener().info(for: url("a"))?.isPinned == true)
        try await opener.open(url("a")).close()
        #expect(try await opener.info(for: url("a"))?.isPinned == true)
        try await opener.cache("a")
        #expect(
            try await opener.availability(of: [url("a")]) == [
                Availability(stored: ByteRangeSet(0..<100_000), length: 100_000, isPinned: true)
            ]
        )
        let fresh = try await opener.replace(url("a"))
        await fresh.close()
        #expect(try await opener.info(for: url("a"))?.isPinned == true)
        // An entry that is unpinned without a byte is removed.
        try await opener.setPinned(url("a"), false)
        #expect(try await opener.info(for: url("a")) == nil)
        try await opener.setPinned(url("b"), false)
        #expect(try await opener.list() == [])
    }

    @Test func `a listed entry is pinned and evicted by its number, since its URL lacks the query`()
        async throws
    {
        let opener = scene.opener()
        let secret = try #require(WebURL("https://x.example/song.mp3?token=1"))
        let store = try await opener.open(secret)
        try await store.write(0..<100_000)
        await store.close()
        try await opener.cache("other")
        let listed = try #require(try await opener.list().first { $0.url.string.contains("song.mp3") })
        #expect(!listed.url.string.contains("token"))
        try await opener.setPinned(listed.id, true)
        #expect(try await opener.info(for: secret)?.isPinned == true)
        let kept = try await opener.evict([listed.id])
        #expect(kept.entriesPinned == 1 && kept.entriesRemoved == 0)
        try await opener.setPinned(listed.id, false)
        let open = try await opener.open(secret)
        #expect(try await scene.opener().evict([listed.id]).entriesInUse == 1)
        await open.close()
        #expect(try await opener.evict([listed.id]).entriesRemoved == 1)
        #expect(try await opener.evict([listed.id]).entriesRemoved == 0)
        // Removed entries stay removed.
        try await opener.setPinned(listed.id, true)
        #expect(try await opener.list().count == 1)
    }

    @Test func `the availability of a track has its ranges, with their gaps`() async throws {
        let opener = scene.opener()
        let store = try await opener.open(url("a"))
        var description = EntryDescription()
        description.length = 400_000
        store.describe(description)
        func availability() async throws -> Availability? {
            try await store.commit()
            return try await opener.availability(of: [url("a")])[0]
        }
        try await store.write(200_000..<300_000)
        let middle = ByteRangeSet(200_000..<300_000)
        #expect(try await availability() == Availability(stored: middle, length: 400_000))
        try await store.write(0..<100_000)
        #expect(try await availability()?.stored.ranges.count == 2)
        try await store.write(100_000..<200_000)
        #expect(try await availability()?.stored == ByteRangeSet(0..<300_000))
        #expect(try await availability()?.isComplete == false)
        try await store.write(300_000..<400_000)
        #expect(try await availability()?.isComplete == true)
        await store.close()
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `the sums of the index stay right whatever is committed and dropped`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let opener = scene.opener()
        let store = try await opener.opened("a")
        for _ in 0..<15 {
            let start = Int64.random(in: 0..<8, using: &random) * 30_000
            try await store.write(pattern(start..<start + 30_000), at: start)
            try await store.commit()
            if Bool.random(using: &random),
                let stored = try await opener.info(for: url("a"))?.stored.ranges.randomElement(using: &random)
            {
                let extents = try await store.ask { try $0.extents.all(of: $1, overlapping: stored) }
                let extent = try #require(extents.randomElement(using: &random))
                await store.drop([extent])
            }
            let row = try await store.ask { try $0.entries.row($1) }
            let stored = try #require(try await opener.info(for: url("a"))).stored
            #expect(row?.storedBytes == stored.byteCount)
            #expect(row?.prefix == stored.run(from: 0)?.upperBound ?? 0)
        }
        await store.close()
    }

    @Test func `the availability of thousands of tracks is answered in their order`() async throws {
        let opener = scene.opener()
        try await opener.cache("7")
        try await opener.cache("19999")
        let urls = try (0..<20_000).map { try url("\($0)") }
        let answers = await opener.availability(of: urls)
        #expect(answers.count == 20_000)
        #expect(answers.indices.filter { answers[$0] != nil } == [7, 19_999])
    }

    @Test func `the tags and the duration of cached tracks are answered in their order`() async throws {
        let opener = scene.opener()
        try await opener.cache("a")
        let store = try await opener.open(url("b"))
        try await store.write(0..<1_000)
        var description = EntryDescription()
        description.tags = TrackTags(title: SafeText("Carrier\u{1B}"), artist: "Reprise")
        description.length = 1_000
        description.durationSeconds = 90
        store.describe(description)
        await store.close()
        let answers = try await scene.opener().facts(of: [url("c"), url("b"), url("a")])
        let tags = TrackTags(title: "Carrier\u{FFFD}", artist: "Reprise")
        #expect(answers == [nil, TrackFacts(tags: tags, duration: .seconds(90)), nil])
    }

    @Test func `holdsSome is true for an entry with bytes only`() async throws {
        let opener = scene.opener()
        try await opener.cache("a")
        let empty = try await opener.open(url("b"))
        #expect(try await scene.opener().holdsSome(of: url("a")))
        #expect(try await !scene.opener().holdsSome(of: url("b")))
        #expect(try await !scene.opener().holdsSome(of: url("c")))
        #expect(try await scene.opener().availability(of: [url("c")]) == [nil])
        await empty.close()
    }

    @Test func `a folder that cannot be used has nothing, and pinning in it fails`() async throws {
        let broken = CacheFolder(path: "/dev/null/cache", clock: TestClock())
        #expect(try await broken.availability(of: [url("a")]) == [nil])
        #expect(try await !broken.holdsSome(of: url("a")))
        let error = await #expect(throws: MediaError.self) { try await broken.setPinned(url("a"), true) }
        #expect(error?.code == .notCached)
    }
}
