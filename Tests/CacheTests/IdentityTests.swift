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
    func `a rule leaves out what it names, on its host`(text: String, expected: String) throws {
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
    func `what is no rule is refused and named`(text: String) {
        let error = #expect(throws: CacheIdentityError.self) { try CacheIdentity.Rule(parsing: text) }
        #expect(error?.description.isEmpty == false)
    }

    @Test func `a signed URL finds what another signature fetched`() async throws {
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

    private static func description(_ etag: String = "\"strong\"", length: Int64 = 400_000)
        -> EntryDescription
    {
        var description = EntryDescription()
        description.length = length
        description.validators.etag = etag
        return description
    }

    /// Keeps 300,000 of 400,000 bytes under `a`.
    private func keepOld(_ etag: String = "\"strong\"") async throws {
        let store = try await opener.open(url("a"))
        var description = Self.description(etag)
        description.seekTable = [1, 2, 3]
        description.title = "Kept"
        store.describe(description)
        try await store.write(0..<300_000)
        await store.close()
    }

    /// Opens `b` as a loader does that got its first window.
    private func openNew(_ description: EntryDescription, salt: UInt64 = 0) async throws -> any ByteStore {
        let store = try await opener.open(url("b"))
        store.describe(description)
        try await store.write(0..<70_000, salt: salt)
        return store
    }

    @Test func `an equal strong tag, length and beginning bring all that is stored`() async throws {
        try await keepOld()
        let store = try await openNew(Self.description())
        #expect(await store.refresh(70_000..<200_000) == ByteRangeSet(0..<300_000))
        #expect(try await store.holds(0..<300_000))
        #expect(store.isPersistent)
        // The loader describes only what it knows; the rest of the entry's description stays.
        store.describe(Self.description())
        try await store.write(300_000..<400_000)
        await store.close()
        for name in ["a", "b"] {
            let entry = try #require(try await opener.info(for: url(name)))
            #expect(entry.isComplete)
            #expect(entry.title?.string == "Kept")
            #expect(entry.url.string == "http://radio.example/a")
            #expect(entry.otherURLs.map(\.string) == ["http://radio.example/b"])
        }
        #expect(try await opener.list().count == 1)
        #expect(try scene.objects.count == 1)
        let again = try await opener.open(url("b"))
        #expect(again.description.seekTable == [1, 2, 3])
        #expect(try await again.holds(0..<400_000))
        await again.close()
    }

    @Test func `processes that find one copy at the same time all continue in it`() async throws {
        try await keepOld()
        var stores: [any ByteStore] = []
        for _ in 0..<3 {
            let process = scene.opener()
            let store = try await process.open(url("b"))
            store.describe(Self.description())
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
        #expect(try await opener.info(for: url("b"))?.storedBytes == 350_000)
        #expect(try await opener.list().count == 1)
        #expect(try scene.objects.count == 1)
    }

    @Test(arguments: ["W/\"strong\"", "\"other\"", "", "strong"])
    func `a weak or another tag brings nothing`(tag: String) async throws {
        // Equal ones, too, where they are not strong.
        try await keepOld(tag == "\"other\"" ? "\"strong\"" : tag)
        let store = try await openNew(Self.description(tag))
        #expect(await store.refresh(70_000..<200_000) == ByteRangeSet(0..<70_000))
        await store.close()
        #expect(try await opener.list().count == 2)
    }

    @Test func `another length or other first bytes bring nothing`() async throws {
        try await keepOld()
        let longer = try await openNew(Self.description(length: 400_001))
        #expect(await longer.refresh(70_000..<200_000) == ByteRangeSet(0..<70_000))
        await longer.discard()
        await longer.close()
        let different = try await openNew(Self.description(), salt: 5)
        #expect(await different.refresh(70_000..<200_000) == ByteRangeSet(0..<70_000))
        #expect(try await different.holds(0..<70_000, salt: 5))
        await different.close()
        #expect(try await opener.info(for: url("a"))?.storedBytes == 300_000)
    }

    @Test func `nothing is taken over before the first window is there`() async throws {
        try await keepOld()
        let store = try await opener.open(url("b"))
        store.describe(Self.description())
        try await store.write(0..<60_000)
        #expect(await store.refresh(60_000..<100_000) == ByteRangeSet(0..<60_000))
        try await store.write(60_000..<66_000)
        #expect(await store.refresh(66_000..<100_000) == ByteRangeSet(0..<300_000))
        await store.close()
    }

    @Test func `a new version under the new URL leaves the old one alone`() async throws {
        try await keepOld()
        let store = try await openNew(Self.description())
        _ = await store.refresh(70_000..<200_000)
        await store.close()
        let fresh = try await opener.replace(url("b"))
        #expect(fresh.stored.isEmpty)
        try await fresh.write(0..<10, salt: 3)
        await fresh.close()
        #expect(try await opener.info(for: url("a"))?.storedBytes == 300_000)
        #expect(try await opener.info(for: url("b"))?.storedBytes == 10)
    }

    @Test func `what was committed before the first window was whole comes along`() async throws {
        try await keepOld()
        let store = try await opener.open(url("b"))
        store.describe(Self.description())
        try await store.write(0..<60_000)
        try await store.write(350_000..<360_000)
        try await store.commit()
        try await store.write(60_000..<66_000)
        try await store.write(390_000..<400_000)
        let whole = ByteRangeSet([0..<300_000, 350_000..<360_000, 390_000..<400_000] as [ByteRange])
        #expect(await store.refresh(66_000..<100_000) == whole)
        await store.close()
        #expect(try await opener.info(for: url("a"))?.stored == whole)
        #expect(try await opener.verify().isSound)
        #expect(try scene.objects.count == 1)
    }

    @Test func `an entry that loses its first name is shown by the next one`() async throws {
        try await keepOld()
        let store = try await openNew(Self.description())
        _ = await store.refresh(70_000..<200_000)
        await store.close()
        let fresh = try await opener.replace(url("a"))
        try await fresh.write(0..<10, salt: 3)
        await fresh.close()
        let entry = try #require(try await opener.info(for: url("b")))
        #expect(entry.storedBytes == 300_000)
        #expect(entry.url.string == "http://radio.example/b")
        #expect(entry.otherURLs.isEmpty)
        #expect(entry.title?.string == "Kept")
    }

    @Test func `URLs that differ in their signature alone are shown once`() async throws {
        for name in ["a?sign=1", "a?sign=2", "a?sign=3"] {
            let store = try await opener.open(url(name))
            store.describe(Self.description())
            try await store.write(0..<70_000)
            _ = await store.refresh(70_000..<200_000)
            await store.close()
        }
        #expect(try await opener.list().count == 1)
        let entry = try #require(try await opener.info(for: url("a?sign=2")))
        #expect(entry.url.string == "http://radio.example/a?…")
        #expect(entry.otherURLs.isEmpty)
    }

    @Test func `in a sealed folder the names are sealed and can be read with the secret`() async throws {
        let opener = scene.opener(secret: .generate())
        for name in ["first", "second"] {
            let store = try await opener.open(url(name))
            store.describe(Self.description())
            try await store.write(0..<70_000)
            _ = await store.refresh(70_000..<200_000)
            await store.close()
        }
        let entry = try #require(try await opener.info(for: url("second")))
        #expect(entry.otherURLs.map(\.string) == ["http://radio.example/second"])
        for file in ["index.sqlite", "index.sqlite-wal"] {
            let bytes = try #require(scene.content(file))
            #expect(bytes.range(of: Data("radio.example".utf8)) == nil)
            #expect(bytes.range(of: Data(Digest.name(of: "http://radio.example/second"))) == nil)
        }
    }

    @Test func `discarding what was taken over only forgets the new URL`() async throws {
        try await keepOld()
        let store = try await openNew(Self.description())
        _ = await store.refresh(70_000..<200_000)
        await store.discard()
        #expect(try await store.holds(0..<300_000))
        await store.close()
        #expect(try await opener.info(for: url("b")) == nil)
        #expect(try await opener.info(for: url("a"))?.storedBytes == 300_000)
    }

    @Test func `of many URLs that lead to one entry the last are remembered`() async throws {
        try await keepOld()
        for number in 0..<12 {
            let store = try await opener.open(url("signed-\(number)"))
            store.describe(Self.description())
            try await store.write(0..<70_000)
            _ = await store.refresh(70_000..<200_000)
            await store.close()
        }
        #expect(try await opener.info(for: url("a"))?.storedBytes == 300_000)
        #expect(try await opener.info(for: url("signed-3")) == nil)
        for number in 4..<12 {
            #expect(try await opener.info(for: url("signed-\(number)"))?.storedBytes == 300_000)
        }
        #expect(try await opener.list().count == 1)
    }
}
