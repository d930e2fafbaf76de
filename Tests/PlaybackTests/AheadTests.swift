import Media
import System
import TestSupport
import Testing

@testable import Playback

/// What the queue plays next is downloaded ahead.
@Suite struct AheadTests {
    private let cache = FakeCacheStatus()
    private let whole = Availability(stored: ByteRangeSet(0..<9), length: 9)

    /// Tracks of the web, of which the first plays. Each lacks bytes, which arrive once it is downloaded.
    private func stage(
        _ count: Int = 5,
        ahead: AheadGoal? = .all,
        repeatMode: RepeatMode = .off,
        connectivity: (any Connectivity)? = nil,
        _ change: (inout [FakeMusic]) -> Void = { _ in }
    ) -> Stage {
        var pieces = (1...count).map { FakeMusic(number: $0, frames: 90_000).onTheWeb() }
        for index in 1..<count { pieces[index].storedCount = 9 }
        change(&pieces)
        return Stage(
            pieces,
            sink: TestSink(allowance: 0),
            exitsAtEnd: false,
            repeatMode: repeatMode,
            cache: cache,
            connectivity: connectivity,
            ahead: ahead
        )
    }

    /// All bytes of track `number` arrive, once it is being downloaded.
    private func finish(_ number: UInt64, _ stage: Stage) async throws {
        func reader() -> FakeReader? {
            stage.readers.last { $0.music.track.id.value == number && !$0.isClosed && $0.isFilled }
        }
        try await wait(for: "its reader") { reader() != nil }
        cache.set(whole, of: reader()?.music.url)
        reader()?.edit { $0.stored = ByteRangeSet(0..<($0.length ?? 0)) }
    }

    private func playing(_ stage: Stage, _ body: (Stage) async throws -> Void) async throws {
        try await stage.play { stage in
            try await wait(for: "the music") { stage.player.snapshot.state == .playing }
            try await body(stage)
        }
    }

    private func texts(_ stage: Stage) -> [String] { stage.player.snapshot.messages.map(\.text.string) }

    @Test func `the current track is downloaded first, then one after the other in playing order`()
        async throws
    {
        try await playing(stage(4)) { stage in
            for number in 2...4 as ClosedRange<UInt64> { try await finish(number, stage) }
            try await wait(for: "the end") { stage.player.snapshot.downloads.isEmpty }
            #expect(stage.readers.map(\.music.number) == [1, 1, 2, 3, 4])
            // The current one was opened for playing.
            #expect(stage.ahead == [2, 3, 4])
            #expect(stage.notices.isEmpty)
            #expect(cache.spared == [["1.mp3", "2.mp3", "3.mp3", "4.mp3"]])
        }
    }

    @Test func `shuffle is known ahead`() async throws {
        try await playing(stage(5, ahead: nil)) { stage in
            stage.player.send(.jump(4))
            stage.player.send(.setShuffle(true))
            stage.player.send(.setAhead(.tracks(2)))
            try await finish(4, stage)
            try await wait(for: "the next track") { stage.ahead.count == 1 }
            let next = try #require(stage.ahead.last)
            try await finish(next, stage)
            try await wait(for: "the track after it") { stage.ahead.count == 2 }
            for number in [next, try #require(stage.ahead.last)] {
                stage.player.send(.next)
                try await wait(for: "track \(number)") {
                    stage.player.snapshot.currentTrack?.id.value == number
                }
            }
        }
    }

    @Test func `if all tracks repeat, the first ones follow the last`() async throws {
        try await playing(stage(3, ahead: nil, repeatMode: .all) { $0[0].storedCount = 9 }) { stage in
            stage.player.send(.jump(3))
            try await wait(for: "the jump") { stage.player.snapshot.currentIndex == 2 }
            stage.player.send(.setAhead(.tracks(1)))
            try await finish(3, stage)
            try await finish(1, stage)
            try await wait(for: "the end") { stage.player.snapshot.downloads.isEmpty }
            #expect(stage.readers.suffix(2).map(\.music.number) == [3, 1])
        }
    }

    @Test func `the status says how long the music lasts without the network`() async throws {
        let stage = stage(3) { pieces in for index in 0..<3 { pieces[index].isDurationExact = true } }
        cache.set(whole, of: WebURL("http://music.example/1.mp3"))
        try await playing(stage) { stage in
            try await finish(2, stage)
            try await wait(for: "two tracks") {
                stage.player.snapshot.offlineTime?.left == .seconds(180)
            }
            #expect(stage.player.snapshot.offlineTime?.isEstimate == false)
        }
    }

    @Test func `ahead off ends the download, and a new goal tries again what failed`() async throws {
        let error = MediaError(.httpStatus, "http://music.example/2.mp3", "HTTP 404")
        try await playing(stage(3, ahead: nil) { $0[1].openFailure = error }) { stage in
            stage.player.send(.setAhead(.tracks(2)))
            try await wait(for: "track 3") { stage.ahead == [2, 3] }
            #expect(texts(stage) == ["Downloading ahead: 2 tracks"])
            stage.player.send(.setAhead(nil))
            try await wait(for: "the end") { stage.player.snapshot.downloads.isEmpty }
            #expect(stage.player.snapshot.aheadGoal == nil)
            stage.player.send(.setAhead(.all))
            try await wait(for: "track 2 again") {
                stage.ahead == [2, 3, 2, 3]
            }
            #expect(stage.notices == ["ahead", "ahead", "ahead"])
        }
    }

    @Test func `when no more fits, a word says so, and nothing more is downloaded`() async throws {
        try await playing(stage(3) { $0[1].openFailure = MediaError(.notCached, "2.mp3", "full") }) { stage in
            cache.fill()
            stage.player.send(.setAhead(.all))
            try await wait(for: "the word") { stage.notices.contains("ahead-full") }
            #expect(!stage.ahead.contains(3) && stage.player.snapshot.downloads.isEmpty)
        }
    }

    @Test func `without a cache, the command says why nothing is downloaded, and sets no goal`() async throws
    {
        let piece = FakeMusic(number: 1, frames: 90_000).onTheWeb()
        let stage = Stage([piece], sink: TestSink(allowance: 0), exitsAtEnd: false)
        try await playing(stage) { stage in
            stage.player.send(.setAhead(.all))
            try await wait(for: "the answer") {
                texts(stage).last == "music ahead: can't be downloaded without a cache (leave out --no-cache)"
            }
            #expect(stage.player.snapshot.aheadGoal == nil)
        }
    }

    @Test func `what failed without the network is tried again once it is back`() async throws {
        let network = FakeConnectivity()
        let error = MediaError(.networkUnreachable, "music.example", "no route")
        try await playing(stage(2, connectivity: network) { $0[1].openFailure = error }) { stage in
            try await wait(for: "the failure") {
                stage.ahead == [2] && stage.player.snapshot.downloads.isEmpty
            }
            network.set(offline: true)
            try await wait(for: "the notice") { stage.notices.contains("offline") }
            network.set(offline: false)
            try await wait(for: "another attempt") { stage.ahead == [2, 2] }
        }
    }

    @Test func `nothing goes ahead while the network is metered, with a word at its begin and end`()
        async throws
    {
        try await playing(stage(3)) { stage in
            try await wait(for: "a track ahead") { stage.ahead == [2] }
            stage.player.networkCost(is: .metered)
            try await wait(for: "the word") { stage.notices == ["metered"] }
            try await wait(for: "its end") { stage.readers.last?.isClosed == true }
            #expect(stage.player.snapshot.downloads.map(\.phase) == [.waiting])
            stage.player.networkCost(is: .unmetered)
            for number in 2...3 as ClosedRange<UInt64> { try await finish(number, stage) }
            try await wait(for: "the end") { stage.player.snapshot.downloads.isEmpty }
            #expect(stage.notices == ["metered", "unmetered"])
        }
    }
}
