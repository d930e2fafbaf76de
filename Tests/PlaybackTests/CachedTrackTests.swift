import Media
import System
import TestSupport
import Testing

@testable import Playback

@Suite struct CachedTrackTests {
    private let cache = FakeCacheStatus()

    /// A stage with `count` tracks of the web, whose sink takes `allowance` frames.
    private func stage(_ count: Int, frames: Int = 9_000, allowance: Int? = 0) -> (Stage, [FakeMusic]) {
        let pieces = (1...count).map { FakeMusic(number: $0, frames: frames).onTheWeb() }
        let sink = TestSink(allowance: allowance)
        return (Stage(pieces, sink: sink, exitsAtEnd: false, cache: cache), pieces)
    }

    /// What the snapshot says of the track `number`.
    private func shown(_ number: UInt64, _ stage: Stage) -> Availability? {
        stage.player.snapshot.availability[Track.ID(number)]
    }

    @Test func `the snapshot says how much of each track is cached`() async throws {
        let (stage, pieces) = stage(3)
        cache.set(Availability(stored: ByteRangeSet(0..<42), length: 100), of: pieces[1].url)
        try await stage.play { stage in
            try await wait(for: "the answer") { !stage.player.snapshot.availability.isEmpty }
            #expect(shown(2, stage)?.fraction == 0.42 && shown(1, stage) == nil)
        }
    }

    @Test func `a track event says which part is cached`() async throws {
        try await stage(2, allowance: 100).0.sound { stage in
            stage.readers[0].edit { $0.stored = ByteRangeSet(0..<9_000) }
            stage.player.send(.status)
            try await wait(for: "the event") {
                stage.events.contains {
                    if case .track(let report) = $0 { report.cached == 0.25 } else { false }
                }
            }
        }
    }

    @Test func `100,000 tracks are looked up in batches while commands are answered`() async throws {
        let clock = TestClock()
        cache.hold { try? await clock.sleep(until: .seconds(1)) }
        let (stage, pieces) = stage(100_000, frames: 1)
        cache.set(Availability(stored: ByteRangeSet(0..<1), length: 2), of: pieces[99_999].url)
        try await stage.play { stage in
            try await wait(for: "the first question") { clock.sleeperCount == 1 }
            for volume in 1...20 {
                stage.player.send(.volume(volume))
                try await wait(for: "the answer") { stage.player.snapshot.volume == volume }
            }
            #expect(cache.batches.count == 1)
            clock.advance(by: .seconds(1))
            try await wait(for: "the last track") { shown(100_000, stage) != nil }
            #expect(cache.batches.allSatisfy { $0 <= CachedWatch.batch })
            #expect(cache.batches.reduce(0, +) < 100_100, "each is looked up once, the current one again")
        }
    }

    @Test func `tracks are not looked up again when others are added`() async throws {
        let (stage, pieces) = stage(3)
        for piece in pieces { cache.set(Availability(stored: ByteRangeSet(0..<1), length: 2), of: piece.url) }
        try await stage.play { stage in
            try await wait(for: "the answer") { stage.player.snapshot.availability.count == 3 }
            // The resolver gives the same tracks once more.
            stage.player.send(.add("another list of them"))
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 6 }
            stage.player.send(.pin(1))
            try await wait(for: "the pin") { shown(1, stage)?.isPinned == true }
            #expect(
                cache.batches.prefix(3) == [3, 1, 1],
                "three tracks, then the pinned one before and after"
            )
        }
    }

    @Test func `a track that has ended is looked up again`() async throws {
        let (stage, pieces) = stage(2, frames: 900)
        try await stage.play { stage in
            // The music waits for this: it could be over before these lines run.
            try await wait(for: "the first question") { !cache.batches.isEmpty }
            for piece in pieces {
                cache.set(Availability(stored: ByteRangeSet(0..<9), length: 9), of: piece.url)
            }
            stage.sink.allow(frames: 1_800)
            try await wait(for: "the end") { stage.player.snapshot.state == .ended }
            try await wait(for: "both") { stage.player.snapshot.availability.count == 2 }
            #expect(shown(1, stage)?.isComplete == true)
        }
    }

    @Test func `a track that was skipped is looked up again once its bytes are committed`() async throws {
        let disk = TestClock()
        var pieces = (1...2).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        pieces[0].closing = disk
        let stage = Stage(pieces, sink: TestSink(allowance: 0), exitsAtEnd: false, cache: cache)
        try await stage.sound { stage in
            stage.player.send(.next)
            try await wait(for: "the close of the first") { disk.sleeperCount == 1 }
            try await wait(for: "the second") { stage.player.snapshot.currentIndex == 1 }
            cache.set(Availability(stored: ByteRangeSet(0..<9), length: 9), of: pieces[0].url)
            disk.advance(by: .seconds(1))
            try await wait(for: "its map") { shown(1, stage)?.isComplete == true }
        }
    }

    @Test func `a track that is fetched in the background is looked up again as it grows`() async throws {
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        let stage = Stage(
            pieces,
            sink: TestSink(allowance: 10),
            exitsAtEnd: false,
            cache: cache,
            fills: true
        )
        try await stage.sound(heard: 10) { stage in
            let size = Locked<Int64>(18_000)
            stage.readers[0].edit { $0.stored = ByteRangeSet(0..<size.withLock { $0 }) }
            stage.player.send(.next)
            try await wait(for: "the fetch") { stage.readers[0].isFilled }
            cache.set(Availability(stored: ByteRangeSet(0..<18_000), length: 36_000), of: pieces[0].url)
            try await wait(for: "its map") {
                stage.clock.advance(by: .milliseconds(250))
                size.withLock { $0 += 1 }
                return shown(1, stage)?.fraction == 0.5
            }
            #expect(!stage.readers[0].isClosed)
        }
    }

    @Test func `what was heard of each track of the web is counted once it ends, and nothing of others`()
        async throws
    {
        let pieces = [FakeMusic(number: 1, frames: 9_000).onTheWeb(), FakeMusic(number: 2, frames: 9_000)]
        let stage = Stage(pieces, sink: TestSink(allowance: 10), exitsAtEnd: false, cache: cache)
        try await stage.sound(heard: 10) { stage in
            stage.readers[0].edit { ($0.cachedBytes, $0.readBytes) = (700, 1_800) }
            // A seek goes on with the same playing.
            stage.player.send(.seek(.to(.seconds(3))))
            try await wait(for: "the seek") {
                stage.events.contains { if case .seeked = $0 { true } else { false } }
            }
            #expect(cache.counted.isEmpty)
            stage.player.send(.next)
            try await wait(for: "the end") { cache.counted == ["1.mp3 700/1800"] }
            try await wait(for: "the second") { stage.player.snapshot.currentIndex == 1 }
            stage.player.send(.stop)
            try await wait(for: "the stop") { stage.player.snapshot.state == .stopped }
        }
        #expect(cache.counted == ["1.mp3 700/1800"])
    }

    @Test func `a second pin unpins the track, and a refused one is explained`() async throws {
        // The message about what a pin downloads comes when it comes.
        func answers(_ stage: Stage) -> [String] { stage.notices.filter { $0 != "downloaded" } }
        try await stage(2).0.play { stage in
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 2 }
            for (number, track, isPinned) in [(2, 2, true), (2, 2, false), (nil, 1, true)]
                as [(Int?, UInt64, Bool)]
            {
                stage.player.send(.pin(number))
                try await wait(for: "the change") { shown(track, stage)?.isPinned == isPinned }
            }
            try await wait(for: "the answers") { answers(stage) == ["pinned", "unpinned", "pinned"] }
            cache.fail(with: MediaError(.notCached, "the cache", "is full"))
            stage.player.send(.pin(1))
            try await wait(for: "the refusal") { answers(stage).last == "not-cached" }
            stage.player.send(.pin(9))
            try await wait(for: "the answer") { answers(stage).last == "bad-command" }
        }
    }

    @Test func `without a cache, and for a local file, a pin is refused with the reason`() async throws {
        let pieces = [FakeMusic(number: 1, frames: 9_000).onTheWeb(), FakeMusic(number: 2, frames: 9_000)]
        let stage = Stage(pieces, sink: TestSink(allowance: 0))
        try await stage.play { stage in
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 2 }
            stage.player.send(.pin(1))
            stage.player.send(.pin(2))
            try await wait(for: "the answers") { stage.notices == ["not-cached", "not-cached"] }
        }
    }
}
