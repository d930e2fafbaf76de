import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// Whenever a process is killed or the power fails, the claims of the index are true, and all committed bytes
/// are there. All operations of a session on its disk, index included, are recorded, and replayed up to a
/// random one.
@Suite(.serialized) struct CutTests {
    /// How many places of one session are looked at.
    private static let cutsOfEach = 10

    @Test(arguments: TestCount.seeds(20, full: 100))
    func `after a power cut no claimed byte is wrong and no promise is broken`(seed: UInt64) async throws {
        try await expectTruth(seed: seed) { .unflushed(seed: $0) }
    }

    @Test(arguments: TestCount.seeds(6, full: 100))
    func `after a kill no claimed byte is wrong and no promise is broken`(seed: UInt64) async throws {
        try await expectTruth(seed: 1_000 + seed) { _ in .nothing }
    }

    @Test(arguments: TestCount.seeds(4, full: 50))
    func `after a power cut a sealed cache claims no wrong byte and breaks no promise`(
        seed: UInt64
    ) async throws {
        try await expectTruth(seed: 2_000 + seed, secret: .generate()) { .unflushed(seed: $0) }
    }

    @Test(arguments: TestCount.seeds(2, full: 50))
    func `after a kill a sealed cache claims no wrong byte and breaks no promise`(seed: UInt64) async throws {
        try await expectTruth(seed: 3_000 + seed, secret: .generate()) { _ in .nothing }
    }

    private func expectTruth(
        seed: UInt64,
        secret: CacheSecret? = nil,
        losing loss: (UInt64) -> DiskImage.Loss
    ) async throws {
        let scene = CacheScene()
        var workload = FireWorkload(seed: seed, in: scene, secret: secret)
        await workload.run(steps: 60)
        workload.disk.stop()
        #expect(workload.wrongReads == [])
        #expect(workload.failures == 0)
        var random = SeededGenerator(seed: seed)
        let log = workload.disk.log
        for _ in 0..<Self.cutsOfEach {
            let count = Int.random(in: 0...log.count, using: &random)
            let subject = Comment(rawValue: "seed \(seed), after \(count) of \(log.count) operations")
            let path = scene.path + "/image-\(count)"
            try DiskImage(log, upTo: count, losing: loss(random.next())).lay(into: path)
            try await expectTruth(of: path, after: log.prefix(count), music: workload.music, secret, subject)
        }
    }

    private func expectTruth(
        of path: String,
        after log: ArraySlice<DiskOperation>,
        music: FireMusic,
        _ secret: CacheSecret?,
        _ subject: Comment
    ) async throws {
        let audit = try FolderAudit(path: path, music: music, secret: secret)
        #expect(audit.lies == [], subject)
        TestCount.note("claimed bytes after a cut", audit.claims.values.reduce(0) { $0 + $1.byteCount })
        for (etag, bytes) in log.promises {
            #expect(audit.claims[etag]?.isSuperset(of: bytes) ?? bytes.isEmpty, "\(subject): \(etag)")
        }
        try await completeAll(in: path, audit, music, secret, subject)
        try await waitUntilClosed(path + "/index.sqlite")
        #expect(try FolderAudit(path: path, music: music, secret: secret).lies == [], subject)
        try FileManager.default.removeItem(atPath: path)
    }

    /// The next session finds no damage, and completes the entries.
    private func completeAll(
        in path: String,
        _ audit: FolderAudit,
        _ music: FireMusic,
        _ secret: CacheSecret?,
        _ subject: Comment
    ) async throws {
        let notices = Notices()
        let folder = CacheFolder(path: path, secret: secret, clock: TestClock(), onNotice: notices.note)
        for name in music.names {
            let store = try await folder.open(url(name))
            let etag = store.description.validators.etag ?? ""
            if let bytes = music.bytes(etag: etag) {
                #expect(store.stored == audit.claims[etag] ?? ByteRangeSet(), subject)
                try await store.write(bytes, at: 0)
                let whole = try await store.all(of: 0..<Int64(bytes.count))
                #expect(whole.matches(bytes, at: 0) && whole.count == bytes.count, "\(subject): \(etag)")
            } else {
                #expect(store.stored.isEmpty, subject)
            }
            await store.close()
        }
        #expect(notices.texts == [], subject)
    }
}
