import Media
import TestSupport
import Testing

@testable import Cache

/// Several renditions of one stream, each in an entry of its own.
@Suite struct RenditionTests {
    private let scene = CacheScene()

    /// Caches the segments `numbers` of four of `rendition`, which is then the one of the URL.
    private func fill(_ numbers: [Int], of rendition: [UInt8]) async throws {
        let store = try await scene.opener().openRendition(rendition, of: url("a"))
        store.describe(length: 500)
        try await store.write(0..<500, salt: 99)
        store.describe(StreamTable(rendition: rendition, count: 4))
        for number in numbers {
            let part = try #require(
                await store.part(.segments(from: number), at: url("part"), likelyLength: 0, isNew: false)
            )
            part.describe(length: 100_000)
            try await part.write(0..<100_000, salt: UInt64(number))
            await part.close()
        }
        await store.close()
    }

    /// The cached segments of the renditions, that of the URL first.
    private func segments() async throws -> [[Range<Int>]?] {
        try await scene.opener().renditions(of: url("a")).map { $0.stream?.segments }
    }

    /// The rendition that is opened under the URL.
    private func opened(isOffline: Bool = false) async throws -> [UInt8]? {
        let store = try await scene.opener().open(ResourceKey(url("a")), isOffline: isOffline)
        await store.close()
        return store.stream?.rendition
    }

    @Test func `another rendition is an entry of its own, and the one before comes back whole`() async throws
    {
        try await fill([0, 1], of: [1, 7])
        try await fill([2], of: [2, 7])
        #expect(try await segments() == [[2..<3], [0..<2]])
        #expect(try await opened() == [2, 7])
        // Its beginning names it.
        let store = try await scene.opener().openRendition([1], of: url("a"))
        #expect(store.stream?.rendition == [1, 7])
        #expect(try await store.holds(0..<500, salt: 99))
        await store.close()
        #expect(try await segments() == [[0..<2], [2..<3]])
        #expect(try await opened() == [1, 7])
        // The same again changes nothing.
        await (try await scene.opener().openRendition([1], of: url("a"))).close()
        #expect(try await segments() == [[0..<2], [2..<3]])
        #expect(try await scene.opener().list().count == 2)
        #expect(try scene.objects.count == 2)
        #expect(try await scene.opener().info(for: url("b")) == nil)
        #expect(scene.notices.texts.isEmpty)
    }

    @Test func `offline, the rendition of which the most is cached is opened, a pinned one first`()
        async throws
    {
        try await fill([0, 1], of: [1])
        try await fill([2], of: [2])
        #expect(try await opened(isOffline: true) == [1])
        // It is that of the URL from now on.
        #expect(try await segments() == [[0..<2], [2..<3]])
        await (try await scene.opener().openRendition([2], of: url("a"))).close()
        try await scene.opener().setPinned(url("a"), true)
        #expect(try await opened(isOffline: true) == [2])
    }

    @Test func `if the rendition of the URL is removed, another one takes its place`() async throws {
        try await fill([0, 1], of: [1])
        try await fill([2], of: [2])
        let cache = scene.opener()
        let first = try #require(try await cache.info(for: url("a")))
        #expect(try await cache.evict([first.id]).entriesRemoved == 1)
        #expect(try await segments() == [[0..<2]])
        #expect(try await cache.availability(of: [url("a")]).first??.stored.byteCount == 200_000)
        #expect(try await opened() == [1])
        try await fill([3], of: [2])
        #expect(try await segments() == [[3..<4], [0..<2]])
        let all = try await cache.renditions(of: url("a")).map(\.id)
        #expect(try await cache.evict(all).entriesRemoved == 2)
        #expect(try await segments().isEmpty)
        #expect(try scene.objects.isEmpty)
    }

    @Test func `a rendition of which nothing was cached leaves the one before`() async throws {
        try await fill([0, 1], of: [1])
        await (try await scene.opener().openRendition([2], of: url("a"))).close()
        #expect(try await segments() == [[0..<2]])
        #expect(try await opened() == [1])
        #expect(try await scene.opener().list().count == 1)
    }

    @Test func `a stream that has changed, or must not be stored, loses only the rendition that is played`()
        async throws
    {
        try await fill([0, 1], of: [1])
        try await fill([2], of: [2])
        await (try await scene.opener().replace(url("a"))).close()
        #expect(try await segments() == [[0..<2]])
        // Set aside by another player while it is open.
        let store = try await scene.opener().open(url("a"))
        try await fill([3], of: [3])
        await store.discard()
        await store.close()
        #expect(try await segments() == [[3..<4]])
        #expect(try await scene.opener().list().count == 1)
    }

    @Test func `a folder without the table of renditions gets it, and is read without it`() async throws {
        try await fill([0], of: [1])
        try await scene.waitUntilClosed()
        try scene.alterIndex("DROP TABLE renditions")
        #expect(try await segments() == [[0..<1]])
        try await fill([1], of: [2])
        #expect(try await segments() == [[1..<2], [0..<1]])
    }
}
