import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct LivePlayingTests {
    private func titles(_ offsets: [Int64]) -> [StreamTitle] {
        offsets.enumerated().map { StreamTitle(offset: $1, text: SafeText("Song \($0 + 1)")) }
    }

    private func stream(_ frames: Int = 60_000, titlesAt offsets: [Int64] = []) -> FakeMusic {
        var piece = FakeMusic(number: 1, frames: frames).onTheWeb()
        piece.live = LiveReport(station: Station(name: "Radio Test"), titles: titles(offsets))
        return piece
    }

    private func heardTitles(_ stage: Stage) -> [String] {
        stage.events.compactMap { if case .track(let report) = $0 { report.tags.title?.string } else { nil } }
    }

    @Test func `a title is shown when its first frame is heard, and not before`() async throws {
        // 4 bytes to a frame: the second title begins at frame 1,000, the third at 1,500.
        let stage = Stage([stream(titlesAt: [0, 4_000, 6_000])], sink: TestSink(allowance: 1_000))
        _ = try await stage.play { stage in
            try await wait(for: "all that may be heard") { stage.sink.heardFrames == 1_000 }
            try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
            stage.clock.advance(by: .milliseconds(250))
            try await wait(for: "the first title") { heardTitles(stage).last == "Song 1" }
            stage.player.send(.volume(7))
            try await wait(for: "an answer") { stage.player.snapshot.volume == 7 }
            #expect(heardTitles(stage).last == "Song 1", "the last frame of the first song is being heard")
            stage.sink.allow(frames: 1)
            try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
            stage.clock.advance(by: .milliseconds(250))
            try await wait(for: "the second title") { heardTitles(stage).last == "Song 2" }
            #expect(stage.player.snapshot.info?.tags.title == "Song 2")
            #expect(stage.player.snapshot.info?.tags.album == "Radio Test")
            stage.sink.allow(frames: 1_000)
            try await wait(for: "the timer") { stage.clock.sleeperCount == 1 }
            stage.clock.advance(by: .milliseconds(250))
            try await wait(for: "the third title") { heardTitles(stage).last == "Song 3" }
        }
    }

    @Test func `a live stream is reported as one and has no length even if a playlist states one`()
        async throws
    {
        var piece = stream()
        piece.frames = 9_000
        var track = piece.track
        track.duration = .seconds(100)
        let stage = Stage([piece], sink: TestSink(allowance: 500), resolver: OneTrack(track: track))
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            #expect(stage.player.snapshot.duration == nil)
            let last = stage.events.last { if case .track = $0 { true } else { false } }
            guard case .track(let report) = last else { return }
            #expect(report.isLive)
            #expect(report.station == "Radio Test")
            #expect(report.tags.title == "Radio Test")
            #expect(report.duration == nil)
            #expect(!report.isSeekable)
        }
    }

    @Test func `a live stream refuses a seek and continues`() async throws {
        let stage = Stage([stream()], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            stage.player.send(.seek(.to(.seconds(1))))
            try await wait(for: "the answer") { stage.story.contains("notice not-seekable") }
            #expect(stage.readers.count == 1)
            #expect(stage.player.snapshot.state == .playing)
        }
    }

    @Test func `reloading a live stream reconnects`() async throws {
        let stage = Stage([stream()], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") { stage.player.snapshot.state == .playing }
            stage.player.send(.reload)
            try await wait(for: "another connection") { stage.readers.count == 2 }
            try await wait(for: "the end of the first") { stage.readers[0].isClosed }
            try await wait(for: "its first read") { stage.readers[1].readOffsets.first == 0 }
        }
    }

    @Test(arguments: [1, 4, 5, 600])
    func `after a pause a live stream continues at the live position`(seconds: Int) async throws {
        let stage = Stage([stream()], sink: TestSink(allowance: 500))
        _ = try await stage.play { stage in
            try await wait(for: "music") {
                stage.player.snapshot.state == .playing && stage.clock.sleeperCount == 1
            }
            stage.player.send(.pause)
            try await wait(for: "the pause") { stage.player.snapshot.state == .paused }
            stage.clock.advance(by: .seconds(seconds))
            stage.player.send(.play)
            stage.sink.allow(frames: 1_000)
            try await wait(for: "music again") {
                stage.sink.heardFrames >= 500 && stage.player.snapshot.state == .playing
            }
            try await wait(for: "the decision") { stage.readers.count == (seconds < 5 ? 1 : 2) }
        }
    }

    @Test func `previous leads from a live stream to the track before it`() {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        let tracks = numbered(1...2)
        state.send(.launched(tracks, start: 2), .liveFound(1, Station()), .ready(1))
        state.sound(1)
        state.send(.previous, heard: 60_000)
        #expect(state.currentTrack?.id == tracks[0].id)
    }
}

private struct OneTrack: TrackResolver {
    let track: Track

    func tracks(for source: String) async throws -> ResolvedTracks { ResolvedTracks(tracks: [track]) }
}
