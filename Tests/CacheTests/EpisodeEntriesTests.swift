import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Entries of podcast episodes, whose URLs change.
@Suite struct EpisodeEntriesTests {
    private let scene = CacheScene()
    private static let feed = "http://radio.example/feed"

    private func key(_ name: String, _ guid: String? = "1", of feed: String = Self.feed) throws -> ResourceKey
    {
        let episode = guid.map { Episode(feed: feed, guid: $0, date: nil, place: 0) }
        return ResourceKey(try url(name), of: episode)
    }

    /// Caches the first `count` bytes of a resource, each under its URL alone.
    private func cache(_ key: ResourceKey, _ count: Int64, secret: CacheSecret? = nil) async throws {
        let store = try await scene.opener(secret: secret).open(key, isOffline: false)
        try await store.write(0..<count)
        await store.close()
    }

    /// The number of bytes that are stored in the entry that opens.
    private func opened(_ key: ResourceKey, isOffline: Bool = true, secret: CacheSecret? = nil) async throws
        -> Int64
    {
        let store = try await scene.opener(secret: secret).open(key, isOffline: isOffline)
        await store.close()
        return store.stored.byteCount
    }

    @Test(arguments: [false, true])
    func `offline an episode opens in its fullest entry, online in that of its URL`(isSealed: Bool)
        async throws
    {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        try await cache(key("old"), 900, secret: secret)
        #expect(try await opened(key("new"), secret: secret) == 900)
        #expect(try await opened(key("new"), isOffline: false, secret: secret) == 0)
        try await cache(key("new"), 300, secret: secret)
        #expect(try await opened(key("new"), secret: secret) == 900)
        #expect(try await opened(key("new"), isOffline: false, secret: secret) == 300)
        try await cache(key("newer"), 1_000, secret: secret)
        for name in ["old", "new", "newer"] {
            #expect(try await opened(key(name), secret: secret) == 1_000, "\(name)")
        }
    }

    @Test func `if two entries of an episode are equally full, that of its URL opens`() async throws {
        for name in ["old", "new"] { try await cache(key(name), 900) }
        for name in ["old", "new"] {
            let store = try await scene.opener().open(key(name), isOffline: true) as? PersistentStore
            let own = try await scene.opener().info(for: url(name))
            #expect(try #require(store).guarded.withLock { $0.file.entry } == own?.id, "\(name)")
            await store?.close()
        }
    }

    @Test func `songs, other episodes and episodes of other feeds open in the entry of their URL`()
        async throws
    {
        try await cache(key("old"), 900)
        #expect(try await opened(key("new", nil)) == 0)
        #expect(try await opened(key("new", "2")) == 0)
        #expect(try await opened(key("new", of: "http://radio.example/other")) == 0)
        // What was cached as a song is known as an episode once it was opened as such.
        try await cache(key("song", nil), 700)
        #expect(try await opened(key("moved", "3")) == 0)
        #expect(try await opened(key("song", "3")) == 700)
        #expect(try await opened(key("moved", "3")) == 700)
    }

    @Test func `bytes that arrive later go to the entry that was opened, and its names stay`() async throws {
        try await cache(key("old"), 900)
        let store = try await scene.opener().open(key("new"), isOffline: true)
        try await store.write(900..<1_000)
        #expect(try await store.holds(0..<1_000))
        await store.close()
        let old = try #require(try await scene.opener().info(for: url("old")))
        #expect(old.storedBytes == 1_000 && old.otherURLs.isEmpty)
        #expect(try await scene.opener().info(for: url("new")) == nil)
        // The file at the new URL is another one.
        let opener = scene.opener()
        let held = try await opener.open(key("new"), isOffline: true)
        try await opener.replace(url("new")).close()
        await held.close()
        #expect(try await opened(key("old"), isOffline: false) == 1_000)
        #expect(try await opened(key("new"), isOffline: false) == 0)
    }

    @Test func `the episode of a URL stays known when the URL becomes a further name of an entry`()
        async throws
    {
        for name in ["old", "new"] {
            let store = try await scene.opener().open(key(name), isOffline: false)
            store.describe(length: 100_000, etag: "\"strong\"")
            try await store.write(0..<70_000)
            _ = await store.refresh(70_000..<100_000)
            await store.close()
        }
        #expect(try await scene.opener().list().count == 1)
        try scene.alterIndex("DELETE FROM names WHERE place = 1")
        #expect(try await opened(key("newest")) == 70_000)
    }

    @Test(arguments: [false, true])
    func `the hash of an episode is keyed in a sealed folder`(isSealed: Bool) async throws {
        try await cache(key("a"), 900, secret: isSealed ? .generate() : nil)
        let index = try SQLiteConnection(path: scene.index)
        let hash = try #require(try index.statement("SELECT episode FROM names").first { $0.blob(0) })
        #expect(hash.count == 32 && (hash == Digest.name(of: Self.feed + "\0" + "1")) == !isSealed)
    }

    /// A folder of format 5 has no episodes.
    @Test(arguments: [6, 5])
    func `episodes are found in a folder that accepts no writes`(format: Int) async throws {
        for (name, count) in [("old", 900), ("new", 300)] as [(String, Int64)] {
            try await cache(key(name), count)
        }
        try await scene.waitUntilClosed()
        if format == 5 { try scene.turnBack() }
        let protection = Protection(nil)
        let index = try CacheIndex(unwritableAt: scene.index, hasLog: false, protection: protection)
        let row = try index.entries.fullestRow(
            of: protection.key(of: Self.feed + "\0" + "1"),
            orNamed: scene.opener().engine.entries.key(of: url("new"))
        )
        #expect(row?.storedBytes == (format == 5 ? 300 : 900))
    }
}
