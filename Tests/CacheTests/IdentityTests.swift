import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// The rules that leave parts of a URL out of its key.
@Suite struct CacheIdentityTests {
    private func identity(_ rules: String...) throws -> CacheIdentity {
        CacheIdentity(rules: try rules.map { try CacheIdentity.Rule(parsing: $0) })
    }

    @Test(
        arguments: [
            ("http://cdn.example/a.mp3?token=1&expires=2", "http://cdn.example/a.mp3"),
            ("http://cdn.example/a.mp3?id=7&token=1", "http://cdn.example/a.mp3?id=7"),
            ("http://cdn.example/a.mp3?token=1&id=7&expires=2&x", "http://cdn.example/a.mp3?id=7&x"),
            ("http://cdn.example/a.mp3?%74oken=1", "http://cdn.example/a.mp3"),
            ("http://cdn.example:81/a.mp3?token", "http://cdn.example:81/a.mp3"),
            ("http://cdn.example/a.mp3?tokens=1&Token=2", "http://cdn.example/a.mp3?tokens=1&Token=2"),
            ("http://cdn.example/a.mp3?", "http://cdn.example/a.mp3?"),
            ("http://cdn.example/a.mp3", "http://cdn.example/a.mp3"),
            ("http://other.example/a.mp3?token=1", "http://other.example/a.mp3?token=1"),
            ("http://sub.cdn.example/a.mp3?token=1", "http://sub.cdn.example/a.mp3?token=1"),
            ("http://x.wild.example/a.mp3?sig=1&token=2", "http://x.wild.example/a.mp3?token=2"),
            ("http://wild.example/a.mp3?sig=1", "http://wild.example/a.mp3?sig=1"),
            ("http://notwild.example/a.mp3?sig=1", "http://notwild.example/a.mp3?sig=1"),
        ]
    )
    func `a rule leaves out its parameters on its host`(text: String, expected: String) throws {
        let identity = try identity("host=cdn.example strip=token,expires", "strip=sig host=*.wild.example")
        #expect(identity.text(of: try #require(WebURL(text))) == expected)
    }

    @Test(
        arguments: [
            "", "host=a.example", "strip=a", "host= strip=a", "host=a.example strip=", "cdn.example token",
            "host=a.example strip=a,", "host=a.example strip=a,,b", "host=a.example host=b.example strip=a",
            "host=a.example strip=a strip=b", "host=a.example path=/x strip=a", "host=* strip=a",
            "host=*.example strip=a", "host=a*.example strip=a", "host=http://a.example strip=a",
            "host=a.example:80 strip=a", "host=a.example/x strip=a", "host=u@a.example strip=a",
            "host=a.example strip=a&b", "host=a.example strip=a=b",
        ]
    )
    func `an invalid rule is refused`(text: String) {
        let error = #expect(throws: CacheIdentityError.self) { try CacheIdentity.Rule(parsing: text) }
        #expect(error?.description.isEmpty == false)
    }

    @Test func `a signed URL finds the entry of another signature`() async throws {
        let scene = CacheScene()
        let opener = scene.opener(identity: try identity("host=radio.example strip=token"))
        let store = try await opener.open(url("a.mp3?token=1"))
        try await store.write(0..<1_000)
        await store.close()
        let next = try await opener.open(url("a.mp3?token=2"))
        #expect(next.stored == ByteRangeSet(0..<1_000))
        await next.close()
        #expect(try await opener.info(for: url("a.mp3?id=2"))?.storedBytes == nil)
    }
}

/// An entry with several names: one resource under several URLs.
@Suite struct EntryNamesTests {
    private let scene: CacheScene
    private let opener: CacheFolder

    init() {
        scene = CacheScene()
        opener = scene.opener()
    }

    private static let strong = "\"strong\""

    /// Caches 300,000 of 400,000 bytes under `a`.
    private func cacheOld(_ etag: String = strong) async throws {
        let store = try await opener.open(url("a"))
        var description = EntryDescription()
        description.length = 400_000
        description.validators.etag = etag
        description.facts[.seekTable] = [1, 2, 3]
        description.tags.title = "Old"
        store.describe(description)
        try await store.write(0..<300_000)
        await store.close()
    }

    /// Opens `name` and looks for a copy, as a loader does that got its first window.
    private func joined(
        _ name: String = "b",
        _ etag: String = strong,
        length: Int64 = 400_000,
        salt: UInt64 = 0
    ) async throws -> any ByteStore {
        let store = try await opener.open(url(name))
        store.describe(length: length, etag: etag)
        try await store.write(0..<70_000, salt: salt)
        _ = await store.refresh(70_000..<200_000)
        return store
    }

    private func storedBytes(_ name: String) async throws -> Int64? {
        try await opener.info(for: url(name))?.storedBytes
    }

    @Test func `a URL with the strong tag, length and first bytes of an entry becomes its name`() async throws
    {
        try await cacheOld()
        let store = try await joined()
        #expect(store.stored == ByteRangeSet(0..<300_000))
        #expect(try await store.holds(0..<300_000))
        #expect(store.isPersistent)
        // The loader describes only what it knows; the rest of the entry's description stays.
        store.describe(length: 400_000, etag: Self.strong)
        try await store.write(300_000..<400_000)
        await store.close()
        for name in ["a", "b"] {
            let entry = try #require(try await opener.info(for: url(name)))
            #expect(entry.isComplete)
            #expect(entry.tags.title?.string == "Old")
            #expect(entry.url.string == "http://radio.example/a")
            #expect(entry.otherURLs.map(\.string) == ["http://radio.example/b"])
        }
        #expect(try await opener.list().count == 1)
        #expect(try scene.objects.count == 1)
        let again = try await opener.open(url("b"))
        #expect(again.description.facts[.seekTable] == [1, 2, 3])
        #expect(try await again.holds(0..<400_000))
    }

    @Test func `processes that find one copy at the same time all continue in it`() async throws {
        try await cacheOld()
        var stores: [any ByteStore] = []
        for _ in 0..<3 {
            let store = try await scene.opener().open(url("b"))
            store.describe(length: 400_000, etag: Self.strong)
            try await store.write(0..<70_000)
            stores.append(store)
        }
        // Two of them look before a fetch, and the third commits first.
        for store in stores[..<2] {
            #expect(await store.refresh(70_000..<200_000) == ByteRangeSet(0..<300_000))
        }
        try await stores[2].write(300_000..<350_000)
        try await stores[2].commit()
        for store in stores {
            #expect(store.isPersistent)
            #expect(try await store.holds(0..<300_000))
            await store.close()
        }
        #expect(try await storedBytes("b") == 350_000)
        #expect(try await opener.list().count == 1)
        #expect(try scene.objects.count == 1)
    }

    @Test(
        arguments: [
            (old: "W/\"strong\"", new: "W/\"strong\"", length: 400_000, salt: 0),
            (old: "", new: "", length: 400_000, salt: 0),
            (old: "strong", new: "strong", length: 400_000, salt: 0),
            (old: strong, new: "\"other\"", length: 400_000, salt: 0),
            (old: strong, new: strong, length: 400_001, salt: 0),
            (old: strong, new: strong, length: 400_000, salt: 5),
        ] as [(old: String, new: String, length: Int64, salt: UInt64)]
    )
    func `with a weak or another tag, another length or other first bytes, a URL gets its own entry`(
        old: String,
        new: String,
        length: Int64,
        salt: UInt64
    ) async throws {
        try await cacheOld(old)
        let store = try await joined("b", new, length: length, salt: salt)
        #expect(store.stored == ByteRangeSet(0..<70_000))
        #expect(try await store.holds(0..<70_000, salt: salt))
        await store.close()
        #expect(try await opener.list().count == 2)
        #expect(try await storedBytes("a") == 300_000)
    }

    @Test func `bytes committed before the first window was complete are taken along`() async throws {
        try await cacheOld()
        let store = try await opener.open(url("b"))
        store.describe(length: 400_000, etag: Self.strong)
        try await store.write(0..<60_000)
        try await store.write(350_000..<360_000)
        try await store.commit()
        #expect(await store.refresh(60_000..<100_000).byteCount == 70_000)
        try await store.write(60_000..<66_000)
        try await store.write(390_000..<400_000)
        let whole = ByteRangeSet([0..<300_000, 350_000..<360_000, 390_000..<400_000] as [ByteRange])
        #expect(await store.refresh(66_000..<100_000) == whole)
        await store.close()
        #expect(try await scene.stored() == whole)
        #expect(try await opener.verify().isSound)
        #expect(try scene.objects.count == 1)
    }

    @Test(arguments: ["a", "b"])
    func `replacing one name leaves the entry to the other, which it is then shown by`(
        name: String
    ) async throws {
        try await cacheOld()
        await (try await joined()).close()
        let fresh = try await opener.replace(url(name))
        #expect(fresh.stored.isEmpty)
        try await fresh.write(0..<10, salt: 3)
        await fresh.close()
        #expect(try await storedBytes(name) == 10)
        let other = name == "a" ? "b" : "a"
        let entry = try #require(try await opener.info(for: url(other)))
        #expect(entry.storedBytes == 300_000)
        #expect(entry.url.string == "http://radio.example/\(other)")
        #expect(entry.otherURLs.isEmpty)
        #expect(entry.tags.title?.string == "Old")
    }

    @Test func `URLs that differ only in their signature are shown once`() async throws {
        for name in ["a?sign=1", "a?sign=2", "a?sign=3"] { await (try await joined(name)).close() }
        #expect(try await opener.list().count == 1)
        let entry = try #require(try await opener.info(for: url("a?sign=2")))
        #expect(entry.url.string == "http://radio.example/a?…")
        #expect(entry.otherURLs.isEmpty)
    }

    @Test func `discarding after joining a copy removes only the new name`() async throws {
        try await cacheOld()
        let store = try await joined()
        await store.discard()
        #expect(try await store.holds(0..<300_000))
        await store.close()
        #expect(try await storedBytes("b") == nil)
        #expect(try await storedBytes("a") == 300_000)
    }

    @Test func `an entry keeps its first name and the eight latest`() async throws {
        try await cacheOld()
        for number in 0..<12 { await (try await joined("signed-\(number)")).close() }
        #expect(try await storedBytes("a") == 300_000)
        #expect(try await storedBytes("signed-3") == nil)
        for number in 4..<12 { #expect(try await storedBytes("signed-\(number)") == 300_000) }
        #expect(try await opener.list().count == 1)
    }
}
