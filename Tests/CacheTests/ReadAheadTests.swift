import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The bytes that are read and checked ahead of the reader.
@Suite struct ReadAheadTests {
    private let scene = CacheScene()

    /// A store with five blocks that are committed and were not read yet.
    private func filled(secret: CacheSecret? = nil) async throws -> PersistentStore {
        try await scene.opener(secret: secret).opened("a", 0..<5 * 65_536)
    }

    /// Waits until the read-ahead is done.
    private func rest(_ store: PersistentStore) async { await store.engine.io.run {} }

    /// How many bytes the store's reading thread has read from files, as the kernel counts them.
    private func bytesRead(by store: PersistentStore) async throws -> Int {
        let thread = await store.engine.io.run {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
        }
        let counters = try String(contentsOfFile: "/proc/\(thread)/io", encoding: .utf8)
        return try #require(
            counters.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
        )
    }

    private func block(_ number: Int64) -> ByteRange { number * 65_536..<(number + 1) * 65_536 }

    @Test(arguments: [false, true])
    func `sequential reads get the bytes that were read ahead and checked, and none unchecked`(isSealed: Bool)
        async throws
    {
        let store = try await filled(secret: isSealed ? .generate() : nil)
        #expect(try await store.holds(block(0)))
        #expect(try await store.holds(block(1)))
        await rest(store)
        for spoilt in [2, 3] as [Int64] {
            try flipBit(0, ofByteAt: spoilt * 65_536, in: scene.firstObject)
        }
        // Checked while it was whole, and not read again.
        #expect(try await store.holds(block(2)))
        #expect(try await store.read(at: 3 * 65_536, count: 65_536) == [])
        #expect(scene.notices.codes == [.damagedExtent])
        #expect(store.stored == ByteRangeSet([0..<3 * 65_536, 4 * 65_536..<5 * 65_536] as [ByteRange]))
        #expect(try await store.holds(block(4)))
    }

    @Test func `small reads in sequence check each block once`() async throws {
        let store = try await filled()
        let before = try await bytesRead(by: store)
        for start in stride(from: Int64(0), to: 5 * 65_536, by: 20_480) {
            let bytes = try await store.read(at: start, count: 20_480)
            #expect(bytes == pattern(start..<start + Int64(bytes.count)))
            await rest(store)
        }
        // Each block is read whole once, to be checked, and then only the requested parts.
        #expect(try await bytesRead(by: store) - before < 2 * 5 * 65_536)
    }

    @Test func `a read that does not continue the last one reads nothing ahead`() async throws {
        let store = try await filled()
        let before = try await bytesRead(by: store)
        for number in [0, 3, 1] as [Int64] {
            #expect(try await store.holds(block(number)))
            await rest(store)
        }
        #expect(try await bytesRead(by: store) - before == 3 * 65_536)
    }
}
