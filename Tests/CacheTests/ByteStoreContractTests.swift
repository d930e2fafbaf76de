import Media
import TestSupport
import Testing

@testable import Cache

/// The contract of `ByteStore`, which all stores fulfil.
@Suite struct ByteStoreContractTests {
    enum Kind: CaseIterable, Sendable {
        case persistent
        case volatile
        case memory
        /// An entry whose disk is soon full: the rest of its bytes is volatile.
        case overflowing

        var isPersistent: Bool { self == .persistent || self == .overflowing }

        func opener(in scene: CacheScene) -> any ByteStoreOpener {
            switch self {
            case .persistent: scene.opener()
            case .volatile: VolatileStores(folder: scene.path)
            case .memory: VolatileStores(folder: scene.path + "/missing")
            case .overflowing: scene.opener(files: TestDisk(scene, size: 50_000))
            }
        }

        /// A store in a scene of its own.
        func store() async throws -> any ByteStore { try await opener(in: CacheScene()).open(url("a")) }

        /// Commits; only an entry that overflows may refuse.
        func commit(_ store: any ByteStore) async throws {
            do {
                try await store.commit()
            } catch let error as MediaError where self == .overflowing && error.code == .notCached {}
        }
    }

    @Test(arguments: Kind.allCases)
    func `a new entry is empty`(kind: Kind) async throws {
        let store = try await kind.store()
        #expect(store.stored.isEmpty)
        #expect(store.description == EntryDescription())
        #expect(store.isPersistent == kind.isPersistent)
        #expect(try await store.read(at: 0, count: 10) == [])
    }

    @Test(arguments: Kind.allCases)
    func `written bytes are read at once, and a read ends at the first gap`(kind: Kind) async throws {
        let store = try await kind.store()
        try await store.write(100..<300)
        #expect(store.stored == ByteRangeSet(100..<300))
        #expect(try await store.read(at: 150, count: 50) == pattern(150..<200))
        #expect(try await store.read(at: 250, count: 1_000) == pattern(250..<300))
        #expect(try await store.read(at: 99, count: 10) == [])
        #expect(try await store.read(at: 300, count: 10) == [])
    }

    @Test func `bytes that are not proven can be read, but are committed only once they are`() async throws {
        let scene = CacheScene()
        let store = try await scene.opener().opened("a", 0..<100_000)
        store.commitOnly(ByteRangeSet(0..<100_000))
        try await store.write(200_000..<300_000)
        try await store.commit()
        #expect(try await store.holds(200_000..<300_000))
        // As after the death of the process.
        #expect(try await scene.opener().open(url("a")).stored == ByteRangeSet(0..<100_000))
        store.commitOnly(nil)
        try await store.commit()
        let next = try await scene.opener().open(url("a"))
        #expect(next.stored == ByteRangeSet([0..<100_000, 200_000..<300_000]))
    }

    @Test func `bytes that are not proven at the close are missing at the next open`() async throws {
        let scene = CacheScene()
        let store = try await scene.opener().opened("a", 0..<100_000)
        store.commitOnly(ByteRangeSet(0..<100_000))
        // More than a few of them are held on the disk, sealed.
        try await store.write(100_000..<1_000_000)
        try await store.write(1_000_000..<5_000_000)
        #expect(try await store.holds(100_000..<5_000_000))
        await store.close()
        #expect(try await scene.opener().open(url("a")).stored == ByteRangeSet(0..<100_000))
    }

    @Test(arguments: Kind.allCases)
    func `impossible reads find nothing, and impossible writes fail`(kind: Kind) async throws {
        let store = try await kind.store()
        #expect(try await store.read(at: -1, count: 10) == [])
        #expect(try await store.read(at: 0, count: 0) == [])
        #expect(try await store.read(at: Int64.max, count: Int.max) == [])
        try await store.write([], at: 5)
        await #expect(throws: MediaError.self) { try await store.write([1, 2], at: Int64.max) }
        await #expect(throws: MediaError.self) { try await store.write([1, 2], at: -1) }
        #expect(store.stored.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `bytes at the largest offsets can be written and read, though no disk takes them`(
        kind: Kind
    ) async throws {
        let store = try await kind.store()
        try await store.write([1, 2], at: Int64.max - 10)
        try? await store.commit()
        #expect(try await store.read(at: Int64.max - 10, count: 10) == [1, 2])
    }

    @Test(arguments: Kind.allCases)
    func `stored bytes are never overwritten`(kind: Kind) async throws {
        let store = try await kind.store()
        try await store.write(100..<200)
        try await store.write([UInt8](repeating: 7, count: 300), at: 0)
        let expected =
            [UInt8](repeating: 7, count: 100) + pattern(100..<200) + [UInt8](repeating: 7, count: 100)
        #expect(try await store.all(of: 0..<300) == expected)
    }

    @Test(arguments: Kind.allCases)
    func `a description is stored`(kind: Kind) async throws {
        let store = try await kind.store()
        store.describe(.example)
        #expect(store.description == .example)
        try await store.commit()
        #expect(store.description == .example)
    }

    @Test(arguments: Kind.allCases)
    func `a discarded entry can be read and written, and is empty at the next opening`(kind: Kind)
        async throws
    {
        let scene = CacheScene()
        let opener = kind.opener(in: scene)
        let store = try await opener.open(url("a"))
        try await store.write(0..<5_000)
        try await store.commit()
        try await store.write(5_000..<6_000)
        await store.discard()
        #expect(store.stored == ByteRangeSet(0..<6_000))
        #expect(!store.isPersistent)
        try await store.write(6_000..<9_000)
        // Every response that may not be cached discards again.
        await store.discard()
        try await store.commit()
        #expect(store.stored == ByteRangeSet(0..<9_000))
        #expect(try await store.holds(0..<9_000))
        await store.close()
        let next = try await opener.open(url("a"))
        #expect(next.stored.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a replaced entry starts empty, and the old store can still be read`(kind: Kind) async throws {
        let scene = CacheScene()
        let opener = kind.opener(in: scene)
        let old = try await opener.open(url("a"))
        try await old.write(0..<5_000)
        try await old.commit()
        let new = try await opener.replace(url("a"))
        #expect(new.stored.isEmpty)
        try await new.write(0..<4_000, salt: 1)
        #expect(try await old.holds(0..<5_000))
        #expect(try await new.holds(0..<4_000, salt: 1))
    }

    @Test(arguments: Kind.allCases, [1, 2, 3, 4] as [UInt64])
    func `any order of writes reads like an array`(kind: Kind, seed: UInt64) async throws {
        let store = try await kind.store()
        var model = StoreModel(seed: seed)
        for round in 0..<40 {
            try await model.write(40_000, to: store)
            if round % 7 == 3 { try await kind.commit(store) }
        }
        try await model.expectEqual(store)
        #expect(store.isPersistent == (kind == .persistent))
    }
}

/// The bytes that a store must hold after random writes.
struct StoreModel {
    var random: SeededGenerator
    private var stored = ByteRangeSet()
    private var bytes = [UInt8](repeating: 0, count: 300_000)
    private var salt: UInt64 = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Writes up to `most` bytes anywhere; those that are stored already must stay.
    mutating func write(_ most: Int64, to store: any ByteStore) async throws {
        let start = Int64.random(in: 0..<Int64(bytes.count), using: &random)
        let range = start..<min(Int64(bytes.count), start + Int64.random(in: 1...most, using: &random))
        salt += 1
        try await store.write(range, salt: salt)
        for gap in stored.gaps(in: range) {
            bytes.replaceSubrange(Int(gap.lowerBound)..<Int(gap.upperBound), with: pattern(gap, salt: salt))
        }
        stored.insert(contentsOf: range)
    }

    func expectEqual(_ store: any ByteStore) async throws {
        #expect(store.stored == stored)
        for range in stored.ranges {
            let expected = bytes[Int(range.lowerBound)..<Int(range.upperBound)]
            #expect(try await store.all(of: range)[...] == expected)
        }
    }
}

extension EntryDescription {
    /// Every field filled.
    static var example: EntryDescription {
        var description = EntryDescription()
        description.length = 5_000_000_000
        description.contentType = "audio/mpeg"
        description.validators = Validators(etag: "W/\"é\"", lastModified: "Sat, 21 Nov 2026 03:21:13 GMT")
        description.acceptsRanges = false
        description.facts = [.seekTable: [0, 1, 255, 0]]
        description.tags = TrackTags(title: "Żółw", artist: "Ὀρφεύς", album: "Album", year: "1999")
        description.tags.number = "3/12"
        description.tags.albumArtist = "Ὅμιλος"
        description.tags.disc = "1/2"
        description.tags.genre = "Folk"
        description.tags.compilation = "1"
        description.tags.cover = 16..<4_000
        description.durationSeconds = 215.25
        return description
    }
}
