import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Streams of segments whose session is killed, or whose disk flips bits: no wrong byte is read, and what was
/// committed stays.
@Suite(.serialized) struct StreamFireTests {
    private let scene = CacheScene()
    private static let length: Int64 = 120_000

    private static let names: [PartName] =
        [.list(1)] + (0..<6).map { .segments(from: $0) }
        + ["k", "m"].compactMap { WebURL("http://radio.example/" + $0) }.map { .key($0) }

    private func part(_ index: Int, of store: any ByteStore) async throws -> any ByteStore {
        let part = await store.part(Self.names[index], at: try url("p"), likelyLength: 0, isNew: false)
        return try #require(part)
    }

    /// Downloads parts of the stream `a` in a random order.
    private func run(by opener: CacheFolder, _ random: inout SeededGenerator) async throws {
        let store = try await opener.open(url("a"))
        store.describe(length: 700)
        try await store.write(0..<700, salt: 50)
        store.describe(StreamTable(count: 6))
        for _ in 0..<12 {
            let index = Int.random(in: Self.names.indices, using: &random)
            let part = try await part(index, of: store)
            part.describe(length: Self.length)
            let start = Int64.random(in: 0..<Self.length, using: &random)
            let end = Int64.random(in: start + 1...Self.length, using: &random)
            try await part.write(start..<end, salt: UInt64(index))
            if Bool.random(using: &random) { try await store.commit() }
            await part.close()
        }
        await store.close()
    }

    /// Reads all that `opener` has of the stream, and expects no wrong byte. Returns the number of bytes.
    private func expectTruth(by opener: CacheFolder) async throws -> Int64 {
        let store = try await opener.open(url("a"))
        var sum: Int64 = 0
        for index in Self.names.indices {
            let part = try await part(index, of: store)
            #expect(part.stored.isSubset(of: ByteRangeSet(0..<Self.length)))
            // A read that finds damage drops it, so `stored` shrinks.
            var read = ByteRangeSet()
            while let range = part.stored.subtracting(read).ranges.first {
                let bytes = try await part.read(at: range.lowerBound, count: range.count)
                #expect(bytes == pattern(range.prefix(bytes.count), salt: UInt64(index)))
                read.insert(contentsOf: range.prefix(bytes.count))
                sum += Int64(bytes.count)
            }
            await part.close()
        }
        await store.close()
        return sum
    }

    @Test(arguments: TestCount.seeds(20, full: 300))
    func `a kill at any operation loses only what was not committed`(seed: UInt64) async throws {
        let secret: CacheSecret? = seed % 4 == 3 ? .generate() : nil
        var random = SeededGenerator(seed: seed)
        let disk = TestDisk(scene)
        let image = scene.path + "/killed"
        let left = Locked(Int.random(in: 0..<20, using: &random))
        let kind = [TestDisk.Operation.write, .flush, .record].randomElement(using: &random) ?? .write
        let promised = Locked<Int64>(0)
        disk.after(kind) { [scene] _ in
            guard
                left.withLock({ left in
                    left -= 1
                    return left == -1
                })
            else { return }
            let claims = try? SQLiteConnection(path: scene.index)
                .statement("SELECT stop - start FROM extents").all { $0.integer(0) }
            promised.withLock { $0 = claims?.reduce(0, +) ?? 0 }
            _ = try? runCopy(scene.cache, to: image)
        }
        try await run(by: scene.opener(secret: secret, files: disk), &random)
        let path = FileManager.default.fileExists(atPath: image) ? image : scene.cache
        let notices = Notices()
        let opener = CacheFolder(path: path, secret: secret, clock: TestClock(), onNotice: notices.note)
        let sum = try await expectTruth(by: opener)
        if path == image { #expect(sum + 700 >= promised.withLock { $0 }) }
        #expect(notices.texts.isEmpty)
        #expect(try await opener.verify().isSound)
    }

    @Test(arguments: TestCount.seeds(20, full: 300))
    func `every flipped bit of a part is found, and only its extent is lost`(seed: UInt64) async throws {
        let secret: CacheSecret? = seed % 4 == 3 ? .generate() : nil
        var random = SeededGenerator(seed: seed)
        try await run(by: scene.opener(secret: secret), &random)
        let before = try await expectTruth(by: scene.opener(secret: secret))
        try await scene.waitUntilClosed()
        let extents = try SQLiteConnection(path: scene.index)
            .statement("SELECT start, stop FROM extents WHERE start >= \(PartsTable.firstOffset)")
            .all { $0.integer(0)..<$0.integer(1) }
        let extent = try #require(extents.randomElement(using: &random))
        let offset = Int64.random(in: extent, using: &random)
        try flipBit(Int.random(in: 0..<8, using: &random), ofByteAt: offset, in: try scene.firstObject)
        if seed % 2 == 0 {
            let report = try await scene.opener(secret: secret).verify()
            #expect(report.damaged.map(\.ranges) == [ByteRangeSet(extent)])
        }
        let after = try await expectTruth(by: scene.opener(secret: secret))
        #expect(before - after == Int64(extent.count))
        if seed % 2 == 1 { #expect(scene.notices.codes == [.damagedExtent]) }
    }

    @Test(arguments: TestCount.seeds(20, full: 300))
    func `a changed row of a part never brings the bytes of another part`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        try await run(by: scene.opener(), &random)
        try await scene.waitUntilClosed()
        let column = ["start", "stop", "number", "kind", "length"].randomElement(using: &random) ?? "start"
        let bit = Int64(1) << Int64.random(in: 0..<40, using: &random)
        try scene.alterIndex(
            """
            UPDATE OR IGNORE parts SET \(column) = \(column) + \(bit)
            WHERE start = (SELECT start FROM parts ORDER BY start LIMIT 1 OFFSET \(seed % 4))
            """
        )
        _ = try await expectTruth(by: scene.opener())
        // What is fetched again gets another place.
        try await run(by: scene.opener(), &random)
        _ = try await expectTruth(by: scene.opener())
    }
}

/// Copies a folder, without the holes of its files.
private func runCopy(_ folder: String, to copy: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/cp")
    process.arguments = ["-a", "--sparse=always", folder, copy]
    try process.run()
    process.waitUntilExit()
}
