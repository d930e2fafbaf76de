import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The cache cleans up in the background.
@Suite struct TidyingTests {
    /// The real file layer with a gate: every clean-up begins by reading the free space, which waits for the
    /// gate.
    private final class HeldCleaning: FileLayer {
        private let system = SystemFiles()
        private let gate = GatedFiles()

        func shut() { gate.shut() }
        func open() { gate.open() }
        var isHolding: Bool { gate.isHolding }

        func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
            try system.write(bytes, to: descriptor, at: offset)
        }

        func flush(_ descriptor: CInt) throws { try system.flush(descriptor) }
        func record(_ transaction: () throws -> Void) throws { try system.record(transaction) }

        func freeBytes(of descriptor: CInt) throws -> Int64 {
            try gate.flush(descriptor)
            return try system.freeBytes(of: descriptor)
        }
    }

    @Test func `nothing is cleaned before the first opening has returned`() async throws {
        let temporary = try TemporaryFolder()
        let earlier = try await temporary.opener().open(url("a"))
        try await earlier.write(pattern(0..<1_000), at: 0)
        await earlier.close()
        for orphan in 1...200 {
            let path = temporary.file("objects/\(orphan)")
            #expect(FileManager.default.createFile(atPath: path, contents: Data([1])))
        }
        let root = open(temporary.cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(root) }
        let lock = try FolderLock(in: root)
        let look = open(temporary.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(look) }
        let isOver = Locked(false)
        let other = WorkThread(name: "other")
        // Another process waits for the folder's lock while the first opening holds it, and is the next to
        // get it.
        let opener = CacheFolder(
            path: temporary.cache,
            clock: TestClock(),
            wallClock: {
                other.submit { try? lock.withLock { while !isOver.withLock({ $0 }) { usleep(1_000) } } }
                while ByteLock.take(FolderLock.gate, of: look) {
                    ByteLock.release(FolderLock.gate, of: look)
                    usleep(1_000)
                }
                return 5
            }
        )
        let store = try await opener.open(url("a"))
        #expect(try await store.all(of: 0..<1_000) == pattern(0..<1_000))
        #expect(try temporary.objects.count == 201)
        isOver.withLock { $0 = true }
        try await wait(for: "the orphans to go") { try temporary.objects.count == 1 }
        await store.close()
        other.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `while the cleaning hangs the first read is answered, and what comes is taken`() async throws {
        let temporary = try TemporaryFolder()
        let files = HeldCleaning()
        func makeOpener() -> CacheFolder {
            CacheFolder(path: temporary.cache, minimumFree: 1, clock: TestClock(), files: files)
        }
        let first = makeOpener()
        let earlier = try await first.open(url("a"))
        try await earlier.write(pattern(0..<100_000), at: 0)
        await earlier.close()
        // Its own clean-up, a few jobs in a row, is over by then.
        for _ in 0..<10 { await first.engine.committer.run {} }
        files.shut()
        // Were anything cleaned before it is opened, this would never return.
        let opener = makeOpener()
        let store = try await opener.open(url("a"))
        try await wait(for: "the cleaning") { files.isHolding }
        #expect(try await store.all(of: 0..<100_000) == pattern(0..<100_000))
        try await store.write(pattern(100_000..<200_000), at: 100_000)
        #expect(try await store.all(of: 0..<200_000) == pattern(0..<200_000))
        #expect(await store.refresh(0..<200_000) == ByteRangeSet(0..<200_000))
        #expect(try await opener.list().count == 1)
        #expect(files.isHolding)
        files.open()
        await store.close()
        #expect(try await opener.info(for: url("a"))?.storedBytes == 200_000)
    }
}
