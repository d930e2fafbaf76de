import Media
import System
import TestSupport
import Testing

@testable import Playback

/// Sources that take long to read, such as trees of folders.
@Suite
final class SourceReadingTests: Sendable {
    /// Delivers the tracks of a source in parts, each when the test allows it.
    private final class SlowResolver: TrackResolver {
        private let parts = AsyncStream.makeStream(of: [Int].self)

        func allow(_ numbers: ClosedRange<Int>) { parts.continuation.yield(Array(numbers)) }

        func end() { parts.continuation.finish() }

        func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
            for await numbers in parts.stream { await deliver(ResolvedTracks(tracks: numbered(numbers))) }
            try Task.checkCancellation()
        }
    }

    private struct Batch: Equatable {
        var numbers: [UInt64]
        var isLast = false
    }

    private let clock = TestClock()
    private let resolver = SlowResolver()
    private let batches = Locked<[Batch]>([])

    private func read(awaitsAll: Bool = false, onProgress: @escaping @Sendable (Int) -> Void = { _ in })
        -> Task<Void, Never>
    {
        var reading = SourceReading(resolver: resolver, clock: clock)
        reading.awaitsAll = awaitsAll
        reading.onProgress = onProgress
        return Task { [self, reading] in
            await reading.run(["source"]) { [self] batch, isLast in
                batches.withLock { $0.append(Batch(numbers: batch.tracks.map(\.id.value), isLast: isLast)) }
            }
        }
    }

    @Test func `a source that is read within two seconds is one batch`() async {
        let reading = read()
        resolver.allow(1...1)
        resolver.allow(2...3)
        resolver.end()
        await reading.value
        #expect(batches.withLock { $0 } == [Batch(numbers: [1, 2, 3], isLast: true)])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `after two seconds what is known is passed on, and the rest as it comes`() async throws {
        let reading = read()
        resolver.allow(1...2)
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(1_999))
        #expect(batches.withLock { $0.isEmpty })
        clock.advance(by: .milliseconds(1))
        try await wait(for: "the first batch") { batches.withLock { $0 } == [Batch(numbers: [1, 2])] }
        // While nothing comes, there is no timer.
        #expect(clock.sleeperCount == 0)
        resolver.allow(3...3)
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await wait(for: "the second batch") { batches.withLock { $0.count } == 2 }
        resolver.allow(4...4)
        resolver.end()
        await reading.value
        #expect(
            batches.withLock { $0 } == [
                Batch(numbers: [1, 2]), Batch(numbers: [3]), Batch(numbers: [4], isLast: true),
            ]
        )
    }

    @Test func `if all tracks are awaited, progress is reported, and stopping passes on what was read`()
        async throws
    {
        let counts = Locked<[Int]>([])
        let reading = read(awaitsAll: true) { count in counts.withLock { $0.append(count) } }
        resolver.allow(1...2)
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        try await wait(for: "progress") { counts.withLock { $0 } == [2] }
        #expect(batches.withLock { $0.isEmpty })
        reading.cancel()
        await reading.value
        #expect(batches.withLock { $0 } == [Batch(numbers: [1, 2], isLast: true)])
    }

    @Test func `a source that can't be read is a problem, and the next one is read`() async {
        struct Broken: TrackResolver {
            func resolve(_ source: String, deliver: @Sendable (ResolvedTracks) async -> Void) async throws {
                guard source == "good" else { throw MediaError(.notFound, "bad", "gone") }
                await deliver(ResolvedTracks(tracks: numbered([1])))
            }
        }
        let found = Locked(ResolvedTracks(tracks: []))
        await SourceReading(resolver: Broken(), clock: clock).run(["bad", "good"]) { batch, _ in
            found.withLock { $0.add(batch) }
        }
        #expect(found.withLock { $0.tracks.count == 1 && $0.problems.map(\.code) == [.notFound] })
    }

    // MARK: The player

    @Test func `the first part plays, and the rest follows it without an end in between`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        let launched = state.send(.launched(first, start: nil, position: .zero, isComplete: false))
        #expect(launched.start?.track.id.value == 1 && launched.contains(.emit(.loaded(tracks: 1))))
        // The only track fails; the player waits for more.
        let failed = state.send(.passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0))
        #expect(!failed.contains(.finish(fatal: nil)) && state.phase == .ended)
        let more = state.send(
            .launchedMore(ResolvedTracks(tracks: numbered(2...3)), isComplete: false)
        )
        #expect(more.start?.track.id.value == 2 && more.contains(.emit(.loaded(tracks: 3))))
        #expect(state.send(.launchedMore(ResolvedTracks(tracks: []), isComplete: true)).isEmpty)
        #expect(state.phase == .active)
    }

    @Test func `the player ends after the last part if nothing is left to play`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(
            .launched(first, start: nil, position: .zero, isComplete: false),
            .passFailed(1, MediaError(.notAudio, "1", "noise"), frames: 0)
        )
        let problem = ResolvedTracks(tracks: [], problems: [MediaError(.notFound, "2", "gone")])
        let effects = state.send(.launchedMore(problem, isComplete: true))
        #expect(effects.contains(.finish(fatal: nil)) && effects.contains(.countLostSource))
    }

    @Test func `saving waits for all tracks`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let first = ResolvedTracks(tracks: numbered(1...1))
        state.send(.launched(first, start: nil, position: .zero, isComplete: false))
        #expect(state.send(.command(.save("x"))).isEmpty)
        let more = ResolvedTracks(tracks: numbered(2...2))
        #expect(!state.send(.launchedMore(more, isComplete: false)).contains(.save("x")))
        #expect(state.send(.launchedMore(ResolvedTracks(tracks: []), isComplete: true)) == [.save("x")])
    }

    @Test func `stop ends the reading before the first track`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        #expect(state.send(.reading(tracks: 40)).count == 1)
        #expect(state.send(.command(.stop)) == [.stopReading])
        #expect(state.send(.launched(numbered(1...1))).start != nil)
        // Later reports of progress are outdated.
        #expect(state.send(.reading(tracks: 41)).isEmpty)
    }

    @Test func `one undo removes all parts of an addition`() {
        var state = PlayerState.sounding(1)
        state.send(.command(.add("folder")))
        state.send(.added(numbered(2...3), problems: [], isLast: false))
        state.send(.added(numbered(4...4), problems: []))
        #expect(state.queue.tracks.count == 4)
        state.send(.command(.undo))
        #expect(state.queue.tracks.count == 1)
    }
}
