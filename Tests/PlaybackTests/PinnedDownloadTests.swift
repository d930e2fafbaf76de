import Media
import System
import TestSupport
import Testing

@testable import Playback

@Suite struct PinnedDownloadTests {
    private let cache = FakeCacheStatus()

    /// Four tracks of the web, of which the first plays.
    private func stage() -> Stage {
        var pieces = (1...4).map { FakeMusic(number: $0, frames: 90_000).onTheWeb() }
        for index in 1...3 { pieces[index].storedCount = 9 }
        return Stage(pieces, sink: TestSink(allowance: 0), exitsAtEnd: false, cache: cache)
    }

    private func readers(of number: Int, _ stage: Stage) -> [FakeReader] {
        stage.readers.filter { $0.music.number == number }
    }

    private func message(_ stage: Stage) -> SafeText? { stage.player.snapshot.messages.last?.text }

    /// The message about a download that has ended may come before or after this one.
    private func saysUnpinned(_ stage: Stage) -> Bool {
        stage.player.snapshot.messages.contains { $0.text.string.hasPrefix("Unpinned \"") }
    }

    /// Pins tracks 2 to 4, and waits for the first download, which stays incomplete.
    private func downloading(_ body: (Stage, FakeReader) async throws -> Void) async throws {
        try await stage().play { stage in
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            stage.player.send(.setPinned(TrackNumbers(places: RangeSet(1..<4)), true))
            try await wait(for: "the first download") { readers(of: 2, stage).contains(where: \.isFilled) }
            let reader = try #require(readers(of: 2, stage).first)
            try await body(stage, reader)
        }
    }

    @Test func `pinned tracks are counted in one message, and downloaded two at a time`() async throws {
        try await downloading { stage, first in
            // A download begins before the snapshot with its message is published.
            try await wait(for: "the message") {
                message(stage) == "Pinned 3 tracks (never evicted), downloading what is missing"
            }
            #expect(first.lowPriorities.first == true && readers(of: 4, stage).isEmpty)
            first.edit { $0.stored = ByteRangeSet(0..<($0.length ?? 0)) }
            try await wait(for: "the third download") {
                stage.clock.advance(by: .milliseconds(250))
                return readers(of: 4, stage).contains(where: \.isFilled)
            }
            #expect(first.isClosed)
        }
    }

    @Test func `the row shows the progress of a download`() async throws {
        try await downloading { stage, reader in
            let url = try #require(stage.player.snapshot.tracks[1].location.url)
            let size = Locked<Int64>(9)
            reader.edit { $0.stored = ByteRangeSet(0..<size.withLock { $0 }) }
            for stored in [5, 7] as [Int64] {
                let part = Availability(stored: ByteRangeSet(0..<stored), length: 9, isPinned: true)
                cache.set(part, of: url)
                try await wait(for: "the progress") {
                    stage.clock.advance(by: .milliseconds(250))
                    size.withLock { $0 += 1 }
                    return stage.player.snapshot.availability[Track.ID(2)] == part
                }
            }
        }
    }

    @Test func `what a download learns of a track reaches its row at once`() async throws {
        try await downloading { stage, _ in
            try await wait(for: "the length") {
                stage.player.snapshot.learned[Track.ID(2)]?.duration == .seconds(90)
            }
            #expect(stage.player.snapshot.learned[Track.ID(4)] == nil)
        }
    }

    @Test func `what a download learns does not sort the queue again`() async throws {
        try await stage().play { stage in
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            stage.player.send(.sort(.duration))
            stage.player.send(.pin(3))
            try await wait(for: "the length") { stage.player.snapshot.learned[Track.ID(3)]?.duration != nil }
            #expect(stage.player.snapshot.tracks.map(\.id.value) == [1, 2, 3, 4])
        }
    }

    @Test func `a download learns nothing of a live stream, whose head has the song of the moment`()
        async throws
    {
        var pieces = (1...2).map { FakeMusic(number: $0, frames: 90_000).onTheWeb() }
        pieces[1].live = LiveReport(station: Station(name: "Radio Test"))
        let stage = Stage(pieces, sink: TestSink(allowance: 0), exitsAtEnd: false, cache: cache)
        try await stage.play { stage in
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            stage.player.send(.pin(2))
            try await wait(for: "the end of its download") { readers(of: 2, stage).first?.isClosed == true }
            stage.player.send(.pin(2))
            try await wait(for: "the message") { saysUnpinned(stage) }
            #expect(stage.player.snapshot.learned[Track.ID(2)] == nil)
        }
    }

    @Test func `unpinning ends a download, and quitting ends all`() async throws {
        try await downloading { stage, first in
            stage.player.send(.pin(2))
            try await wait(for: "its end") { first.isClosed }
            try await wait(for: "the message") { saysUnpinned(stage) }
            try await wait(for: "the next") { readers(of: 4, stage).contains(where: \.isFilled) }
            stage.player.send(.quit)
            try await wait(for: "the end") { readers(of: 4, stage).allSatisfy(\.isClosed) }
        }
    }

    @Test func `a track that is played while it is downloaded is opened after its download has closed`()
        async throws
    {
        try await downloading { stage, first in
            stage.player.send(.jump(2))
            try await wait(for: "the track") { readers(of: 2, stage).count > 1 }
            #expect(first.isClosed)
        }
    }
}
