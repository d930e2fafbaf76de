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

        stage.server.log.reset()
        try await expectSame(stage.samples(), as: music.reference)
        // The claimed bytes were not discarded together with the lost ones.
        #expect(stage.server.log.bytesSent == Int64(bytes.count) - claims.ranges.byteCount)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<Int64(bytes.count)))
        #expect(try stage.claims().firstFalseByte(comparedWith: bytes) == nil)
    }

    private func playAndKill(at point: KillPoint, on stage: Stage) async throws {
        let path = Stage.path(0)
        let origin = stage.server.origin
        let options = point.start > 0 ? ["--seek", "\(point.start)"] : []
        switch point.moment {
        case .sent(let count):
            let gate = origin.hold(path, .afterBytesTogether(count))
            let run = try stage.session([stage.url()], sink: "null:fast", options: options)
            try await gate.reached()
            try await run.kill()
            gate.release()
        case .sentAfterCommit(let count):
            let first = origin.hold(path, .afterBytesTogether(min(count, KillPoint.afterFirstCommit)))
            let gate = origin.hold(path, .afterBytesTogether(count))
            let run = try stage.session([stage.url()], sink: "null:fast", options: options)
            try await first.reached()
            try await wait(for: "the first commit") { try !stage.claims().ranges.isEmpty }
            first.release()
            try await gate.reached()
            try await run.kill()
            gate.release()
        case .claimed(let count):
            let gate = origin.hold(path, .afterBytesTogether(count))
            let run = try stage.session([stage.url()], sink: "null:fast", options: options)
            try await gate.reached()
            try await wait(for: "a commit of all that was sent") {
                try stage.claims().ranges == stage.server.log.sentRanges(for: path)
            }
            try await run.kill()
            gate.release()
        case .ended:
            let run = try stage.session([stage.url()], sink: "null:fast", options: options)
            try await run.event("ended")
            try await run.kill()
        }
    }
}
