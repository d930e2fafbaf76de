import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Music of which the cache holds arbitrary pieces sounds as it should, and only the rest is fetched.
@Suite(.serialized) struct NeverTwiceTests {
    /// What may be sent again before a gap where a server sends no validators, so that it can be compared.
    private static let overlap: Int64 = 4 << 10

    @Test(arguments: 0..<44 as Range<UInt64>)
    func `only the gaps between prepared pieces are fetched`(seed: UInt64) async throws {
        let music = ExactMusic.short[Int(seed % 2)]
        try await playPattern(of: music, seed: seed, hasValidators: seed / 2 % 2 == 0)
    }

    @Test(arguments: ExactMusic.long, [true, false])
    func `only the gaps between pieces of a long file are fetched`(
        music: ExactMusic,
        hasValidators: Bool
    ) async throws {
        try await playPattern(of: music, seed: 99, hasValidators: hasValidators)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `only the gaps between pieces that sessions left are fetched`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let music = ExactMusic.short[Int(seed % 2)]
        let hasValidators = seed / 2 % 2 == 0
        let bytes = try await music.bytes
        let stage = try await Stage(bytes, faults: hasValidators ? [] : [.noValidators])
        for _ in 0..<3 where try stage.claims().ranges.byteCount < Int64(bytes.count) * 3 / 4 {
            let start = Int.random(in: 0..<35, using: &random)
            let gate = stage.server.origin.hold(
                Stage.path(0),
                .afterBytesTogether(Int64.random(in: 1_000...400_000, using: &random))
            )
            let run = try stage.session([stage.url()], sink: "null:fast", options: ["--seek", "\(start)"])
            // All requested bytes may be cached already; then the music ends by itself.
            try await wait(for: "the gate or the end") { gate.isReached || !run.process.isRunning }
            if run.process.isRunning { try? run.command("quit") }
            try await run.finish()
            gate.release()
        }
        try await playTheRest(of: music, on: stage, hasValidators: hasValidators)
    }

    @Test func `a track that is in the queue twice is fetched once`() async throws {
        let music = ExactMusic.short[0]
        let bytes = try await music.bytes
        let stage = try await Stage(bytes)
        let run = try stage.session([stage.url(), stage.url()])
        let sound = try await run.finish()
        let reference = try await music.reference
        expectSame(sound, as: reference + reference)
        #expect(stage.server.log.bytesSent == Int64(bytes.count))
        #expect(try run.ends.map(\.reason) == ["finished", "finished"])
    }

    private func playPattern(of music: ExactMusic, seed: UInt64, hasValidators: Bool) async throws {
        let bytes = try await music.bytes
        let stage = try await Stage(bytes, faults: hasValidators ? [] : [.noValidators])
        let pieces = CachePattern.pieces(of: Int64(bytes.count), seed: seed)
        try await stage.prepareCache(pieces, of: bytes, hasValidators: hasValidators)
        #expect(try stage.claims().ranges == pieces)
        try await playTheRest(of: music, on: stage, hasValidators: hasValidators)
    }

    /// Plays from the first sample to the last, and compares the sent bytes with the missing ones.
    private func playTheRest(of music: ExactMusic, on stage: Stage, hasValidators: Bool) async throws {
        let bytes = try await music.bytes
        let stored = try stage.claims().ranges
        let missing = ByteRangeSet(0..<Int64(bytes.count)).subtracting(stored)
        stage.server.log.reset()

        try await expectSame(stage.samples(), as: music.reference)

        let log = stage.server.log
        let repeated = log.bytesSent - missing.byteCount
        #expect(log.sentRanges(for: Stage.path(0)).isSuperset(of: missing))
        #expect(log.requests.allSatisfy { $0.status == 206 })
        if hasValidators {
            #expect(repeated == 0, "bytes were sent that were there, or twice")
        } else {
            // Only this shows that the file changed between two windows.
            #expect(repeated <= Self.overlap * Int64(log.requests.count))
        }
        for request in log.requests {
            let needless = ByteRangeSet(request.sent).intersection(stored).byteCount
            #expect(needless <= (hasValidators ? 0 : Self.overlap), "\(request)")
        }
        #expect(try stage.claims().ranges == ByteRangeSet(0..<Int64(bytes.count)))
        #expect(try stage.claims().firstFalseByte(comparedWith: bytes) == nil)

        log.reset()
        try await stage.session([stage.url()], sink: "null:fast").finish()
        #expect(log.requests.isEmpty)
    }
}
