import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// A disk that gets full in the middle of a commit.
@Suite struct NarrowDiskTests {
    private let scene: CacheScene
    private let disk: TestDisk
    private let opener: CacheFolder

    init() {
        scene = CacheScene()
        disk = TestDisk(scene, size: 350_000)
        opener = scene.opener(files: disk)
    }

    /// From now on the index has no room for a claim, `times` times.
    private func refuseClaims(_ times: Int) {
        disk.refuse(.record, times: times, error: SQLiteError(code: .full, message: "disk is full"))
    }

    @Test func `of a commit larger than the disk as much is cached as fits`()
        async throws
    {
        let store = try await opener.open(url("a"))
        try await store.write(0..<500_000)
        _ = try await store.refusedCommit()
        let stored = try #require(try await scene.stored()).byteCount
        #expect(stored > 250_000 && stored <= 350_000)
        #expect(try await store.holds(0..<500_000))
        // No unclaimed bytes are left on the disk, except for the rest of a block.
        #expect(scene.allocated <= stored + 4_096)

        disk.resize(nil)
        try await store.commit()
        #expect(try await scene.stored() == ByteRangeSet(0..<500_000))
        await store.close()
    }

    @Test func `bytes that the index has no room to claim are freed, and smaller commits are tried`()
        async throws
    {
        disk.resize(nil)
        refuseClaims(2)
        let store = try await opener.opened("a", 0..<500_000)
        #expect(disk.refusals == 2)
        #expect(try await scene.stored() == ByteRangeSet(0..<500_000))

        refuseClaims(.max)
        try await store.write(500_000..<1_000_000)
        await #expect(throws: MediaError.self) { try await store.commit() }
        // But for the blocks of which others claim a part.
        #expect(scene.allocated <= 500_000 + 2 * 4_096)
        #expect(try await store.holds(0..<1_000_000))
        await store.close()
    }

    @Test func `on a disk that stays full only a small commit is tried each time`() async throws {
        disk.resize(40_000)
        let store = try await opener.open(url("a"))
        try await store.write(0..<500_000)
        await #expect(throws: MediaError.self) { try await store.commit() }
        let first = disk.refusals
        await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(disk.refusals == first + 1)
        #expect(scene.allocated == 0)
        await store.close()
    }

    @Test func `a commit in parts ends with the bytes that were buffered when it began`() async throws {
        disk.resize(nil)
        refuseClaims(1)
        let store = try await opener.opened("a")
        try await store.write(0..<500_000)
        // With each part, more bytes are buffered than it claimed.
        let next = Locked<Int64>(500_000)
        disk.after(.record) { [weak store] _ in
            let start = next.withLock { $0 }
            guard let store, start < 20_000_000 else { return }
            store.guarded.withLock { $0.state.bytesWritten(pattern(start..<start + 400_000)[...], at: start) }
            next.withLock { $0 += 400_000 }
        }
        try await store.commit()
        #expect(next.withLock { $0 } == 500_000 + 2 * 400_000)
        #expect(disk.refusals == 1)
        await store.close()
    }

    @Test func `bytes that another reader may still use are not freed`() async throws {
        disk.resize(nil)
        let reading = try await opener.opened("a", 0..<200_000)
        #expect(try await reading.holds(0..<200_000))
        // As after a read error of another process: no extent claims the bytes, and they are fetched again.
        let extents = try await reading.ask { try $0.extents.all(of: $1) }
        #expect(extents.map(\.range) == Extent.pieces(of: 0..<200_000))
        await reading.drop(extents)
        let again = try await scene.opener(files: disk).open(url("a"))
        #expect(again.stored.isEmpty)
        disk.resize(0)
        try await again.write(0..<300_000)
        _ = try await again.refusedCommit()
        #expect(disk.refusals > 0)
        #expect(try await reading.holds(0..<200_000))
    }
}
