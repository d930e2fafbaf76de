import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A session with a damaged cache plays correctly, and reports the lost bytes.
@Suite(.serialized) struct DamagedCacheTests {
    @Test(arguments: TestCount.seeds(60, full: 1_000))
    func `flipped bits are fetched again, or are a clear error without a network`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = try await FireScene.download.stage()
        try await stage.session([stage.url()], sink: "null:fast").finish()
        let length = Int64(try await FireScene.music[0].bytes.count)
        let path = try #require(stage.objectFiles.first)
        // Of 64 KiB, or less if a slow download was committed in between.
        let extents = try stage.claims().extents
        var damaged = Set<ByteRange>()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let offset = Int64.random(in: 0..<length, using: &random)
            let extent = try #require(extents.first { $0.contains(offset) })
            guard damaged.insert(extent).inserted else { continue }
            try flipBit(at: offset, in: path)
        }
        let reference = try await FireScene.music[0].reference
        if seed % 2 == 1 {
            let offline = try stage.session([stage.url()], options: ["--offline"])
            let status = try await offline.process.waitForExit()
            let end = try #require(try offline.ends.first)
            #expect(end.reason == "failed")
            #expect(end.error?.code == "offline", "\(String(describing: end.error))")
            let sound = offline.takeSound()
            #expect(status == (sound.isEmpty ? 2 : 3), "part of it was played")
            expectSame(sound, as: reference.prefix(sound.count), "seed \(seed)")
        }
        stage.server.log.reset()
        let run = try stage.session([stage.url()])
        let sound = try await run.finish()
        expectSame(sound, as: reference, "seed \(seed)")
        let notices = try run.notices
        if seed % 2 == 0 {
            #expect(notices.filter { $0.code == "damaged-extent" }.count == damaged.count, "\(notices)")
        }
        // Exactly the missing bytes, in whole extents.
        #expect(stage.server.log.bytesSent == damaged.reduce(0) { $0 + Int64($1.count) })
        #expect(try await stage.falseClaims() == [])
        #expect(try stage.claims().ranges == ByteRangeSet(0..<length))
    }

    enum Damage: CaseIterable {
        case cut
        case flipped
        case deleted
        case logDeleted
    }

    @Test(arguments: Damage.allCases, TestCount.seeds(2, full: 12))
    func `a damaged index costs cached bytes, and no music`(damage: Damage, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let stage = try await FireScene.download.stage()
        try await stage.session([stage.url()], sink: "null:fast").finish()
        let index = stage.cachePath + "/index.sqlite"
        let length = try #require(FileManager.default.contents(atPath: index)?.count)
        switch damage {
        case .cut: #expect(truncate(index, off_t.random(in: 1..<off_t(length), using: &random)) == 0)
        case .flipped:
            for _ in 0..<30 {
                try flipBit(at: Int64.random(in: 0..<Int64(length), using: &random), in: index)
            }
        case .deleted: try FileManager.default.removeItem(atPath: index)
        case .logDeleted:
            // A killed session leaves a log.
            let faults = try CallFaults(below: stage.cachePath, in: stage.folder, fault: (.kill, 40))
            let run = try stage.session([stage.url(1)], sink: "null:fast", environment: faults.environment)
            try await run.process.waitForExit()
            try? FileManager.default.removeItem(atPath: index + "-wal")
        }
        let reference = try await FireScene.music[0].reference
        for session in 0..<2 {
            let run = try stage.session([stage.url()])
            let sound = try await run.finish()
            expectSame(sound, as: reference, "seed \(seed), session \(session)")
            let notices = try run.notices
            #expect(notices.filter { $0.code == "damaged-index" }.count <= 1, "\(notices)")
        }
        #expect(try await stage.falseClaims() == [])
        let size = Int64(try await FireScene.music[0].bytes.count)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<size))
    }
}
