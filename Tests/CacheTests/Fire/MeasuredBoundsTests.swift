import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Cache

/// The objects never take more of the disk than the budget, not even for the time of one write.
@Suite(.serialized) struct MeasuredBoundsTests {
    @Test(arguments: 0..<5 as Range<UInt64>)
    func `however many tracks are played the objects stay within the budget`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let scene = CacheScene()
        let budget: Int64 = 50_000_000
        let disk = TestDisk(scene)
        let folder = scene.opener(budget: budget, files: disk)
        let count = TestCount.isFull ? 250 : 50
        let music = ByteFixtures.bytes(count: 4_000_000, seed: seed)
        var before: (any ByteStore)?
        for index in 0..<count {
            let store = try await folder.open(url("\(seed)-\(index)"))
            let length = Int.random(in: 200_000...4_000_000, using: &random)
            // Of some tracks the server does not say how long they are.
            if index % 2 == 0 { store.describe(length: Int64(length)) }
            var start = 0
            while start < length {
                let end = min(length, start + Int.random(in: 1...300_000, using: &random))
                // Some listeners skip forward.
                if Int.random(in: 0..<10, using: &random) > 0 {
                    try await store.write(Array(music[start..<end]), at: Int64(start))
                }
                start = end
            }
            try await store.commit()
            #expect(store.isPersistent)
            // The track before is still open while this one is fetched.
            await before?.close()
            before = store
        }
        await before?.close()
        TestCount.note("most above the budget", disk.most - budget)
        #expect(disk.most <= budget)
        #expect(disk.most > budget * 8 / 10, "the budget was never put to the test")
        // The tracks evicted are those played longest ago.
        let names = try await folder.list().map { $0.url.string }
        #expect(!names.isEmpty)
        #expect(
            names == (0..<count).reversed().prefix(names.count).map { "http://radio.example/\(seed)-\($0)" }
        )
    }
}
