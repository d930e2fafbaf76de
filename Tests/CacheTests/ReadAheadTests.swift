import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The bytes that are read and checked ahead of the reader.
@Suite struct ReadAheadTests {
    private let folder: TemporaryFolder
    private let notices = Notices()

    init() throws { folder = try TemporaryFolder() }

    /// A store with five blocks that are committed and were not read yet.
    private func filled(secret: CacheSecret? = nil) async throws -> PersistentStore {
        let opener = folder.opener(secret: secret, onNotice: notices.note)
        let store = try #require(try await opener.open(url("a.mp3")) as? PersistentStore)
        try await store.write(pattern(0..<5 * 65_536), at: 0)
        try await store.commit()
        return store
    }

    /// Returns when all that was to be read ahead by now was read.
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

    private func read(_ block: Int, of store: PersistentStore) async throws -> [UInt8] {
        try await store.read(at: Int64(block * 65_536), count: 65_536)
    }

    private func expected(_ block: Int) -> [UInt8] {
        pattern(Int64(block * 65_536)..<Int64((block + 1) * 65_536))
    }

    /// Writes zeros over a block, as a disk might.
    private func spoil(_ block: Int) throws {
        let path = try folder.firstObject
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(block * 65_536))
        try handle.write(contentsOf: Data(count: 65_536))
        try handle.close()
    }

    @Test(arguments: [false, true])
    func `who reads on gets the bytes that were checked, and none that were not`(isSealed: Bool) async throws
    {
        let store = try await filled(secret: isSealed ? CacheSecret(bytes: (0..<32).map { UInt8($0) }) : nil)
        #expect(try await read(0, of: store) == expected(0))
        #expect(try await read(1, of: store) == expected(1))
        await rest(store)
        try spoil(2)
        try spoil(3)
        // Checked while it was whole, and not read again.
        #expect(try await read(2, of: store) == expected(2))
        #expect(try await read(3, of: store) == [])
        #expect(notices.all.map(\.code) == [.damagedExtent])
        #expect(store.stored == ByteRangeSet([0..<3 * 65_536, 4 * 65_536..<5 * 65_536] as [ByteRange]))
        #expect(try await read(4, of: store) == expected(4))
        await store.close()
    }

    @Test func `small reads in sequence check each block once`() async throws {
        let store = try await filled()
        let before = try await bytesRead(by: store)
        for start in stride(from: Int64(0), to: 5 * 65_536, by: 20_480) {
            let bytes = try await store.read(at: start, count: 20_480)
            #expect(bytes == pattern(start..<start + Int64(bytes.count)))
            await rest(store)
        }
        // Each block is read whole once, to be checked, and then only the parts that are asked for.
        #expect(try await bytesRead(by: store) - before < 2 * 5 * 65_536)
        await store.close()
    }

    @Test func `a read elsewhere reads nothing ahead`() async throws {
        let store = try await filled()
        let before = try await bytesRead(by: store)
        for block in [0, 3, 1] {
            #expect(try await read(block, of: store) == expected(block))
            await rest(store)
        }
        #expect(try await bytesRead(by: store) - before == 3 * 65_536)
        await store.close()
    }
}
