import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Points are counted in the calls that change files: writes, flushes, cuts, removals.
///
/// Whichever system call of a session is its last, the claims of the index are true, and the next session
/// plays normally.
@Suite(.serialized) struct KilledSessionTests {
    @Test(arguments: TestCount.seeds(60, full: 1_000))
    func `a session killed in the middle of a call leaves only true claims`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let scenes = FireScene.allCases
        let scene = scenes[Int(seed) % scenes.count]
        let count = try await scene.callCount()
        try #require(count > 12)
        let first = scene == .close ? count - 12 : 0
        let place = Int.random(in: first..<count, using: &random)
        let subject = Comment(rawValue: "seed \(seed): \(scene), killed at call \(place) of \(count)")

        let stage = try await scene.stage()
        let faults = try CallFaults(below: stage.cachePath, in: stage.folder, fault: (.kill, place))
        let status = try await scene.start(on: stage, faults).waitForExit()
        // The rhythm of commits is that of the clock: now and then a session has fewer calls than the first.
        #expect(status == -SIGKILL || faults.count <= place, subject)
        // What flipped was claimed before.
        if scene != .verification { #expect(try await stage.falseClaims() == [], subject) }

        let kept = try stage.claims()
        TestCount.note("claimed bytes after a kill", kept.ranges.byteCount)
        try await stage.server.resetAfterKill()
        let sound = try await stage.samples(2)
        let reference = try await FireScene.music[0].reference + FireScene.music[1].reference
        expectSame(sound, as: reference, subject)
        #expect(try await stage.falseClaims() == [], subject)
        // The claimed bytes were not discarded together with the lost ones.
        let length = Int64(try await FireScene.music[0].bytes.count)
        let path = Stage.path(0)
        let sent = stage.server.log.bytesSent(for: path)
        let flipped: Int64 = scene == .verification ? 3 * 65_536 : 0
        #expect(
            (length - kept.ranges.byteCount...length - kept.ranges.byteCount + flipped).contains(sent),
            subject
        )
    }

    @Test(arguments: TestCount.seeds(5, full: 100))
    func `a sealed session killed in the middle of a call leaves only true claims`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: 10_000 + seed)
        let stage = try await FireScene.download.stage()
        let music = try await FireScene.music[0].bytes
        let secret = stage.folder.path("secret")
        let seal = ["--cache-secret", secret]
        #expect(try await stage.run(["cache", "keygen", secret]).status == 0)
        // A sealed session has about as many calls as an open one.
        let count = try await FireScene.download.callCount()
        let place = Int.random(in: 0..<count, using: &random)
        let subject = Comment(rawValue: "seed \(seed): killed at call \(place) of \(count)")
        let faults = try CallFaults(below: stage.cachePath, in: stage.folder, fault: (.kill, place))
        let killed = try stage.session(
            [stage.url()],
            sink: "null:fast",
            options: seal,
            environment: faults.environment
        )
        let status = try await killed.process.waitForExit()
        #expect(status == -SIGKILL || faults.count <= place, subject)

        // The test cannot read a sealed cache, so the player itself reports its claims.
        let report = try #require(try await stage.cache(["verify", "--json"] + seal).objects.last)
        #expect(report["damagedBytes"] as? Int == 0, subject)
        #expect(report["indexLost"] as? Bool == false, subject)
        let kept =
            try await stage.cache(["info", "--json", stage.url()] + seal).objects.first?["stored"] as? Int
            ?? 0
        TestCount.note("sealed bytes claimed after a kill", Int64(kept))
        try await stage.server.resetAfterKill()
        try await expectSame(stage.samples(options: seal), as: FireScene.music[0].reference, subject)
        #expect(stage.server.log.bytesSent == Int64(music.count - kept), subject)
        let exported = try await stage.cache(["export", stage.url(), "-"] + seal)
        #expect(exported.status == 0 && exported.bytes == music, subject)
    }
}
