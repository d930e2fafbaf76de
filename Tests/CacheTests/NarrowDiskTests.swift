import Glibc
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The real file layer on a disk that has room for so many bytes of music, and says so only when it is full, as disks
/// do.
final class NarrowDisk: FileLayer {
    private struct State {
        var size: Int64
        var refusesClaims = 0
        var refusals = 0
        var claims = 0
        var claiming: (@Sendable () -> Void)?
    }

    private let system = SystemFiles()
    private let folder: TemporaryFolder
    private let state: Locked<State>

    init(size: Int64, folder: TemporaryFolder) {
        self.folder = folder
        state = Locked(State(size: size))
    }

    /// How often something was refused.
    var refusals: Int { state.withLock { $0.refusals } }

    /// The number of claims made.
    var claims: Int { state.withLock { $0.claims } }

    /// Runs `body` with each claim from now on.
    func whenClaiming(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.claiming = body } }

    func setSize(_ size: Int64) { state.withLock { $0.size = size } }

    /// Has no room for the log of the index the next `count` times.
    func refuseClaims(_ count: Int) { state.withLock { $0.refusesClaims = count } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        let room = state.withLock { $0.size } - folder.allocated
        // Bytes are written as far as there is room: the file is longer than the claims.
        try system.write(bytes.prefix(Int(max(0, room))), to: descriptor, at: offset)
        guard room < bytes.count else { return }
        state.withLock { $0.refusals += 1 }
        throw SystemError("keep bytes", number: ENOSPC)
    }

    func flush(_ descriptor: CInt) throws { try system.flush(descriptor) }

    func record(_ transaction: () throws -> Void) throws {
        let isRefused = state.withLock { state in
            guard state.refusesClaims > 0 else { return false }
            state.refusesClaims -= 1
            state.refusals += 1
            return true
        }
        if isRefused { throw IndexError(code: .full, message: "database or disk is full") }
        try system.record(transaction)
        let claiming = state.withLock { state in
            state.claims += 1
            return state.claiming
        }
        claiming?()
    }
}

/// A disk that gets full in the middle of a commit.
@Suite struct NarrowDiskTests {
    private let folder: TemporaryFolder
    private let disk: NarrowDisk
    private let opener: CacheFolder

    init() throws {
        folder = try TemporaryFolder()
        disk = NarrowDisk(size: 700_000, folder: folder)
        opener = CacheFolder(path: folder.cache, minimumFree: 0, clock: TestClock(), files: disk)
    }

    @Test func `of a commit that is too large for the disk as much is kept as there is room for`()
        async throws
    {
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000_000), at: 0)
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(error?.code == .notCached)
        let stored = try #require(try await opener.info(for: url("a.mp3"))?.storedBytes)
        #expect(stored > 600_000 && stored <= 700_000)
        #expect(try await store.all(of: 0..<1_000_000) == pattern(0..<1_000_000))
        // No unclaimed bytes are left on the disk, except for the rest of a block.
        #expect(folder.allocated <= stored + 4_096)

        disk.setSize(.max)
        try await store.commit()
        #expect(try await opener.info(for: url("a.mp3"))?.storedBytes == 1_000_000)
        await store.close()
    }

    @Test func `what the index had no room to claim is given back, and less of it is kept`() async throws {
        disk.setSize(.max)
        disk.refuseClaims(2)
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000_000), at: 0)
        try await store.commit()
        #expect(disk.refusals == 2)
        #expect(try await opener.info(for: url("a.mp3"))?.storedBytes == 1_000_000)

        disk.refuseClaims(.max)
        try await store.write(pattern(1_000_000..<1_500_000), at: 1_000_000)
        await #expect(throws: MediaError.self) { try await store.commit() }
        // But for the blocks of which others claim a part.
        #expect(folder.allocated <= 1_000_000 + 2 * 4_096)
        #expect(try await store.all(of: 0..<1_500_000) == pattern(0..<1_500_000))
        await store.close()
    }

    @Test func `a disk that stays full is asked with little each time`() async throws {
        disk.setSize(40_000)
        let store = try await opener.open(url("a.mp3"))
        try await store.write(pattern(0..<1_000_000), at: 0)
        await #expect(throws: MediaError.self) { try await store.commit() }
        let first = disk.refusals
        await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(disk.refusals == first + 1)
        #expect(folder.allocated == 0)
        await store.close()
    }

    @Test func `a commit in parts ends with what was there when it began`() async throws {
        disk.setSize(.max)
        disk.refuseClaims(1)
        let store = try #require(try await opener.open(url("a.mp3")) as? PersistentStore)
        try await store.write(pattern(0..<800_000), at: 0)
        // With each part as much comes as it took.
        let next = Locked<Int64>(800_000)
        disk.whenClaiming { [disk] in
            guard disk.claims < 50 else { return }
            let start = next.withLock { next in
                defer { next += 400_000 }
                return next
            }
            store.guarded.withLock { $0.state.bytesWritten(pattern(start..<start + 400_000)[...], at: start) }
        }
        try await store.commit()
        #expect(disk.claims == 2)
        #expect(disk.refusals == 1)
        await store.close()
    }

    @Test func `what another reader may still look at is not given back`() async throws {
        let bytes = pattern(0..<200_000)
        disk.setSize(.max)
        let reading = try await opener.open(url("a.mp3"))
        try await reading.write(bytes, at: 0)
        try await reading.commit()
        #expect(try await reading.all(of: 0..<200_000) == bytes)

        let other = CacheFolder(path: folder.cache, minimumFree: 0, clock: TestClock(), files: disk)
        let store = try #require(try await other.open(url("a.mp3")) as? PersistentStore)
        // As after an error of the disk when it read: nobody claims the bytes any more, and they are fetched again.
        let (entry, engine) = (store.guarded.withLock { $0.place.entry }, other.engine)
        let claimed = Extent.pieces(of: 0..<200_000)
        let extents = try await engine.look.run {
            try engine.questions.ask { try $0.extents.all(of: entry, overlapping: 0..<200_000) }
        }
        #expect(extents.map(\.range) == claimed)
        _ = await engine.committer.run { engine.entries.drop(extents, of: entry) }
        let again = try await CacheFolder(
            path: folder.cache,
            minimumFree: 0,
            clock: TestClock(),
            files: disk
        ).open(url("a.mp3"))
        #expect(again.stored.isEmpty)
        disk.setSize(0)
        try await again.write(pattern(0..<300_000), at: 0)
        await #expect(throws: MediaError.self) { try await again.commit() }
        #expect(disk.refusals > 0)
        #expect(try await reading.all(of: 0..<200_000) == bytes)
        for store in [reading, store, again] { await store.close() }
    }
}
