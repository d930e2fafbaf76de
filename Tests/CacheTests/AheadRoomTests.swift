import Media
import Testing

@testable import Cache

/// What is evicted for music that is downloaded ahead.
@Suite struct AheadRoomTests {
    private static let week: Int64 = 7 * 86_400
    private let scene = CacheScene()

    /// Downloads 100,000 bytes of the resource `name` ahead; returns `true` if they are cached.
    private func download(_ name: String, _ opener: CacheFolder) async throws -> Bool {
        let store = try await opener.open(ResourceKey(try url(name), for: .ahead), isOffline: false)
        store.describe(length: 100_000)
        try await store.write(0..<100_000)
        await store.close()
        return try await opener.info(for: url(name))?.isComplete == true
    }

    @Test func `nothing played in the last seven days is evicted, but what was played before`() async throws {
        let opener = scene.opener(budget: 350_000)
        try await opener.cache("a")
        scene.wallClock.advance(by: Self.week - 600)
        try await opener.cache("b")
        #expect(try await download("c", opener))
        #expect(try await !download("d", opener))
        #expect(opener.isFullAhead && scene.notices.all.isEmpty)
        #expect(try await opener.names == ["c", "b", "a"])
        scene.wallClock.advance(by: 1_200)
        await opener.spare([])
        #expect(try await download("d", opener))
        #expect(try await opener.names == ["d", "c", "b"])
    }

    @Test func `what the queue plays, too, is not evicted, however long ago it was played`() async throws {
        let opener = scene.opener(budget: 350_000)
        for name in ["a", "b"] { try await opener.cache(name) }
        scene.wallClock.advance(by: 2 * Self.week)
        await opener.spare([try url("a"), try url("x")])
        #expect(try await download("c", opener))
        #expect(try await download("d", opener))
        #expect(try await opener.names == ["d", "c", "a"])
        #expect(try await !download("e", opener))
        // To play it now, the oldest of all goes.
        try await opener.cache("e")
        #expect(try await opener.names == ["e", "d", "c"])
    }

    @Test func `once no more fits, nothing is tried until the queue changes`() async throws {
        let opener = scene.opener(budget: 250_000)
        for name in ["a", "b"] { try await opener.cache(name) }
        #expect(try await !download("c", opener))
        let key = ResourceKey(try url("d"), for: .ahead)
        for isPersistent in [false, true] {
            let store = try await opener.open(key, isOffline: false)
            #expect(store.isPersistent == isPersistent && opener.isFullAhead != isPersistent)
            await store.close()
            await opener.spare([])
        }
    }

    @Test func `what was played keeps its time, and what was only there for its tags becomes music`()
        async throws
    {
        let opener = scene.opener()
        try await opener.cache("a")
        let store = try await opener.open(ResourceKey(try url("t"), for: .tags), isOffline: false)
        store.describe(length: 100_000)
        try await store.write(0..<65_536)
        await store.close()
        try await opener.cache("b")
        #expect(try await opener.names == ["b", "a", "t"])
        for name in ["a", "t"] { #expect(try await download(name, opener)) }
        #expect(try await opener.names == ["t", "b", "a"])
    }
}
