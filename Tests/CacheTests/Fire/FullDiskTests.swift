import Foundation
import Media
import TestSupport
import Testing

@testable import Cache

/// The disk is full at every possible write, of objects and of the index alike.
@Suite(.serialized) struct FullDiskTests {
    /// How long the disk stays full.
    enum Shape: CaseIterable, Sendable {
        /// For one write or flush.
        case once
        /// For a dozen, so that further attempts fail too.
        case forLong
        /// For ever.
        case forGood

        var count: Int {
            switch self {
            case .once: 1
            case .forLong: 12
            case .forGood: .max / 2
            }
        }
    }

    @Test(arguments: Shape.allCases, TestCount.seeds(1, full: 12))
    func `a disk that is full at any write loses no committed byte and claims no wrong one`(
        shape: Shape,
        seed: UInt64
    ) async throws {
        let count = try await run(seed: seed, full: nil).fallibleCount
        #expect(count > 80)
        // Every write in full; in the subset those of one residue class, which differs from shape to shape.
        let step = TestCount.isFull ? 1 : 4
        let first = TestCount.isFull ? 0 : shape.count % step
        for place in stride(from: first, to: count, by: step) {
            let disk = try await run(seed: seed, full: .init(first: place, count: shape.count))
            #expect(disk.failureCount > 0, "seed \(seed), full at \(place)")
        }
    }

    /// Runs a session in which the writes in `full` fail, and checks the folder it leaves.
    private func run(seed: UInt64, full: RecordedDisk.Fullness?) async throws -> RecordedDisk {
        let subject = Comment(rawValue: "seed \(seed), full at \(full?.first ?? -1)")
        let scene = CacheScene()
        var workload = FireWorkload(seed: seed, in: scene)
        workload.disk.fail(full)
        await workload.run(steps: 25)
        let disk = workload.disk
        disk.fail(nil)
        disk.stop()
        #expect(workload.wrongReads == [], subject)
        if full == nil { #expect(workload.failures == 0, subject) }
        let audit = try FolderAudit(path: scene.cache, music: workload.music)
        #expect(audit.lies == [], subject)
        for (etag, bytes) in disk.log[...].promises {
            #expect(audit.claims[etag]?.isSuperset(of: bytes) ?? bytes.isEmpty, "\(subject): \(etag)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scene.cache)
        #expect(!names.contains { $0.contains("damaged") }, subject)
        // With room again, it caches as before.
        let store = try await scene.opener().opened("new.mp3", 0..<70_000)
        #expect(store.isPersistent, subject)
        await store.close()
        return disk
    }
}
