import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// After a seek, a track change or `quit` the old transfers stop, and their bytes stay cached.
///
/// In each test, the origin holds a response in the middle of its body until the test releases it: everything
/// in between happens before that transfer can end.
@Suite(.serialized) struct CancelTests {
    /// Bytes and samples of a second of `ExactMusic.steady`.
    private static let bytesPerSecond: Int64 = 40_000
    private static let sampleBytesPerSecond = 44_100 * 4

    /// Less than the ten seconds after which the player gives up on a server that sends nothing, which would
    /// look as if it had left.
    private static let timeout = Duration.seconds(8)

    private let path = Stage.path(0)

    /// What may be left of a transfer for it to be let run to its end, so that its connection lives.
    private static let readThrough: Int64 = 64 << 10

    @Test(arguments: [false, true], [85_536, 600_000])
    func `a seek leaves the old position and goes on at the new one`(
        hasValidators: Bool,
        held: Int64
    ) async throws {
        let music = ExactMusic.steady
        let (stage, gate, run) = try await play(upTo: held, faults: hasValidators ? [] : [.noValidators])
        let log = stage.server.log
        let isOpen = { (request: LoggedRequest) in request.outcome == .underWay }
        let isLong = { (request: LoggedRequest) in
            isOpen(request) && request.asked.upperBound - request.sent.upperBound > Self.readThrough
        }
        if held < 100_000 {
            try await wait(for: "read-ahead of 128 KiB or more") { log.requests.contains(where: isLong) }
        }
        let before = log.requests
        let long = before.filter(isLong)

        try run.command("seek 1:00")
        // The gate is closed, so both happen while the old transfers could not have ended by themselves.
        try await wait(for: "the request for the new position") { log.requests.count > before.count }
        try await wait(for: "the old transfers to be left", deadline: Self.timeout) {
            long.allSatisfy { old in
                log.requests.contains { $0.number == old.number && $0.outcome == .aborted }
            }
        }
        #expect(log.requests.prefix(before.count).filter(isOpen).count <= 1)
        gate.release()

        let sound = try await run.finish()
        try await stage.server.settle()
        let reference = try await music.reference
        let rest = reference.suffix(from: 60 * Self.sampleBytesPerSecond)
        let beginning = try expectJump(in: sound, from: reference, to: rest)
        let later = log.requests.dropFirst(before.count)
        // One may have left while the seek was on its way, and is left like the others: a short one may end
        // by itself.
        let back = later.filter { $0.asked.lowerBound <= 59 * Self.bytesPerSecond }
        #expect(back.count <= 1, "\(later)")
        #expect(
            back.allSatisfy {
                $0.outcome == .aborted || $0.asked.upperBound - $0.asked.lowerBound <= Self.readThrough
            },
            "\(back)"
        )
        let seeked = try await run.event("seeked")
        #expect(seeked.position == 60)

        try await expectCached(by: run, stage, heard: beginning, hasValidators: hasValidators)
        try await expectOnlyMissingFetched(stage, hasValidators: hasValidators)
    }

    @Test func `a track change leaves the old track alone`() async throws {
        let music = ExactMusic.steady
        let other = ExactMusic.short[0]
        let (stage, gate, run) = try await play(upTo: 600_000, next: try await other.bytes)
        let log = stage.server.log
        let count = log.requests(for: path).count

        // The gate of the old track stays closed: the new one is fetched and played to its end beside it.
        try run.command("next")
        let sound = try await run.finish()
        try await stage.server.settle()
        #expect(log.requests(for: path).count == count)
        #expect(log.requests(for: path).last?.outcome == .aborted)
        gate.release()

        let beginning = try await expectJump(in: sound, from: music.reference, to: other.reference)
        #expect(try run.ends.map(\.reason) == ["skipped", "finished"])

        try await expectCached(by: run, stage, heard: beginning)
        try await expectOnlyMissingFetched(stage)
    }

    @Test func `quitting waits for no transfer and keeps the received bytes`() async throws {
        let music = ExactMusic.steady
        let (stage, gate, run) = try await play(upTo: 600_000)
        let count = stage.server.log.requests.count

        let sound = try await run.quit()
        #expect(stage.server.log.requests.count == count)
        gate.release()
        try await expectSame(sound, as: music.reference.prefix(sound.count))
        #expect(try run.ends.map(\.reason) == ["skipped"])

        try await expectCached(by: run, stage, heard: sound.count)
        try await expectOnlyMissingFetched(stage)
    }

    @Test func `many seeks in a row fetch only around the last one`() async throws {
        let music = ExactMusic.steady
        let (stage, gate, run) = try await play(upTo: 300_000)
        let log = stage.server.log
        for second in [30, 45, 70, 20, 85] {
            let count = log.requests.count
            try run.command("seek \(second)")
            try await wait(for: "the request for second \(second)") { log.requests.count > count }
        }
        let last = log.requests.count
        gate.release()
        let sound = try await run.finish()
        try await stage.server.settle()
        let reference = try await music.reference
        try expectJump(in: sound, from: reference, to: reference.suffix(from: 85 * Self.sampleBytesPerSecond))
        #expect(log.requests.dropFirst(last).allSatisfy { $0.asked.lowerBound > 84 * Self.bytesPerSecond })
        try await expectOnlyMissingFetched(stage)
    }

    /// Plays `ExactMusic.steady` until the origin has sent `held` bytes of it and their samples are written:
    /// then the player waits for more. Another track, `next`, may follow it.
    private func play(
        upTo held: Int64,
        next: [UInt8] = [],
        faults: [Fault] = []
    ) async throws -> (stage: Stage, gate: OriginGate, run: Session) {
        let stage = try await Stage(try await ExactMusic.steady.bytes, next, faults: faults)
        let gate = stage.server.origin.hold(path, .afterBytesTogether(held))
        let run = try stage.session([stage.url()] + (next.isEmpty ? [] : [stage.url(1)]))
        try await gate.reached()
        try await wait(for: "the sound of all sent bytes") {
            let sent = stage.server.log.sentRanges(for: path).run(from: 0)?.upperBound ?? 0
            // Five frames and the encoder's delay are still on their way when a stream stops in its middle.
            let frames = sent / 1_045 - 5
            return run.soundCount >= (frames * 1_152 - 1_105) * 4
        }
        return (stage, gate, run)
    }

    /// All that `run` received is claimed (without validators, what was heard before the jump), and every
    /// claimed byte is true.
    private func expectCached(
        by run: Session,
        _ stage: Stage,
        heard: Int,
        hasValidators: Bool = true
    ) async throws {
        let claims = try stage.claims()
        let fetched = try #require(try run.ends.first?.bytes?.fetched)
        // Bytes that were sent again for comparison are stored once.
        let overlaps =
            stage.server.log.bytesSent(for: path)
            - stage.server.log.sentRanges(for: path).byteCount
        #expect(claims.ranges.byteCount <= fetched)
        if hasValidators { #expect(claims.ranges.byteCount >= fetched - overlaps) }
        #expect(stage.server.log.sentRanges(for: path).isSuperset(of: claims.ranges))
        #expect(claims.ranges.covers(0..<Int64(heard / 4 / 1_152) * 1_044))
        #expect(try await claims.firstFalseByte(comparedWith: ExactMusic.steady.bytes) == nil)
    }

    /// The next session plays all of the first track and requests no cached byte.
    private func expectOnlyMissingFetched(
        _ stage: Stage,
        hasValidators: Bool = true
    ) async throws {
        let missing = ByteRangeSet(0..<Int64(try await ExactMusic.steady.bytes.count))
            .subtracting(try stage.claims().ranges)
        stage.server.log.reset()
        try await expectSame(stage.samples(), as: ExactMusic.steady.reference)
        let repeated = stage.server.log.bytesSent - missing.byteCount
        #expect(repeated <= (hasValidators ? 0 : 4_096 * Int64(stage.server.log.requests.count)))
    }
}
