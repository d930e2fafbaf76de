import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The bytes that are read and checked ahead of the reader.
@Suite struct ReadAheadTests {
    private let folder: TemporaryFolder
    private let files = WatchedReads()

    init() throws { folder = try TemporaryFolder() }

    /// A store with five blocks that are committed and were not read yet.
    private func filled(secret: CacheSecret? = nil) async throws -> PersistentStore {
        let opener = CacheFolder(
            path: folder.cache,
            secret: secret,
            clock: TestClock(),
            files: files,
            onNotice: { [files] notice in files.note(notice) }
        )
        let store = try #require(try await opener.open(url("a.mp3")) as? PersistentStore)
        try await store.write(pattern(0..<5 * 65_536), at: 0)
        try await store.commit()
        return store
    }

    /// Returns when all that was to be read ahead by now was read.
    private func rest(_ store: PersistentStore) async { await store.engine.io.run {} }

    private func read(_ block: Int, of store: PersistentStore) async throws -> [UInt8] {
        try await store.read(at: Int64(block * 65_536), count: 65_536)
    }

    private func expected(_ block: Int) -> [UInt8] {
        pattern(Int64(block * 65_536)..<Int64((block + 1) * 65_536))
    }

    /// Writes zeros over a block, as a disk might.
    private func spoil(_ block: Int) throws {
        let path = folder.file("objects/\(try #require(folder.objects.first))")
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
        #expect(files.notices.map(\.code) == [.damagedExtent])
        #expect(store.stored == ByteRangeSet([0..<3 * 65_536, 4 * 65_536..<5 * 65_536] as [ByteRange]))
        #expect(try await read(4, of: store) == expected(4))
        await store.close()
    }

    @Test func `what was read ahead is read once, however small the reads are`() async throws {
        let store = try await filled()
        for start in stride(from: Int64(0), to: 5 * 65_536, by: 20_480) {
            let bytes = try await store.read(at: start, count: 20_480)
            #expect(bytes == pattern(start..<start + Int64(bytes.count)))
            await rest(store)
        }
        await store.close()
        // Each block is read whole once, to be checked; a look back into a checked one is a read of that part.
        let whole = files.ranges.filter { $0.count == 65_536 }
        #expect(whole.count == 5)
        #expect(files.ranges.reduce(0) { $0 + $1.count } < 2 * 5 * 65_536)
    }

    @Test func `a read elsewhere reads nothing ahead`() async throws {
        let store = try await filled()
        for block in [0, 3, 1] {
            #expect(try await read(block, of: store) == expected(block))
            await rest(store)
        }
        #expect(files.ranges.map { $0.lowerBound / 65_536 } == [0, 3, 1])
        await store.close()
    }
}

/// The real file layer, which notes what is read, and what is told of it.
private final class WatchedReads: FileLayer {
    private let system = SystemFiles()
    private let reads = Locked<[ByteRange]>([])
    private let told = Locked<[MediaError]>([])

    var ranges: [ByteRange] { reads.withLock { $0 } }
    var notices: [MediaError] { told.withLock { $0 } }

    func note(_ notice: MediaError) { told.withLock { $0.append(notice) } }

    func read(_ range: ByteRange, from descriptor: CInt) throws -> [UInt8] {
        reads.withLock { $0.append(range) }
        return try system.read(range, from: descriptor)
    }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        try system.write(bytes, to: descriptor, at: offset)
    }

    func flush(_ descriptor: CInt) throws { try system.flush(descriptor) }

    func record(_ transaction: () throws -> Void) throws { try system.record(transaction) }
}
