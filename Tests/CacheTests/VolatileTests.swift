import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// Volatile stores on a full, damaged or missing disk.
@Suite struct VolatileTests {
    private let scene = CacheScene()

    @Test func `if the disk of the temporary file is full, the other bytes are held in memory`() async throws
    {
        let files = TestDisk(scene)
        let store = try await VolatileStores(folder: scene.path, files: files).open(url("a"))
        try await store.write(0..<100_000)
        files.refuse(.write)
        try await store.write(90_000..<200_000)
        #expect(store.stored == ByteRangeSet(0..<200_000))
        #expect(try await store.holds(0..<200_000))
        // The disk is not tried again for each chunk.
        files.forget()
        try await store.write(200_000..<300_000)
        #expect(files.operations == [])
        #expect(try await store.holds(0..<300_000))
        await store.close()
    }

    @Test
    func `the bytes on the disk are sealed, and changed or lost ones are missing`()
        async throws
    {
        let path = scene.path + "/file"
        let file = ObjectFile(
            descriptor: open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600),
            of: .random(),
            files: SystemFiles()
        )
        let store = VolatileStore(file: file, subject: "a", owner: VolatileStores(folder: scene.path))
        let music = (0..<5_000).flatMap { _ in Array("a very well known tune. ".utf8) }
        try await store.write(music, at: 10)
        #expect(try await store.all(of: 10..<120_010) == music)
        let onDisk = try #require(FileManager.default.contents(atPath: path))
        #expect(onDisk.count == 120_010)
        #expect(onDisk.range(of: Data("tune".utf8)) == nil)
        // No two places are sealed alike, though the music repeats itself.
        let phrases = (0..<100).map { (index: Int) -> Data in onDisk.dropFirst(10 + index * 24).prefix(24) }
        #expect(Set(phrases).count == 100)
        try flipBit(0, ofByteAt: 100_000, in: path)
        // The extent read last is still in memory; a read from elsewhere encounters the damage.
        #expect(try await store.read(at: 10, count: 5) == Array(music[..<5]))
        #expect(try await store.read(at: 100_000, count: 5) == [])
        #expect(store.stored == ByteRangeSet(10..<65_536))
        try await store.write(Array(music[60_000...]), at: 60_010)
        #expect(try await store.all(of: 10..<120_010) == music)
        #expect(truncate(path, 0) == 0)
        #expect(try await store.read(at: 10, count: 5) == [])
        try await store.write(music, at: 10)
        #expect(try await store.all(of: 10..<65_536)[...] == music.prefix(65_526))
        #expect(try await store.read(at: 70_000, count: 5) == [])
        #expect(store.stored == ByteRangeSet(10..<65_536))
        await store.close()
    }

    @Test func `memory holds all bytes ahead of the reader, and a bounded part behind`() {
        var window = HeldWindow(mostBehind: 1_000)
        for start in stride(from: Int64(0), to: 10_000, by: 500) {
            window.write(pattern(start..<start + 500)[...], at: start)
        }
        #expect(window.ranges == ByteRangeSet(0..<10_000))
        #expect(window.read(at: 4_000, count: 100).map { Array($0) } == pattern(4_000..<4_100))
        #expect(window.ranges == ByteRangeSet(3_000..<10_000))
        #expect(window.read(at: 2_999, count: 1) == nil)
        // Nothing is dropped when the reader goes back within the window; writing continues ahead.
        #expect(window.read(at: 3_000, count: 1) != nil)
        window.write(pattern(10_000..<11_000)[...], at: 10_000)
        #expect(window.ranges == ByteRangeSet(3_000..<11_000))
        #expect(window.read(at: 10_999, count: 1) != nil)
        #expect(window.ranges == ByteRangeSet(9_999..<11_000))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `bytes in memory read like an array, whatever is inserted and removed`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = SparseBytes()
        var model: [Int64: UInt8] = [:]
        // Beside the boundary of two blocks.
        let places: ByteRange = 63_000..<68_000
        for _ in 0..<60 {
            let start = Int64.random(in: places, using: &random)
            let range = start..<min(places.upperBound, start + Int64.random(in: 1...600, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 {
                bytes.remove(range)
                for offset in range { model[offset] = nil }
            } else {
                for gap in bytes.ranges.gaps(in: range) {
                    bytes.insert(pattern(gap)[...], at: gap.lowerBound)
                    for (offset, byte) in zip(gap, pattern(gap)) { model[offset] = byte }
                }
            }
            #expect(bytes.count == Int64(model.count))
            for range in bytes.ranges.ranges { #expect(bytes.bytes(of: range) == range.map { model[$0] }) }
            #expect(places.allSatisfy { bytes.bytes(at: $0, count: 1)?.first == model[$0] })
        }
    }
}
