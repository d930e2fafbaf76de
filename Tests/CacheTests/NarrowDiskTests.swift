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
        disk = TestDisk(scene, size: 700_000)
        opener = scene.opener(files: disk)
    }

    /// From now on the index has no room for a claim, `times` times.
    private func refuseClaims(_ times: Int) {
        disk.refuse(.record, times: times, error: IndexError(code: .full, message: "disk is full"))
    }

    @Test func `of a commit larger than the disk as much is cached as fits`()
        async throws
    {
        let store = try await opener.open(url("a"))
        try await store.write(0..<1_000_000)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        let stored = try #require(try await opener.info(for: url("a"))?.storedBytes)
        #expect(stored > 600_000 && stored <= 700_000)
        #expect(try await store.holds(0..<1_000_000))
        // No unclaimed bytes are left on the disk, except for the rest of a block.
        #expect(scene.allocated <= stored + 4_096)

        disk.resize(nil)
        try await store.commit()
        #expect(try await opener.info(for: url("a"))?.storedBytes == 1_000_000)
        await store.close()
    }

    @Test func `bytes that the index has no room to claim are freed, and smaller commits are tried`()
        async throws
    {
        disk.resize(nil)
        refuseClaims(2)
        let store = try await opener.open(url("a"))
        try await store.write(0..<1_000_000)
        try await store.commit()
        #expect(disk.refusals == 2)
        #expect(try await opener.info(for: url("a"))?.storedBytes == 1_000_000)

        refuseClaims(.max)
        try await store.write(1_000_000..<1_500_000)
        await #expect(throws: MediaError.self) { try await store.commit() }
        // But for the blocks of which others claim a part.
        #expect(scene.allocated <= 1_000_000 + 2 * 4_096)
        #expect(try await store.holds(0..<1_500_000))
        await store.close()
    }

    @Test func `on a disk that stays full only a small commit is tried each time`() async throws {
        disk.resize(40_000)
        let store = try await opener.open(url("a"))
        try await store.write(0..<1_000_000)
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
        let store = try #require(try await opener.open(url("a")) as? PersistentStore)
        try await store.write(0..<800_000)
        // With each part, more bytes are buffered than it claimed.
        let next = Locked<Int64>(800_000)
        let claims = Locked(0)
        disk.after(.record) { [weak store] _ in
            guard
                claims.withLock({
                    $0 = $0 + 1
                    return $0
                }) < 50, let store
            else { return }
            let start = next.withLock { next in
                defer { next += 400_000 }
                return next
            }
            store.guarded.withLock { $0.state.bytesWritten(pattern(start..<start + 400_000)[...], at: start) }
        }
        try await store.commit()
        #expect(claims.withLock { $0 } == 2)
        #expect(disk.refusals == 1)
        await store.close()
    }

    @Test func `bytes that another reader may still use are not freed`() async throws {
        let bytes = pattern(0..<200_000)
        disk.resize(nil)
        let reading = try await opener.open(url("a"))
        try await reading.write(bytes, at: 0)
        try await reading.commit()
        #expect(try await reading.all(of: 0..<200_000) == bytes)

        let other = scene.opener(files: disk)
        let store = try #require(try await other.open(url("a")) as? PersistentStore)
        // As after an error of the disk when it read: nobody claims the bytes any more, and they are fetched again.
        let (entry, engine) = (store.guarded.withLock { $0.place.entry }, other.engine)
        let claimed = Extent.pieces(of: 0..<200_000)
        let extents = try await engine.look.run {
            try engine.questions.ask { try $0.extents.all(of: entry, overlapping: 0..<200_000) }
        }
        #expect(extents.map(\.range) == claimed)
        _ = await engine.committer.run { engine.entries.drop(extents, of: entry) }
        let again = try await scene.opener(files: disk).open(url("a"))
        #expect(again.stored.isEmpty)
        disk.resize(0)
        try await again.write(0..<300_000)
        await #expect(throws: MediaError.self) { try await again.commit() }
        #expect(disk.refusals > 0)
        #expect(try await reading.all(of: 0..<200_000) == bytes)
        for store in [reading, store, again] { await store.close() }
    }
}
