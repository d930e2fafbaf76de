import Media
import Testing

@testable import Cache

/// Entries of which only the tags were read.
@Suite struct UnplayedTests {
    private let scene = CacheScene()

    /// Caches the first 64 KiB of the resource `name`, for its tags.
    private func readTags(of name: String, _ opener: CacheFolder) async throws {
        let store = try await opener.open(ResourceKey(try url(name), for: .tags), isOffline: false)
        store.describe(length: 5_000_000)
        try await store.write(0..<65_536)
        await store.close()
    }

    @Test func `an entry for tags is evicted before all that was played`() async throws {
        let opener = scene.opener(budget: 400_000)
        try await opener.cache("a")
        try await opener.cache("b")
        try await readTags(of: "t", opener)
        #expect(try await opener.names == ["b", "a", "t"])
        try await opener.cache("c")
        try await opener.cache("d")
        #expect(try await opener.names.prefix(3) == ["d", "c", "b"])
        #expect(try await opener.info(for: url("t")) == nil)
    }

    @Test func `tags evict nothing that was played, and nothing is said about it`() async throws {
        let opener = scene.opener(budget: 250_000)
        try await opener.cache("a")
        try await opener.cache("b")
        try await readTags(of: "t", opener)
        await opener.rest()
        #expect(try await opener.names == ["b", "a"] && scene.notices.all.isEmpty)
        // The cache takes no further tags, but music.
        for use in [ResourceUse.tags, .playing, .ahead] {
            let store = try await opener.open(ResourceKey(try url("u"), for: use), isOffline: false)
            #expect(store.isPersistent == (use != .tags))
            await store.close()
        }
    }

    @Test func `tags are evicted for other tags`() async throws {
        let opener = scene.opener(budget: 320_000)
        try await opener.cache("a")
        try await opener.cache("b")
        try await readTags(of: "s", opener)
        try await readTags(of: "t", opener)
        #expect(try await opener.names == ["b", "a", "t"])
    }

    @Test func `an entry that is played is like all others, and reading its tags changes nothing`()
        async throws
    {
        let opener = scene.opener()
        try await readTags(of: "t", opener)
        #expect(try await opener.info(for: url("t"))?.lastPlayed == 0)
        try await opener.cache("a")
        try await opener.open(url("t")).close()
        #expect(try await opener.names == ["t", "a"])
        try await opener.open(url("a")).close()
        try await readTags(of: "t", opener)
        #expect(try await opener.names == ["a", "t"])
    }

    @Test func `what was never played does not expire`() {
        let never = EvictionCandidate(entry: EntryID(1), allocated: 100, lastPlayed: 0)
        let old = EvictionCandidate(entry: EntryID(2), allocated: 100, lastPlayed: 1)
        let policy = EvictionPolicy(budget: 1_000, expiry: 10)
        #expect(policy.victims(among: [never, old], excess: 0) == [EntryID(2)])
        #expect(policy.victims(among: [never, old], excess: 1) == [EntryID(1), EntryID(2)])
    }
}
