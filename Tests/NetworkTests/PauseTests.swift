import Media
import RepriseOrigin
import System
import TestSupport
import Testing

/// The listener pauses for forty minutes in the middle of the music.
@Suite struct PauseTests {
    /// Decodes ten seconds, waits for `before`, lets forty minutes pass, and decodes the rest.
    private func playWithPause(
        _ chain: Chain,
        before: @escaping @Sendable () async throws -> Void,
        after: @escaping @Sendable () -> Void = {}
    ) async throws -> [Int16] {
        let reader = try await chain.open()
        let samples = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open()
            let head = try await decoding.samples(10 * 44_100 * 2)
            try await before()
            // In steps, so that every timer that is set on the way has its turn.
            for _ in 0..<240 {
                chain.clock.advance(by: .seconds(10))
                await Task.yield()
            }
            after()
            let time = Task { await TimeKeeper(chain).run() }
            defer { time.cancel() }
            return head + (try await decoding.samples())
        }
        await chain.close(reader)
        return samples
    }

    @Test func `without ranges the body is read to its end, and the music plays on`() async throws {
        let (song, chain) = try await Chain.short([.ignoresRanges])
        let samples = try await playWithPause(chain) {
            try await wait(for: "the whole body") { chain.server.log.bytesSent == song.length }
            try await wait(for: "it to be stored") { chain.readers[0].reader.isStored(0..<song.length) }
        }
        #expect(isSame(samples, song.pcm))
        #expect(chain.server.log.requests.count == 1)
        try await chain.end()
    }

    @Test func `with ranges nothing is held open, and the music resumes at the byte`() async throws {
        let (song, chain) = try await Chain.long()
        let sent = Locked<Int64>(0)
        let samples = try await playWithPause(chain) {
            // Read-ahead comes to its end, and then nothing is under way.
            try await wait(for: "read-ahead to end") {
                chain.readers[0].reader.report.inFlight.isEmpty
                    && chain.server.log.requests.allSatisfy { $0.outcome == .finished }
            }
            sent.withLock { $0 = chain.server.log.bytesSent }
        }
        #expect(isSame(samples, song.pcm))
        #expect(sent.withLock { $0 } < song.length / 2, "a pause is no reason to fetch the rest")
        #expect(chain.server.log.bytesSent == song.length && chain.server.log.bytesSentAgain() == 0)
        try await chain.end()
    }

    @Test func `a body that stood still in the pause is resumed at the byte`() async throws {
        let (song, chain) = try await Chain.long()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(400_000))
        let pause = Locked((stored: ByteRangeSet(), requests: 0))
        let samples = try await playWithPause(chain) {
            try await gate.reached()
            try await wait(for: "all that was sent to be stored") {
                chain.readers[0].reader.report.stored.byteCount == chain.server.log.bytesSent
            }
            let stored = chain.readers[0].reader.report.stored
            pause.withLock { $0 = (stored, chain.server.log.requests.count) }
        } after: {
            gate.release()
        }
        #expect(isSame(samples, song.pcm))
        let (stored, before) = pause.withLock { $0 }
        // A request for the first byte only is a probe of the network watch.
        let later = chain.server.log.requests.dropFirst(before).map(\.sent).filter { $0 != 0..<1 }
        #expect(!later.isEmpty)
        #expect(later.allSatisfy { stored.intersection(ByteRangeSet($0)).isEmpty }, "\(later)")
        try await chain.end()
    }
}
