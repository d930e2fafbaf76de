import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The cache cleans up in the background.
@Suite struct TidyingTests {
    @Test func `the clean-up starts after the first opening has returned`() async throws {
        let scene = CacheScene()
        let first = scene.opener()
        let earlier = try await first.open(url("a"))
        try await earlier.write(0..<1_000)
        await earlier.close()
        // Its own clean-up does not find the orphans.
        await first.rest()
        for orphan in 1...200 {
            try scene.put(at: scene.file("objects/\(orphan)"))
        }
        let lock = open(scene.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(lock) }
        let holdsGate = Locked(false)
        let isOver = Locked(false)
        let other = WorkThread(name: "other")
        // Another process waits for the folder's lock while the first opening holds it, and is the next to
        // get it: it takes the gate first, as `FolderLock` does.
        let opener = CacheFolder(
            path: scene.cache,
            clock: TestClock(),
            wallClock: {
                other.submit {
                    while !ByteLock.acquire(FolderLock.gate, of: lock) { usleep(1_000) }
                    holdsGate.withLock { $0 = true }
                    while flock(lock, LOCK_EX | LOCK_NB) != 0 { usleep(1_000) }
                    ByteLock.release(FolderLock.gate, of: lock)
                    while !isOver.withLock({ $0 }) { usleep(1_000) }
                    _ = flock(lock, LOCK_UN)
                }
                while !holdsGate.withLock({ $0 }) { usleep(1_000) }
                return 5
            }
        )
        let store = try await opener.open(url("a"))
        #expect(try await store.holds(0..<1_000))
        #expect(try scene.objects.count == 201)
        isOver.withLock { $0 = true }
        try await wait(for: "the orphans to go") { try scene.objects.count == 1 }
        await store.close()
        other.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `during a clean-up that hangs, reads, writes and queries are answered`() async throws {
        let scene = CacheScene()
        // Every clean-up begins by reading the free space.
        let disk = TestDisk(scene)
        let first = scene.opener(minimumFree: 1, files: disk)
        let earlier = try await first.open(url("a"))
        try await earlier.write(0..<100_000)
        await earlier.close()
        // Its own clean-up, a few jobs in a row, is over by then.
        await first.rest()
        disk.hold(.measure)
        // If the opening waited for the clean-up, it would never return.
        let opener = scene.opener(minimumFree: 1, files: disk)
        let store = try await opener.open(url("a"))
        try await wait(for: "the cleaning") { disk.isHolding }
        #expect(try await store.holds(0..<100_000))
        try await store.write(100_000..<200_000)
        #expect(try await store.holds(0..<200_000))
        #expect(await store.refresh(0..<200_000) == ByteRangeSet(0..<200_000))
        #expect(try await opener.list().count == 1)
        #expect(disk.isHolding)
        disk.hold(nil)
        await store.close()
        #expect(try await opener.info(for: url("a"))?.storedBytes == 200_000)
    }
}
