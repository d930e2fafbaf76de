import Media
import System
import TestSupport
import Testing

@testable import Playback

@Suite struct CachedTrackTests {
    private func notices(_ stage: Stage) -> [String] {
        stage.events.compactMap { event in
            switch event {
            case .notice(let code, _), .remark(let code, _): code
            default: nil
            }
        }
    }

    @Test func `the snapshot says how much of each track is cached`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        cache.set(Availability(storedBytes: 42, length: 100, playsTo: .seconds(190)), of: pieces[1].url)
        let stage = Stage(pieces, sink: TestSink(allowance: 0), cache: cache)
        _ = try await stage.play { stage in
            try await wait(for: "the answer") { !stage.player.snapshot.availability.isEmpty }
            #expect(stage.player.snapshot.availability[Track.ID(2)]?.fraction == 0.42)
            #expect(stage.player.snapshot.availability[Track.ID(1)] == nil)
        }
    }

    @Test func `a track event says which part is cached`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        let stage = Stage(pieces, sink: TestSink(allowance: 100), cache: cache)
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            stage.readers[0].edit { $0.stored = ByteRangeSet(0..<9_000) }
            stage.player.send(.status)
            try await wait(for: "the event") {
                stage.events.contains {
                    if case .track(let report) = $0 { report.cached == 0.25 } else { false }
                }
            }
        }
    }

    @Test func `a hundred thousand tracks are looked up in batches while commands are answered`() async throws
    {
        let cache = FakeCacheStatus()
        let clock = TestClock()
        cache.hold { try? await clock.sleep(until: .seconds(1)) }
        let pieces = (1...100_000).map { FakeMusic(number: $0, frames: 1).onTheWeb() }
        cache.set(Availability(storedBytes: 1, length: 2), of: pieces[99_999].url)
        let stage = Stage(pieces, sink: TestSink(allowance: 0), cache: cache)
        _ = try await stage.play { stage in
            try await wait(for: "the first question") { clock.sleeperCount == 1 }
            for volume in 1...20 {
                stage.player.send(.volume(volume))
                try await wait(for: "the answer") { stage.player.snapshot.volume == volume }
            }
            #expect(cache.batches.count == 1)
            clock.advance(by: .seconds(1))
            try await wait(for: "the last track") {
                stage.player.snapshot.availability[Track.ID(100_000)] != nil
            }
            #expect(cache.batches.allSatisfy { $0 <= CachedWatch.batch })
            let asked = cache.batches.reduce(0, +)
            #expect(asked < 100_100, "each is looked up once, the current one again")
        }
    }

    @Test func `tracks are not looked up again when others are added`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...3).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        for piece in pieces { cache.set(Availability(storedBytes: 1, length: 2), of: piece.url) }
        let stage = Stage(pieces, sink: TestSink(allowance: 0), cache: cache)
        _ = try await stage.play { stage in
            try await wait(for: "the answer") { stage.player.snapshot.availability.count == 3 }
            // The resolver gives the same tracks once more.
            stage.player.send(.add("all"))
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 6 }
            stage.player.send(.pin(1))
            try await wait(for: "the pin") {
                stage.player.snapshot.availability[Track.ID(1)]?.isPinned == true
            }
            #expect(cache.batches == [3, 1, 1], "three tracks, then the pinned one before and after")
        }
    }

    @Test func `a track that has ended is looked up again`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 900).onTheWeb() }
        let stage = Stage(pieces, exitsAtEnd: false, cache: cache)
        _ = try await stage.play { stage in
            cache.set(Availability(storedBytes: 3_600, length: 3_600), of: pieces[0].url)
            cache.set(Availability(storedBytes: 3_600, length: 3_600), of: pieces[1].url)
            try await wait(for: "the end") { stage.player.snapshot.state == .ended }
            try await wait(for: "both") { stage.player.snapshot.availability.count == 2 }
            #expect(stage.player.snapshot.availability[Track.ID(1)]?.isComplete == true)
        }
    }

    @Test func `a second pin unpins the track`() async throws {
        let cache = FakeCacheStatus()
        let pieces = (1...2).map { FakeMusic(number: $0, frames: 9_000).onTheWeb() }
        let stage = Stage(pieces, sink: TestSink(allowance: 0), cache: cache)
        _ = try await stage.play { stage in
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 2 }
            stage.player.send(.pin(2))
            try await wait(for: "the pin") {
                stage.player.snapshot.availability[Track.ID(2)]?.isPinned == true
            }
            stage.player.send(.pin(2))
            try await wait(for: "no pin") {
                stage.player.snapshot.availability[Track.ID(2)]?.isPinned == false
            }
            stage.player.send(.pin(nil))
            try await wait(for: "the current one's pin") {
                stage.player.snapshot.availability[Track.ID(1)]?.isPinned == true
            }
            #expect(notices(stage) == ["pinned", "unpinned", "pinned"])
            cache.fail(with: MediaError(.notCached, "the cache", "is full"))
            stage.player.send(.pin(1))
            try await wait(for: "the refusal") { notices(stage).last == "not-cached" }
            stage.player.send(.pin(9))
            try await wait(for: "the answer") { notices(stage).last == "bad-command" }
        }
    }

    @Test func `without a cache, and for a local file, a pin is refused with the reason`() async throws {
        let pieces = [FakeMusic(number: 1, frames: 9_000).onTheWeb(), FakeMusic(number: 2, frames: 9_000)]
        let stage = Stage(pieces, sink: TestSink(allowance: 0))
        _ = try await stage.play { stage in
            try await wait(for: "the tracks") { stage.player.snapshot.tracks.count == 2 }
            stage.player.send(.pin(1))
            stage.player.send(.pin(2))
            try await wait(for: "the answers") { notices(stage) == ["not-cached", "not-cached"] }
        }
    }
}
