import Media
import TestSupport
import Testing

@testable import Cache

/// What every `ByteStore` promises, checked on the persistent and the volatile ones alike.
@Suite struct ByteStoreContractTests {
    enum Kind: CaseIterable, Sendable {
        case persistent
        case volatile
        case memory
        /// An entry whose disk is soon full: the rest of its bytes is volatile.
        case overflowing

        var isPersistent: Bool { self == .persistent || self == .overflowing }

        func opener(in folder: TemporaryFolder) -> any ByteStoreOpener {
            switch self {
            case .persistent: folder.opener()
            case .volatile: VolatileStores(folder: folder.path)
            case .memory: VolatileStores(folder: folder.path + "/missing")
            case .overflowing:
                CacheFolder(
                    path: folder.cache,
                    clock: TestClock(),
                    files: NarrowDisk(size: 50_000, folder: folder)
                )
            }
        }

        /// Commits; only an entry that overflows may refuse.
        func commit(_ store: any ByteStore) async throws {
            do {
                try await store.commit()
            } catch let error as MediaError where self == .overflowing && error.code == .notCached {}
        }
    }

    @Test(arguments: Kind.allCases)
    func `a new entry is empty`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        #expect(store.stored.isEmpty)
        #expect(store.description == EntryDescription())
        #expect(store.isPersistent == kind.isPersistent)
        #expect(try await store.read(at: 0, count: 10) == [])
        await store.close()
    }

    @Test(arguments: Kind.allCases)
    func `what was written is read at once, and short at the end of the run`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        try await store.write(pattern(100..<300), at: 100)
        #expect(store.stored == ByteRangeSet(100..<300))
        #expect(try await store.read(at: 150, count: 50) == pattern(150..<200))
        #expect(try await store.read(at: 250, count: 1_000) == pattern(250..<300))
        #expect(try await store.read(at: 99, count: 10) == [])
        #expect(try await store.read(at: 300, count: 10) == [])
        await store.close()
    }

    @Test(arguments: Kind.allCases)
    func `impossible reads and writes are answered, not trapped`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        #expect(try await store.read(at: -1, count: 10) == [])
        #expect(try await store.read(at: 0, count: 0) == [])
        #expect(try await store.read(at: Int64.max, count: Int.max) == [])
        try await store.write([], at: 5)
        await #expect(throws: MediaError.self) { try await store.write([1, 2], at: Int64.max) }
        await #expect(throws: MediaError.self) { try await store.write([1, 2], at: -1) }
        #expect(store.stored.isEmpty)
        await store.close()
    }

    @Test(arguments: Kind.allCases)
    func `bytes that are there are never overwritten`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        try await store.write(pattern(100..<200), at: 100)
        try await store.write([UInt8](repeating: 7, count: 300), at: 0)
        let expected =
            [UInt8](repeating: 7, count: 100) + pattern(100..<200) + [UInt8](repeating: 7, count: 100)
        #expect(try await store.all(of: 0..<300) == expected)
        await store.close()
    }

    @Test(arguments: Kind.allCases)
    func `what is described is told`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        store.describe(.example)
        #expect(store.description == .example)
        try await store.commit()
        #expect(store.description == .example)
        await store.close()
    }

    @Test(arguments: Kind.allCases)
    func `a discarded entry is read and written on, and is empty at the next open`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let opener = kind.opener(in: folder)
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<5_000), at: 0)
        try await store.commit()
        try await store.write(pattern(5_000..<6_000), at: 5_000)
        await store.discard()
        #expect(store.stored == ByteRangeSet(0..<6_000))
        #expect(!store.isPersistent)
        try await store.write(pattern(6_000..<9_000), at: 6_000)
        // Every response that may not be cached discards again.
        await store.discard()
        try await store.commit()
        #expect(store.stored == ByteRangeSet(0..<9_000))
        #expect(try await store.all(of: 0..<9_000) == pattern(0..<9_000))
        await store.close()
        let next = try await opener.open(url("a.mp3"))
        #expect(next.stored.isEmpty)
        await next.close()
    }

    @Test(arguments: Kind.allCases)
    func `a replaced entry starts empty while the old store reads on`(kind: Kind) async throws {
        let folder = try TemporaryFolder()
        let opener = kind.opener(in: folder)
        let old = try await opener.open(url("a.mp3"))
        try await old.write(pattern(0..<5_000), at: 0)
        try await old.commit()
        let new = try await opener.replace(url("a.mp3"))
        #expect(new.stored.isEmpty)
        try await new.write(pattern(0..<4_000, salt: 1), at: 0)
        #expect(try await old.all(of: 0..<5_000) == pattern(0..<5_000))
        #expect(try await new.all(of: 0..<4_000) == pattern(0..<4_000, salt: 1))
        await old.close()
        await new.close()
    }

    @Test(arguments: Kind.allCases, [1, 2, 3, 4] as [UInt64])
    func `any order of writes reads like an array`(kind: Kind, seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let store = try await kind.opener(in: folder).open(url("a.mp3"))
        var random = SeededGenerator(seed: seed)
        var model = [UInt8?](repeating: nil, count: 300_000)
        for round in 0..<40 {
            let start = Int.random(in: 0..<model.count, using: &random)
            let end = min(model.count, start + Int.random(in: 1...40_000, using: &random))
            let bytes = pattern(Int64(start)..<Int64(end), salt: UInt64(round))
            try await store.write(bytes, at: Int64(start))
            for index in start..<end where model[index] == nil { model[index] = bytes[index - start] }
            if round % 7 == 3 { try await kind.commit(store) }
        }
        try await expect(store, toEqual: model)
        #expect(store.isPersistent == (kind == .persistent))
        await store.close()
    }
}

/// Checks that `store` holds exactly the bytes of `model`.
func expect(_ store: any ByteStore, toEqual model: [UInt8?]) async throws {
    var runs: [ByteRange] = []
    var start: Int?
    for index in 0...model.count {
        let isStored = index < model.count && model[index] != nil
        if isStored, start == nil { start = index }
        guard !isStored, let first = start else { continue }
        runs.append(Int64(first)..<Int64(index))
        start = nil
    }
    let expected = ByteRangeSet(runs)
    #expect(store.stored == expected)
    for range in expected.ranges {
        let bytes = try await store.all(of: range)
        #expect(bytes == model[Int(range.lowerBound)..<Int(range.upperBound)].compactMap(\.self))
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
        description.seekTable = [0, 1, 255, 0]
        description.title = "Żółw"
        description.artist = "Ὀρφεύς"
        description.durationSeconds = 215.25
        return description
    }
}
