import Media
import TestSupport
import Testing

@testable import Cache

/// What is played without being kept, on a full disk and without any.
@Suite struct VolatileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `when the disk of the temporary file is full, memory takes the rest`() async throws {
        let files = RecordingFiles()
        let store = try await VolatileStores(folder: folder.path, files: files).open(url("a"))
        try await store.write(pattern(0..<100_000), at: 0)
        files.refuse(.write)
        try await store.write(pattern(90_000..<200_000), at: 90_000)
        #expect(store.stored == ByteRangeSet(0..<200_000))
        #expect(try await store.all(of: 0..<200_000) == pattern(0..<200_000))
        // The disk is not tried again for each chunk.
        files.forget()
        try await store.write(pattern(200_000..<300_000), at: 200_000)
        #expect(files.operations == [])
        #expect(try await store.all(of: 0..<300_000) == pattern(0..<300_000))
        await store.close()
    }

    @Test func `memory holds what is ahead of the reader, and only the nearest piece behind`() {
        var window = HeldWindow(mostBehind: 1_000)
        for start in stride(from: Int64(0), to: 10_000, by: 500) {
            window.write(pattern(start..<start + 500)[...], at: start)
        }
        #expect(window.ranges == ByteRangeSet(0..<10_000))
        #expect(window.read(at: 4_000, count: 100).map { Array($0) } == pattern(4_000..<4_100))
        #expect(window.ranges == ByteRangeSet(3_000..<10_000))
        #expect(window.read(at: 2_999, count: 1) == nil)
        // Back within the window nothing goes; writing goes on ahead.
        #expect(window.read(at: 3_000, count: 1) != nil)
        window.write(pattern(10_000..<11_000)[...], at: 10_000)
        #expect(window.ranges == ByteRangeSet(3_000..<11_000))
        #expect(window.read(at: 10_999, count: 1) != nil)
        #expect(window.ranges == ByteRangeSet(9_999..<11_000))
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `bytes in memory read like an array, whatever goes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bytes = BufferedBytes()
        var model = [UInt8?](repeating: nil, count: 5_000)
        for _ in 0..<60 {
            let start = Int64.random(in: 0..<5_000, using: &random)
            let range = start..<min(5_000, start + Int64.random(in: 1...600, using: &random))
            if Int.random(in: 0..<3, using: &random) == 0 {
                bytes.remove(range)
                for index in range { model[Int(index)] = nil }
            } else {
                for gap in bytes.ranges.gaps(in: range) {
                    bytes.insert(pattern(gap)[...], at: gap.lowerBound)
                    for index in gap { model[Int(index)] = pattern(index..<index + 1)[0] }
                }
            }
            #expect(bytes.count == Int64(model.count { $0 != nil }))
            for range in bytes.ranges.ranges {
                #expect(
                    bytes.bytes(of: range)
                        == model[Int(range.lowerBound)..<Int(range.upperBound)].map { $0 ?? 0 }
                )
            }
            #expect(
                model.indices.allSatisfy {
                    (model[$0] != nil) == (bytes.bytes(at: Int64($0), count: 1) != nil)
                }
            )
        }
    }
}
