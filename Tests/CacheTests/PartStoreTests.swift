import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The parts of a stream of segments: regions of one entry.
@Suite struct PartStoreTests {
    private let scene = CacheScene()

    /// Opens the part `name` of the stream `store`; its URL is `path`.
    private func part(
        _ name: PartName,
        of store: any ByteStore,
        at path: String = "part?token=2",
        likelyLength: Int64 = 0,
        isNew: Bool = false
    ) async throws -> any ByteStore {
        let part = await store.part(name, at: try url(path), likelyLength: likelyLength, isNew: isNew)
        return try #require(part)
    }

    /// Caches the segments `numbers` of the stream `a`, each of 100,000 bytes and salted with its number.
    private func fill(
        _ numbers: [Int],
        of count: Int = 4,
        gaps: [Int] = [],
        secret: CacheSecret? = nil
    ) async throws {
        let store = try await scene.opener(secret: secret).open(url("a"))
        store.describe(length: 500)
        try await store.write(0..<500, salt: 99)
        store.describe(StreamTable(rendition: [1, 2], count: count, gaps: gaps))
        for number in numbers {
            let part = try await part(.segments(from: number), of: store, at: "part?token=1")
            part.describe(length: 100_000, etag: "\"\(number)\"")
            try await part.write(0..<100_000, salt: UInt64(number))
            await part.close()
        }
        await store.close()
    }

    private func info(_ secret: CacheSecret? = nil) async throws -> CachedItem {
        try #require(try await scene.opener(secret: secret).info(for: url("a")))
    }

    @Test(arguments: [false, true])
    func `parts have offsets of their own, and are found again in any order`(isSealed: Bool) async throws {
        let secret: CacheSecret? = isSealed ? .generate() : nil
        try await fill([2, 0, 1], secret: secret)
        let store = try await scene.opener(secret: secret).open(url("a"))
        #expect(store.stream == StreamTable(rendition: [1, 2], count: 4))
        #expect(store.stored == ByteRangeSet(0..<500))
        #expect(try await store.holds(0..<500, salt: 99))
        for number in [0, 1, 2] {
            let part = try await part(.segments(from: number), of: store)
            #expect(part.stored == ByteRangeSet(0..<100_000) && part.isPersistent)
            #expect(part.description.validators.etag == "\"\(number)\"")
            #expect(try await part.holds(0..<100_000, salt: UInt64(number)))
            #expect(try await part.read(at: 100_000, count: 10) == [])
        }
        #expect(try await part(.segments(from: 3), of: store).stored.isEmpty)
        await store.close()
        #expect(try scene.objects.count == 1)
        #expect(scene.notices.texts.isEmpty)
    }

    @Test func `the entry has the size and the shares of its segments only`() async throws {
        try await fill([0, 2], gaps: [3])
        var item = try await info()
        #expect(item.length == nil && !item.isComplete && item.storedBytes == 200_000)
        #expect(item.stream?.segments == [0..<1, 2..<4])
        #expect(item.stream?.ranges.byteCount == 200_000)
        #expect(item.stream?.ranges.contains(0) == false)
        try await fill([1], gaps: [3])
        item = try await info()
        #expect(item.length == 300_000 && item.isComplete && item.percent == 100)
        #expect(item.stream?.segments == [0..<4])
        #expect(item.stored == ByteRangeSet(0..<300_000))
    }

    @Test func `segments that are slices of one resource count by their ranges`() async throws {
        let store = try await scene.opener().open(url("a"))
        let slices = [0..<1_000, 1_000..<3_000, 3_000..<6_000].map {
            StreamTable.Slice(resource: 0, range: $0 as ByteRange)
        }
        store.describe(StreamTable(count: 3, slices: slices))
        let part = try await part(.segments(from: 0), of: store)
        try await part.write(500..<3_500)
        await store.close()
        let item = try await info()
        #expect(item.length == 6_000 && item.stored == ByteRangeSet(500..<3_500))
        #expect(item.stream?.segments == [1..<2])
    }

    @Test func `keys and sections are known by their URL, whose signature may change`() async throws {
        let rule = try CacheIdentity.Rule(parsing: "host=radio.example strip=token")
        let opener = scene.opener(identity: CacheIdentity(rules: [rule]))
        let store = try await opener.open(url("a"))
        for (index, name) in ["k?token=1", "l?token=1"].enumerated() {
            let part = try await part(.key(url(name)), of: store, at: name)
            try await part.write([UInt8(index)], at: 0)
        }
        let section = try await part(.section(url("k?token=1")), of: store)
        #expect(section.stored.isEmpty)
        await store.close()
        let next = try await opener.open(url("a"))
        #expect(try await part(.key(url("k?token=2")), of: next).read(at: 0, count: 9) == [0])
        #expect(try await part(.key(url("l?token=3")), of: next).read(at: 0, count: 9) == [1])
        await next.close()
    }

    @Test func `a part of any stated length has room, and one without a length as much as is likely`()
        async throws
    {
        let store = try await scene.opener().open(url("a"))
        let long = try await part(.segments(from: 0), of: store)
        long.describe(length: 40 << 20)
        try await long.write((40 << 20) - 1_000..<40 << 20)
        let unknown = try await part(.segments(from: 1), of: store, likelyLength: 20 << 20)
        try await unknown.write(30 << 20..<(30 << 20) + 1_000)
        #expect(long.isPersistent && unknown.isPersistent)
        await store.close()
        let next = try await scene.opener().open(url("a"))
        #expect(try await part(.segments(from: 0), of: next).holds((40 << 20) - 1_000..<40 << 20))
        #expect(try await part(.segments(from: 1), of: next).holds(30 << 20..<(30 << 20) + 1_000))
    }

    @Test func `a segment that is longer than its room gets more, unless another one follows it`()
        async throws
    {
        let store = try await scene.opener().open(url("a"))
        store.describe(StreamTable(count: 2))
        let first = try await part(.segments(from: 0), of: store)
        // Not proven, and then proven, across the end of the room.
        first.commitOnly(ByteRangeSet())
        for place in [0, 10 << 20, (16 << 20) - 500, 40 << 20] as [Int64] {
            try await first.write(place..<place + 1_000)
        }
        try await store.commit()
        #expect(try await info().storedBytes == 0)
        first.commitOnly(nil)
        #expect(first.isPersistent)
        let second = try await part(.segments(from: 1), of: store)
        try await second.write(0..<1_000, salt: 1)
        try await first.write(60 << 20..<(60 << 20) + 1_000)
        #expect(try await first.holds(60 << 20..<(60 << 20) + 1_000))
        #expect(!first.isPersistent && second.isPersistent)
        await store.close()
        let next = try await scene.opener().open(url("a"))
        let found = try await part(.segments(from: 0), of: next)
        for place in [0, 10 << 20, (16 << 20) - 500, 40 << 20] as [Int64] {
            #expect(try await found.holds(place..<place + 1_000))
        }
        #expect(found.stored.byteCount == 4_000)
        #expect(try await part(.segments(from: 1), of: next).holds(0..<1_000, salt: 1))
        await next.close()
    }

    @Test func `a segment that must not be cached is volatile, and the others stay`() async throws {
        try await fill([0, 1])
        let store = try await scene.opener().open(url("a"))
        let fresh = try await part(.segments(from: 2), of: store)
        await fresh.discard()
        try await fresh.write(0..<1_000)
        #expect(try await fresh.holds(0..<1_000))
        #expect(!fresh.isPersistent && store.isPersistent)
        let known = try await part(.segments(from: 1), of: store)
        await known.discard()
        try await known.write(100_000..<100_500, salt: 1)
        #expect(try await known.holds(0..<100_500, salt: 1))
        await fresh.close()
        await known.close()
        await store.close()
        let item = try await info()
        #expect(item.stream?.segments == [0..<1] && item.storedBytes == 100_000)
        #expect(scene.notices.texts.isEmpty)
    }

    @Test func `a key that must not be cached makes the whole stream volatile, and that is said once`()
        async throws
    {
        try await fill([0])
        let store = try await scene.opener().open(url("a"))
        for name in ["k", "l"] { await (try await part(.key(url(name)), of: store)).discard() }
        let segment = try await part(.segments(from: 1), of: store)
        try await segment.write(0..<1_000)
        #expect(try await segment.holds(0..<1_000))
        #expect(!segment.isPersistent)
        await store.close()
        #expect(try await scene.opener().info(for: url("a")) == nil)
        #expect(scene.notices.codes == [.notCached])
    }

    @Test(arguments: [true, false])
    func `what must not be cached and can't be removed at once is removed later`(isSegment: Bool) async throws
    {
        try await fill([0, 1])
        let store = try await scene.opener().open(url("a"))
        let name: PartName = isSegment ? .segments(from: 1) : .key(try url("k"))
        let part = try await part(name, of: store)
        let other = try SQLiteConnection(path: scene.file("index.sqlite"))
        let change = isSegment ? "UPDATE ON parts" : "DELETE ON names"
        // An overflow, as no damage of the index is.
        let overflow = "SELECT abs(-9223372036854775807 - 1)"
        try other.execute("CREATE TRIGGER fault BEFORE \(change) BEGIN \(overflow); END")
        await part.discard()
        #expect(scene.notices.texts.count { $0.contains("could not be removed yet") } == 1)
        #expect(try await info().stream?.segments == [0..<2])
        // Nothing of it is committed meanwhile.
        try await part.write(100_000..<100_500, salt: 1)
        try other.execute("DROP TRIGGER fault")
        await part.close()
        await store.close()
        let left = try await scene.opener().info(for: url("a"))
        #expect(left?.stream?.segments == (isSegment ? [0..<1] : nil))
        #expect(left?.storedBytes == (isSegment ? 100_000 : nil))
    }

    @Test func `bytes of one part that are not proven wait, and those of others are committed`() async throws
    {
        let store = try await scene.opener().open(url("a"))
        let one = try await part(.segments(from: 0), of: store)
        let two = try await part(.segments(from: 1), of: store)
        one.commitOnly(ByteRangeSet(0..<1_000))
        try await one.write(0..<2_000)
        try await two.write(0..<3_000, salt: 1)
        try await store.commit()
        let other = try await scene.opener().open(url("a"))
        #expect(try await part(.segments(from: 0), of: other).stored == ByteRangeSet(0..<1_000))
        #expect(try await part(.segments(from: 1), of: other).stored == ByteRangeSet(0..<3_000))
        one.commitOnly(nil)
        try await store.commit()
        #expect(try await part(.segments(from: 0), of: other).stored == ByteRangeSet(0..<2_000))
    }

    @Test func `two processes put a part into one place`() async throws {
        let stores = [try await scene.opener().open(url("a")), try await scene.opener().open(url("a"))]
        var parts: [any ByteStore] = []
        for store in stores { parts.append(try await part(.segments(from: 7), of: store)) }
        try await parts[0].write(0..<1_000)
        try await stores[0].commit()
        try await parts[1].write(500..<2_000)
        try await stores[1].commit()
        #expect(try await parts[1].holds(0..<2_000))
        _ = await parts[0].refresh(0..<2_000)
        #expect(try await parts[0].holds(0..<2_000))
        for store in stores { await store.close() }
    }

    @Test func `a new part takes the place of an earlier one`() async throws {
        try await fill([0])
        let store = try await scene.opener().open(url("a"))
        let fresh = try await part(.segments(from: 0), of: store, isNew: true)
        #expect(fresh.stored.isEmpty && fresh.description == EntryDescription())
        try await fresh.write(0..<10, salt: 5)
        await store.close()
        let next = try await scene.opener().open(url("a"))
        let found = try await part(.segments(from: 0), of: next)
        #expect(found.stored == ByteRangeSet(0..<10))
        #expect(try await found.holds(0..<10, salt: 5))
        await next.close()
    }

    @Test func `a part that can't be removed stays as it is, and there is no new one`() async throws {
        try await fill([0])
        let store = try await scene.opener().open(url("a"))
        let other = try SQLiteConnection(path: scene.file("index.sqlite"))
        // A removed part has the kind -1, of which this index computes an overflow.
        let overflow = "abs(-9223372036854775807 - 1)"
        try other.execute("CREATE INDEX fault ON parts (CASE kind WHEN -1 THEN \(overflow) END)")
        let place = try url("part?token=2")
        #expect(await store.part(.segments(from: 0), at: place, likelyLength: 0, isNew: true) == nil)
        #expect(store.streamContents?.segments == [0..<1])
        await store.close()
        try other.execute("DROP INDEX fault")
        let next = try await scene.opener().open(url("a"))
        #expect(try await part(.segments(from: 0), of: next).holds(0..<100_000, salt: 0))
        await next.close()
    }

    @Test func `a part that is opened again before its first commit has its description`() async throws {
        let store = try await scene.opener().open(url("a"))
        store.describe(StreamTable(rendition: [], count: 1))
        let first = try await part(.segments(from: 0), of: store)
        first.describe(length: 100, etag: "\"x\"")
        try await first.write(0..<10)
        await first.close()
        let again = try await part(.segments(from: 0), of: store)
        #expect(again.description.length == 100 && again.description.validators.etag == "\"x\"")
        #expect(again.stored == ByteRangeSet(0..<10))
        await store.close()
    }

    @Test func `the validators of another URL are not believed`() async throws {
        try await fill([0])
        let store = try await scene.opener().open(url("a"))
        let same = try await part(.segments(from: 0), of: store)
        #expect(same.description.validators.etag == "\"0\"")
        let moved = try await part(.segments(from: 0), of: store, at: "elsewhere")
        #expect(moved.description.validators.isEmpty && moved.description.length == 100_000)
        await store.close()
    }

    @Test func `lists that are equal do not make one entry of two streams`() async throws {
        let list = Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n".utf8)
        for name in ["a", "b"] {
            let store = try await scene.opener().open(url(name))
            store.describe(length: Int64(list.count), etag: "\"same\"")
            try await store.write(list, at: 0)
            _ = await store.refresh(0..<1_000_000)
            await store.close()
        }
        #expect(try await scene.opener().list().count == 2)
    }

    @Test func `a folder of the same format without the tables gets them`() async throws {
        try await scene.fill(0..<1_000)
        try scene.alterIndex("DROP TABLE parts; DROP TABLE streams")
        #expect(try await scene.opener().list().count == 1)
        try await fill([0])
        #expect(try await info().stream?.segments == [0..<1])
        #expect(scene.notices.texts.isEmpty)
    }

    @Test func `an evicted stream takes its parts along`() async throws {
        try await fill([0, 1])
        do {
            let opener = scene.opener()
            #expect(try await opener.evict(opener.entries("a")).entriesRemoved == 1)
        }
        try await scene.waitUntilClosed()
        #expect(try scene.count("parts") == 0 && scene.count("streams") == 0)
    }

    @Test func `a stored table is read as it was written, and a changed one is refused`() {
        var table = StreamTable(rendition: [3], count: 3, gaps: [1])
        #expect(StreamTable(bytes: table.bytes) == table)
        table.slices = (0..<3).map { StreamTable.Slice(resource: $0, range: 5..<Int64(9 + $0)) }
        #expect(StreamTable(bytes: table.bytes) == table)
        for count in 0..<table.bytes.count {
            #expect(StreamTable(bytes: Array(table.bytes.prefix(count))) == nil)
        }
        table.gaps = [2, 1]
        #expect(StreamTable(bytes: table.bytes) == nil)
        table.gaps = [3]
        #expect(StreamTable(bytes: table.bytes) == nil)
        table.gaps = []
        table.slices[1].resource = 3
        #expect(StreamTable(bytes: table.bytes) == nil)
    }
}

extension CacheScene {
    /// The number of rows of a table of the index.
    fileprivate func count(_ table: String) throws -> Int64? {
        try SQLiteConnection(path: index).statement("SELECT count(*) FROM \(table)").first { $0.integer(0) }
    }
}
