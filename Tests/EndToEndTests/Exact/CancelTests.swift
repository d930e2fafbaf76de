import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Music that is no longer wanted is neither downloaded nor played, and its received bytes stay cached.
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

    private let path = ExactStage.path(0)

    /// What may be left of a transfer for it to be let run to its end, so that its connection lives.
    private static let readThrough: Int64 = 64 << 10

    @Test(arguments: [false, true], [85_536, 600_000])
    func `a seek leaves the old position and goes on at the new one`(
        hasValidators: Bool,
        held: Int64
    ) async throws {
        let music = ExactMusic.steady
        let bytes = try await music.bytes
        let stage = try ExactStage(bytes, faults: hasValidators ? [] : [.noValidators])
        let log = stage.server.log
        let gate = stage.server.origin.hold(path, .afterBytesTogether(held))
        let run = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        try await waitUntilHeard(run, stage)
        let before = log.requests
        let isOpen = { (request: LoggedRequest) in request.outcome == .underWay }
        let long = before.filter { isOpen($0) && Self.end(of: $0) - $0.sent.upperBound > Self.readThrough }
        // Read-ahead has begun, of 128 KiB or more.
        if held < 100_000 { #expect(!long.isEmpty) }

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
        let reference = try await music.reference
        let rest = reference.suffix(from: 60 * Self.sampleBytesPerSecond)
        let beginning = sound.count - rest.count
        try #require(beginning > 0)
        #expect(sound.prefix(beginning).firstDifference(from: reference.prefix(beginning)) == nil)
        #expect(sound.suffix(from: beginning).firstDifference(from: rest) == nil)
        let later = log.requests.dropFirst(before.count)
        // One may have left while the seek was on its way, and is left like the others: a short one may end by itself.
        // Without validators the jump is compared once with what was stored before it.
        let back = later.filter { Self.start(of: $0) <= 59 * Self.bytesPerSecond }
        #expect(back.count <= 1, "\(later)")
        let most = hasValidators ? Self.readThrough : 2 * Self.readThrough
        #expect(
            back.allSatisfy { $0.outcome == .aborted || Self.end(of: $0) - Self.start(of: $0) <= most },
            "\(back)"
        )
        let seeked = try await run.event("seeked")
        #expect(seeked.position == 60)

        try await expectCached(by: run, stage, bytes, heard: beginning)
        try await expectOnlyMissingFetched(stage, music, hasValidators: hasValidators)
    }

    @Test func `a track change leaves the old track alone`() async throws {
        let (music, other) = (ExactMusic.steady, ExactMusic.short[0])
        let bytes = try await music.bytes
        let stage = try ExactStage(bytes, try await other.bytes)
        let log = stage.server.log
        let gate = stage.server.origin.hold(path, .afterBytesTogether(600_000))
        let run = try ExactRun([stage.url(0), stage.url(1)], on: stage)
        try await gate.reached()
        try await waitUntilHeard(run, stage)
        let count = log.requests(for: path).count

        // The gate of the old track stays closed: the new one is fetched and played to its end beside it.
        try run.command("next")
        let sound = try await run.finish()
        #expect(log.requests(for: path).count == count)
        #expect(log.requests(for: path).last?.outcome == .aborted)
        gate.release()

        let (reference, rest) = (try await music.reference, try await other.reference)
        let beginning = sound.count - rest.count
        try #require(beginning > 0)
        #expect(sound.prefix(beginning).firstDifference(from: reference.prefix(beginning)) == nil)
        #expect(sound.suffix(from: beginning).firstDifference(from: rest) == nil)
        #expect(try run.ends.map(\.reason) == ["skipped", "finished"])

        try await expectCached(by: run, stage, bytes, heard: beginning)
        try await expectOnlyMissingFetched(stage, music, hasValidators: true)
    }

    @Test func `quitting waits for no transfer and keeps what came`() async throws {
        let music = ExactMusic.steady
        let bytes = try await music.bytes
        let stage = try ExactStage(bytes)
        let gate = stage.server.origin.hold(path, .afterBytesTogether(600_000))
        let run = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        try await waitUntilHeard(run, stage)
        let count = stage.server.log.requests.count

        try run.command("quit")
        let sound = try await run.finish()
        #expect(stage.server.log.requests.count == count)
        gate.release()
        let difference = try await sound.firstDifference(from: music.reference.prefix(sound.count))
        #expect(difference == nil)
        #expect(try run.ends.map(\.reason) == ["skipped"])

        try await expectCached(by: run, stage, bytes, heard: sound.count)
        try await expectOnlyMissingFetched(stage, music, hasValidators: true)
    }

    @Test func `many seeks in a row fetch only around the last one`() async throws {
        let music = ExactMusic.steady
        let bytes = try await music.bytes
        let stage = try ExactStage(bytes)
        let log = stage.server.log
        let gate = stage.server.origin.hold(path, .afterBytesTogether(300_000))
        let run = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        try await waitUntilHeard(run, stage)
        for second in [30, 45, 70, 20, 85] {
            let count = log.requests.count
            try run.command("seek \(second)")
            try await wait(for: "the request for second \(second)") { log.requests.count > count }
        }
        let last = log.requests.count
        gate.release()
        let sound = try await run.finish()
        let reference = try await music.reference
        let rest = reference.suffix(from: 85 * Self.sampleBytesPerSecond)
        let beginning = sound.count - rest.count
        try #require(beginning > 0)
        #expect(sound.prefix(beginning).firstDifference(from: reference.prefix(beginning)) == nil)
        #expect(sound.suffix(from: beginning).firstDifference(from: rest) == nil)
        #expect(log.requests.dropFirst(last).allSatisfy { Self.start(of: $0) > 84 * Self.bytesPerSecond })
        // No answer for a place in between went on for longer than it took to leave it.
        #expect(log.requests.filter { $0.outcome == .underWay }.isEmpty)
        try await expectOnlyMissingFetched(stage, music, hasValidators: true)
    }

    /// Waits until the samples of all that was sent in one piece from the start are written: then the player has
    /// all of it, and waits for more.
    private func waitUntilHeard(_ run: ExactRun, _ stage: ExactStage) async throws {
        try await wait(for: "the sound of what was sent") {
            let sent = stage.server.log.sentRanges(for: path).run(from: 0)?.upperBound ?? 0
            // Five frames and the encoder's delay are still on their way when a stream stops in its middle.
            let frames = sent / 1_045 - 5
            return run.soundCount >= (frames * 1_152 - 1_105) * 4
        }
    }

    /// The first requested byte.
    private static func start(of request: LoggedRequest) -> Int64 { asked(by: request).lowerBound }

    /// The offset after the last requested byte.
    private static func end(of request: LoggedRequest) -> Int64 { asked(by: request).upperBound }

    /// The range of a field `bytes=FIRST-LAST`; empty for any other.
    private static func asked(by request: LoggedRequest) -> ByteRange {
        let numbers = (request.range ?? "").split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return 0..<0 }
        return numbers[0]..<numbers[1] + 1
    }

    /// All that `run` received is claimed, all that was heard is among it, and every claimed byte is true.
    private func expectCached(by run: ExactRun, _ stage: ExactStage, _ bytes: [UInt8], heard: Int)
        async throws
    {
        let claims = try stage.claims()
        let fetched = try #require(try run.ends.first?.bytes?.fetched)
        // Bytes that were sent again for comparison are stored once.
        let overlaps =
            stage.server.log.bytesSent(for: path)
            - stage.server.log.sentRanges(for: path).byteCount
        #expect(claims.ranges.byteCount <= fetched)
        #expect(claims.ranges.byteCount >= fetched - overlaps)
        #expect(stage.server.log.sentRanges(for: path).isSuperset(of: claims.ranges))
        #expect(claims.ranges.covers(0..<Int64(heard / 4 / 1_152) * 1_044))
        #expect(try claims.firstFalseByte(comparedWith: bytes) == nil)
    }

    /// The next session plays all of the first track and requests no cached byte.
    private func expectOnlyMissingFetched(
        _ stage: ExactStage,
        _ music: ExactMusic,
        hasValidators: Bool
    ) async throws {
        let missing = ByteRangeSet(0..<Int64(try await music.bytes.count))
            .subtracting(try stage.claims().ranges)
        stage.server.log.reset()
        let sound = try await stage.play()
        let difference = try await sound.firstDifference(from: music.reference)
        #expect(difference == nil)
        let repeated = stage.server.log.bytesSent - missing.byteCount
        #expect(repeated <= (hasValidators ? 0 : 4_096 * Int64(stage.server.log.requests.count)))
    }
}
