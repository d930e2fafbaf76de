import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The real file layer with a gate before each flush, and a note of where was written.
final class GatedFiles: FileLayer, @unchecked Sendable {
    // Unchecked: guarded by the condition's own mutex.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isShut = false
    private var holdsWrites = false
    private var waiting = 0
    private var writtenRanges: [ByteRange] = []
    private let system = SystemFiles()
    /// Called before each flush.
    let onFlush: @Sendable () -> Void

    init(onFlush: @escaping @Sendable () -> Void = {}) {
        self.onFlush = onFlush
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(wake, nil)
    }

    deinit {
        pthread_cond_destroy(wake)
        pthread_mutex_destroy(mutex)
        wake.deallocate()
        mutex.deallocate()
    }

    /// From now on flushes wait.
    func shut() { locked { isShut = true } }

    /// From now on writes wait.
    func shutWrites() { locked { (isShut, holdsWrites) = (true, true) } }

    func open() {
        locked { isShut = false }
        pthread_cond_broadcast(wake)
    }

    var isHolding: Bool { locked { waiting > 0 } }
    var written: [ByteRange] { locked { writtenRanges } }

    func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt, at offset: Int64) throws {
        locked { writtenRanges.append(offset..<offset + Int64(bytes.count)) }
        if locked({ holdsWrites }) { pass() }
        try system.write(bytes, to: descriptor, at: offset)
    }

    func flush(_ descriptor: CInt) throws {
        onFlush()
        pass()
        try system.flush(descriptor)
    }

    private func pass() {
        locked {
            waiting += 1
            while isShut { pthread_cond_wait(wake, mutex) }
            waiting -= 1
        }
    }

    func record(_ transaction: () throws -> Void) throws { try system.record(transaction) }

    private func locked<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

/// Several openers of one folder, as several processes have them.
@Suite struct SharingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeOpener(_ files: any FileLayer = SystemFiles()) -> CacheFolder {
        folder.opener(files: files)
    }

    @Test func `a look before a fetch finds what another process has stored meanwhile`() async throws {
        let one = try await makeOpener().open(url("a"))
        let two = try await makeOpener().open(url("a"))
        try await two.write(pattern(0..<100_000), at: 0)
        #expect(await one.refresh(0..<100_000).isEmpty)
        try await two.commit()
        #expect(one.stored.isEmpty)
        #expect(await one.refresh(0..<100_000) == ByteRangeSet(0..<100_000))
        #expect(try await one.all(of: 0..<100_000) == pattern(0..<100_000))
        await one.close()
        await two.close()
    }

    @Test func `the index is looked at again only after somebody has written to it`() async throws {
        let opener = makeOpener()
        let store = try await opener.open(url("a"))
        // The clean-up after the opening may write to the index.
        for _ in 0..<10 { await opener.engine.committer.run {} }
        _ = await store.refresh(0..<1_000)
        let isHeld = Locked(true)
        opener.engine.look.submit { while isHeld.withLock({ $0 }) { usleep(1_000) } }
        let answers = Locked(0)
        let asking = Task {
            _ = await store.refresh(0..<1_000)
            answers.withLock { $0 += 1 }
        }
        try await wait(for: "an answer without a look") { answers.withLock { $0 == 1 } }
        await asking.value
        let other = try await makeOpener().open(url("a"))
        try await other.write(pattern(0..<1_000), at: 0)
        try await other.commit()
        let looking = Task { await store.refresh(0..<1_000) }
        isHeld.withLock { $0 = false }
        #expect(await looking.value == ByteRangeSet(0..<1_000))
        await store.close()
        await other.close()
    }

    @Test func `what is committed is never written over by an opener that did not know it`() async throws {
        let files = GatedFiles()
        let late = try await makeOpener(files).open(url("a"))
        let early = try await makeOpener().open(url("a"))
        try await early.write(pattern(50_000..<150_000), at: 50_000)
        try await early.commit()
        try await late.write([UInt8](repeating: 1, count: 200_000), at: 0)
        try await late.commit()
        #expect(files.written.allSatisfy { !$0.overlaps(50_000..<150_000) })
        #expect(try await early.all(of: 50_000..<150_000) == pattern(50_000..<150_000))
        #expect(try await late.all(of: 50_000..<150_000) == pattern(50_000..<150_000))
        #expect(late.stored == ByteRangeSet(0..<200_000))
        await early.close()
        await late.close()
    }

    @Test func `of two versions of a resource in one entry only the first is kept`() async throws {
        let one = try await makeOpener().open(url("a"))
        let two = try await makeOpener().open(url("a"))
        var description = EntryDescription()
        description.length = 100_000
        description.validators.etag = "\"one\""
        one.describe(description)
        description.validators.etag = "\"two\""
        two.describe(description)
        try await one.write(pattern(0..<50_000), at: 0)
        try await two.write(pattern(40_000..<100_000, salt: 1), at: 40_000)
        try await one.commit()
        try await two.commit()
        #expect(one.isPersistent)
        #expect(!two.isPersistent)
        // Each continues to play its own bytes.
        #expect(try await two.all(of: 40_000..<100_000) == pattern(40_000..<100_000, salt: 1))
        try await two.write(pattern(0..<40_000, salt: 1), at: 0)
        #expect(try await two.all(of: 0..<100_000) == pattern(0..<100_000, salt: 1))
        await two.close()
        await one.close()
        let next = try await makeOpener().open(url("a"))
        #expect(next.stored == ByteRangeSet(0..<50_000))
        #expect(try await next.all(of: 0..<50_000) == pattern(0..<50_000))
        #expect(next.description.validators.etag == "\"one\"")
        await next.close()
    }

    @Test func `a store adopts the bytes of its own version only`() async throws {
        func version(_ tag: String) -> EntryDescription {
            var description = EntryDescription()
            description.length = 100_000
            description.validators.etag = tag
            return description
        }
        let one = try await makeOpener().open(url("a"))
        let same = try await makeOpener().open(url("a"))
        let other = try await makeOpener().open(url("a"))
        other.describe(version("\"two\""))
        try await other.write(pattern(0..<50_000, salt: 1), at: 0)
        try await other.commit()
        // Nobody knows yet which version the server sends to the first two.
        for store in [one, same] { #expect(await store.refresh(0..<50_000).isEmpty) }
        same.describe(version("\"two\""))
        #expect(await same.refresh(0..<50_000) == ByteRangeSet(0..<50_000))
        one.describe(version("\"one\""))
        #expect(await one.refresh(0..<50_000).isEmpty)
        #expect(!one.isPersistent)
        try await one.write(pattern(0..<100_000), at: 0)
        #expect(try await one.all(of: 0..<100_000) == pattern(0..<100_000))
        #expect(try await other.all(of: 0..<50_000) == pattern(0..<50_000, salt: 1))
        for store in [one, same, other] { await store.close() }
    }

    @Test func `while one process waits for its disk, others open, read, ask and keep`() async throws {
        let files = GatedFiles()
        let slow = try await makeOpener(files).open(url("a"))
        try await slow.write(pattern(0..<1_000), at: 0)
        try await slow.commit()
        files.shut()
        try await slow.write(pattern(1_000..<2_000), at: 1_000)
        let commit = Task { try await slow.commit() }
        try await wait(for: "the flush") { files.isHolding }
        let other = makeOpener()
        let store = try await other.open(url("b"))
        try await store.write(pattern(0..<5_000), at: 0)
        try await store.commit()
        await store.close()
        let same = try await other.open(url("a"))
        #expect(try await same.all(of: 0..<1_000) == pattern(0..<1_000))
        #expect(try await other.list().count == 2)
        // And in the process itself questions and reads do not wait either.
        #expect(await slow.refresh(1_000..<3_000) == ByteRangeSet(0..<2_000))
        #expect(try await slow.all(of: 0..<2_000) == pattern(0..<2_000))
        files.open()
        try await commit.value
        #expect(await same.refresh(0..<2_000) == ByteRangeSet(0..<2_000))
        await same.close()
        await slow.close()
    }

    @Test func `questions are answered while another process holds the folder`() async throws {
        let earlier = makeOpener()
        let store = try await earlier.open(url("a"))
        try await store.write(pattern(0..<1_000), at: 0)
        await store.close()
        // Its own clean-up, a few jobs in a row, is over by then.
        for _ in 0..<10 { await earlier.engine.committer.run {} }
        // Made anew by whoever makes the folder ready, which comes before asking for its lock.
        try FileManager.default.removeItem(atPath: folder.file("objects"))
        let holder = open(folder.file("lock"), O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0 && ByteLock.take(FolderLock.gate, of: holder))
        let opener = makeOpener()
        try await opener.checkSecret(isAsking: true)
        #expect(try await opener.list().map(\.storedBytes) == [1_000])
        #expect(try await opener.info(for: url("a"))?.storedBytes == 1_000)
        #expect(try await opener.availability(of: [url("a")]).map { $0?.storedBytes } == [1_000])
        #expect(try await opener.victims(toBudget: 0).entriesRemoved == 1)
        #expect(try await opener.totalBytes > 0)
        let other = folder.opener(secret: .generate())
        let error = await #expect(throws: MediaError.self) { try await other.checkSecret(isAsking: true) }
        #expect(error?.code == .cacheSecret)
        #expect(access(folder.file("objects"), F_OK) != 0)
    }

    @Test func `room that one process has counted for itself, no other counts away`() async throws {
        let files = GatedFiles()
        let slow = try await makeOpener(files).open(url("a"))
        try await slow.write(pattern(0..<1_000), at: 0)
        try await slow.commit()
        files.shutWrites()
        try await slow.write(pattern(100_000..<600_000), at: 100_000)
        let commit = Task { try await slow.commit() }
        try await wait(for: "the write") { files.isHolding }
        // Its first opening sweeps, and a verification counts too, while nothing is written yet.
        let other = makeOpener()
        try await other.open(url("b")).close()
        #expect(try await other.verify().isSound)
        #expect(try await other.totalBytes >= 500_000)
        files.open()
        try await commit.value
        await slow.close()
        #expect(try await makeOpener().verify().isSound)
        #expect(try await other.totalBytes == folder.allocated)
    }

    @Test func `a disk slower than the line bounds what is at stake`() async throws {
        let seen = Locked<(store: PersistentStore?, most: Int64)>((nil, 0))
        let files = GatedFiles(onFlush: {
            seen.withLock { seen in
                let count = seen.store?.guarded.withLock { $0.state.bufferedByteCount } ?? 0
                seen.most = max(seen.most, count)
            }
        })
        let store = try #require(try await makeOpener(files).open(url("a")) as? PersistentStore)
        seen.withLock { $0.store = store }
        for step in 0..<160 as Range<Int64> {
            try await store.write([UInt8](repeating: 7, count: 65_536), at: step * 65_536)
            #expect(store.guarded.withLock { $0.state.bufferedByteCount } <= PersistentStore.mostBuffered)
        }
        await store.close()
        #expect(seen.withLock { $0.most } <= PersistentStore.mostBuffered)
        #expect(seen.withLock { $0.most } >= PersistentStore.commitSize)
        seen.withLock { $0.store = nil }
    }

    @Test func `a commit waits for its turn in an entry, and gives up when it never comes`() async throws {
        let store = try await makeOpener().open(url("a"))
        try await store.write(pattern(0..<1_000), at: 0)
        let path = try folder.firstObject
        let holder = ObjectFile(descriptor: open(path, O_RDWR | O_CLOEXEC), files: SystemFiles())
        let isHeld = Locked(true)
        let holding = Locked(false)
        let done = Locked(false)
        let thread = WorkThread(name: "holder")
        thread.submit {
            try? holder.withCommitLock {
                holding.withLock { $0 = true }
                while isHeld.withLock({ $0 }) { usleep(1_000) }
            }
            done.withLock { $0 = true }
        }
        try await wait(for: "the lock") { holding.withLock { $0 } }
        let error = await #expect(throws: MediaError.self) { try await store.commit() }
        #expect(
            error?.cause.string
                == "another process has locked it for too long; try again, or end that process"
        )
        isHeld.withLock { $0 = false }
        try await wait(for: "its end") { done.withLock { $0 } }
        thread.stop()
        try await store.commit()
        await store.close()
    }
}
