import Media
import System
import TestSupport
import Testing

@testable import Playback

/// A whole player with a list whose rest is awaited.
@Suite struct LongListPlayingTests {
    /// Has the first tracks at once, and the others, or a failure, once the test says so.
    private struct SlowResolver: TrackResolver {
        let pieces: [FakeMusic]
        let first: Int
        let clock: TestClock
        var failure: MediaError?

        func tracks(for source: String) async throws -> ResolvedTracks {
            try await tracks(for: source) { _ in }
        }

        func tracks(
            for source: String,
            begun: @escaping @Sendable ([Track]) -> Void
        ) async throws -> ResolvedTracks {
            guard source == "all" else { return ResolvedTracks(tracks: [pieces[0].track]) }
            begun(pieces.prefix(first).map(\.track))
            try await clock.sleep(until: .seconds(1))
            if let failure { throw failure }
            return ResolvedTracks(tracks: pieces.map(\.track))
        }
    }

    private func loaded(_ stage: Stage) -> [Int] {
        stage.events.compactMap { if case .loaded(let count) = $0 { count } else { nil } }
    }

    @Test func `the first tracks play to their end, and the others follow when they are known`() async throws
    {
        let clock = TestClock()
        let pieces = (1...5).map { FakeMusic(number: $0, frames: $0 * 100) }
        let stage = Stage(pieces, resolver: SlowResolver(pieces: pieces, first: 2, clock: clock))
        let running = Task { await stage.play() }
        try await wait(for: "the end of what is known") {
            stage.story.last == "ended 2 finished 200" && stage.player.snapshot.state == .opening
        }
        let snapshot = stage.player.snapshot
        #expect(snapshot.tracks.count == 2 && snapshot.isIncomplete && !snapshot.isOver)
        #expect(loaded(stage).isEmpty)
        clock.advance(by: .seconds(1))
        let outcome = await running.value
        #expect(outcome.summary.played == 5 && outcome.summary.failed == 0)
        #expect(stage.sink.pcm == pieces.flatMap(\.pcm))
        #expect(loaded(stage) == [5])
        #expect(!stage.player.snapshot.isIncomplete)
    }

    @Test func `a list that fails behind its first tracks leaves these, with a word`() async throws {
        let clock = TestClock()
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 100) }
        let failure = MediaError(.badPlaylist, "all", "is too long")
        let stage = Stage(
            pieces,
            resolver: SlowResolver(pieces: pieces, first: 2, clock: clock, failure: failure)
        )
        let running = Task { await stage.play() }
        try await wait(for: "the end of what is known") { stage.story.last == "ended 2 finished 100" }
        clock.advance(by: .seconds(1))
        let outcome = await running.value
        #expect(outcome.summary.played == 2 && outcome.summary.failed == 1)
        #expect(stage.story.contains("notice bad-playlist") && loaded(stage) == [2])
    }

    @Test func `sources stand in their order, and only the first long one is begun with`() async throws {
        let clock = TestClock()
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 1) }
        let begun = Locked<[[UInt64]]>([])
        var resolver = SlowResolver(pieces: pieces, first: 2, clock: clock)
        for failure in [nil, MediaError(.badPlaylist, "all", "is too long")] {
            resolver.failure = failure
            let launching = Launching(resolver: resolver) { tracks in
                begun.withLock { $0.append(tracks.map(\.id.value)) }
            }
            let own = FakeMusic(number: 9, frames: 1).track
            async let all = launching.tracks(of: ["one", "all", "all", "one"], behind: [own])
            try await wait(for: "both lists") {
                clock.advance(by: .seconds(1))
                return begun.withLock { !$0.isEmpty }
            }
            let found = await all
            // Of a list that fails what was begun with stays, and nothing of another.
            let expected: [UInt64] = failure == nil ? [9, 1, 1, 2, 3, 1, 2, 3, 1] : [9, 1, 1, 2, 1]
            #expect(found.tracks.map(\.id.value) == expected)
            #expect(found.problems.count == (failure == nil ? 0 : 2))
            #expect(begun.withLock { $0 } == [[9, 1, 1, 2]])
            begun.withLock { $0 = [] }
        }
    }
}
