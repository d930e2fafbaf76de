import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Whenever a session is killed, the claims of the index are true, and the next session plays normally.
@Suite(.serialized) struct KillTests {
    /// Of twelve points in a row ten lie between the first and the last commit by how they are made.
    static let points =
        (0..<108 as Range<UInt64>).map { KillPoint(seed: $0) }
        + (0..<4 as Range<UInt64>).map { KillPoint(atEnd: $0) }

    @Test(arguments: points)
    func `a killed session leaves only truth behind`(point: KillPoint) async throws {
        let music = ExactMusic.steady
        let bytes = try await music.bytes
        let stage = try await Stage(bytes)
        try await playAndKill(at: point, on: stage)

        let claims = try stage.claims()
        switch point.moment {
        case .sentAfterCommit, .claimed:
            // Between the first commit and the last, which needs bytes that were never sent.
            #expect(!claims.ranges.isEmpty)
            #expect(claims.ranges.byteCount < Int64(bytes.count))
        case .sent, .ended: break
        }
        #expect(stage.server.log.sentRanges(for: Stage.path(0)).isSuperset(of: claims.ranges))
        #expect(try claims.firstFalseByte(comparedWith: bytes) == nil)

        try await stage.server.resetAfterKill()
        try await expectSame(stage.samples(), as: music.reference)
        // The claimed bytes were not discarded together with the lost ones.
        #expect(stage.server.log.bytesSent == Int64(bytes.count) - claims.ranges.byteCount)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<Int64(bytes.count)))
        #expect(try stage.claims().firstFalseByte(comparedWith: bytes) == nil)
    }

    /// Without validators, only a comparison shows that the bytes of a jump are of the file whose start is
    /// cached.
    @Test func `bytes of a jump that were not compared do not outlive a kill`() async throws {
        // A window of 64 KiB lasts for eight seconds.
        let music = [1, 2].map { ExactMusic.made(.init(seconds: 100, rate: .constant(64), seed: $0)) }
        let (bytes, others) = try await (music[0].bytes, music[1].bytes)
        #expect(bytes.count == others.count)
        let stage = try await Stage(bytes, faults: [.noValidators])
        let path = Stage.path(0)
        let run = try stage.session([stage.url()], sink: "null", options: ["--read-ahead", "64kB"])
        try await run.event("playing")
        try await wait(for: "a commit") { try stage.claims().ranges.contains(0) }
        // Read-ahead asks about once a second. Its next request waits here, so that none comes before that of
        // the jump.
        let gate = stage.server.origin.hold(path, .beforeHead)
        try await gate.reached()
        let count = stage.server.log.requests.count
        // For a while there is another file. It answers the jump, and no question after that.
        stage.server.set(others, at: path)
        stage.server.origin.script([[.noValidators]], thenAlways: [.noValidators, .silence], for: path)
        try run.command("seek 60")
        try await wait(for: "the request of the jump") { stage.server.log.requests.count > count }
        gate.release()
        try await wait(for: "three seconds of the jump") {
            try run.events.contains { $0.position ?? 0 >= 63 }
        }
        try await run.kill()

        let sent = stage.server.log.sentRanges(for: path)
        #expect(sent.contains(60 * 8_000 + 10_000), "the jump was answered")
        #expect(try stage.claims().firstFalseByte(comparedWith: bytes) == nil)
        stage.server.set(bytes, at: path)
        stage.server.origin.setFaults([.noValidators], for: path)
        try await expectSame(stage.samples(), as: music[0].reference)
    }

    private func playAndKill(at point: KillPoint, on stage: Stage) async throws {
        let path = Stage.path(0)
        let origin = stage.server.origin
        let options = point.start > 0 ? ["--seek", "\(point.start)"] : []
        let (count, needsCommit): (Int64?, Bool) =
            switch point.moment {
            case .sent(let count), .claimed(let count): (count, false)
            case .sentAfterCommit(let count): (count, true)
            case .ended: (nil, false)
            }
        let first = count.flatMap { count in
            needsCommit
                ? origin.hold(path, .afterBytesTogether(min(count, KillPoint.afterFirstCommit))) : nil
        }
        let gate = count.map { origin.hold(path, .afterBytesTogether($0)) }
        let run = try stage.session([stage.url()], sink: "null:fast", options: options)
        if let first {
            try await first.reached()
            try await wait(for: "the first commit") { try !stage.claims().ranges.isEmpty }
            first.release()
        }
        if let gate {
            try await gate.reached()
        } else {
            try await run.event("ended")
        }
        if case .claimed = point.moment {
            try await wait(for: "a commit of all that was sent") {
                try stage.claims().ranges == stage.server.log.sentRanges(for: path)
            }
        }
        try await run.kill()
        gate?.release()
    }
}
