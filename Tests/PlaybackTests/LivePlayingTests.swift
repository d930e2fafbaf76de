import Media
import TestSupport
import Testing

@testable import Playback

@Suite struct LivePlayingTests {
    private func stream(titlesAt offsets: [Int64] = []) -> FakeMusic {
        var piece = FakeMusic(number: 1, frames: 60_000).onTheWeb()
        let titles = offsets.enumerated().map { StreamTitle(offset: $1, text: SafeText("Song \($0 + 1)")) }
        piece.live = LiveReport(station: Station(name: "Radio Test"), titles: titles)
        return piece
    }

    private func heardTitles(_ stage: Stage) -> [String] {
        stage.events.compactMap { if case .track(let report) = $0 { report.tags.title?.string } else { nil } }
    }

    @Test func `a title is shown when its first frame is heard, and not before`() async throws {
        // 4 bytes to a frame: the second title begins at frame 1,000, the third at 1,500.
        let stage = Stage([stream(titlesAt: [0, 4_000, 6_000])], sink: TestSink(allowance: 1_000))
        try await stage.sound(heard: 1_000) { stage in
            try await stage.tick()
            try await wait(for: "the first title") { heardTitles(stage).last == "Song 1" }
            stage.player.send(.volume(7))
            try await wait(for: "an answer") { stage.player.snapshot.volume == 7 }
            #expect(heardTitles(stage).last == "Song 1", "the last frame of the first song is being heard")
            stage.sink.allow(frames: 1)
            try await stage.tick()
            try await wait(for: "the second title") { stage.player.snapshot.info?.tags.title == "Song 2" }
            #expect(heardTitles(stage).last == "Song 2")
            #expect(stage.player.snapshot.info?.tags.album == "Radio Test")
            stage.sink.allow(frames: 1_000)
            try await stage.tick()
            try await wait(for: "the third title") { heardTitles(stage).last == "Song 3" }
        }
    }

    @Test func `a live stream has no length even if a playlist states one, and a reload reconnects`()
        async throws
    {
        let piece = stream()
        var track = piece.track
        track.duration = .seconds(100)
        let stage = Stage([piece], sink: TestSink(allowance: 500), resolver: FixedResolver(tracks: [track]))
        try await stage.sound { stage in
            #expect(stage.player.snapshot.duration == nil)
            guard case .track(let report) = stage.events.last(where: { $0.isTrack }) else {
                Issue.record("no track event")
                return
            }
            #expect(report.isLive && !report.isSeekable && report.duration == nil)
            #expect(report.station == "Radio Test" && report.tags.title == "Radio Test")
            stage.player.send(.reload)
            try await wait(for: "another connection") { stage.readers.count == 2 }
            try await wait(for: "the end of the first") { stage.readers[0].isClosed }
            try await wait(for: "its first read") { stage.readers[1].readOffsets.first == 0 }
        }
    }

    /// The second of two tracks is a live stream, which sounds.
    private func live() -> PlayerState {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        state.send(.launched(numbered(1...2), start: 2), .liveFound(1, Station()), .ready(1))
        state.sound(1)
        return state
    }

    @Test func `a reconnection is reported while music plays, and after a stall by the start of the sink`() {
        let playing = { PlayerEffect.emit(.playing(index: 2, position: .milliseconds($0), isExact: true)) }
        var state = live()
        #expect(state.send(.reconnected(1), heard: 1_000) == [playing(1_000)])
        #expect(state.send(.reconnected(9), heard: 1_500) == [])
        state.send(.outputEvent(.underrun), heard: 4_000)
        #expect(state.send(.reconnected(1), .passPrimed(1), heard: 4_000) == [.startOutput])
        #expect(state.send(.outputStarted, heard: 4_000).contains(playing(4_000)))
    }

    @Test func `each reconnection is found once, and not those before the first look`() {
        var titles = LiveTitles()
        #expect(titles.isReconnected(in: LiveReport(reconnections: 3)) == false)
        #expect(titles.isReconnected(in: LiveReport(reconnections: 5)) == true)
        #expect(titles.isReconnected(in: LiveReport(reconnections: 5)) == false)
    }

    @Test func `a live stream refuses a pin, and other tracks with it are pinned`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.send(.launched(numbered(1...2)), .liveFound(1, Station()), .ready(1))
        let text: SafeText = "Can't pin a live stream (it can't be cached)"
        let refusal = PlayerEffect.emit(.notice(code: "bad-command", message: text))
        #expect(state.send(.pin(nil)) == [refusal] && state.send(.pin(1)) == [refusal])
        let both = TrackNumbers(places: RangeSet(0..<2))
        #expect(state.send(.setPinned(both, true)) == [refusal, .togglePin(numbered(2...2), true)])
        let download = PlayerEffect.download(numbered(2...2), answers: true)
        #expect(state.send(.download(both)).last == download && state.send(.download(1)).count == 1)
    }

    @Test func `a live stream refuses a seek, and previous leads to the track before it`() {
        var state = live()
        #expect(
            state.send(.seek(.to(.seconds(1)))).last
                == .emit(.remark(code: "not-seekable", message: "Can't seek in a live stream"))
        )
        state.send(.previous, heard: 60_000)
        #expect(state.queue.currentTrack?.id.value == 1)
    }

    /// The same, but the server has a part of the stream, of which 60 s had passed when it began.
    private func rewindable() -> PlayerState {
        var state = PlayerState(exitsAtEnd: true, seed: 1)
        var info = StreamInfo.music()
        info.isRewindable = true
        let landing = SeekLanding(frame: info.format.frames(in: .seconds(60)), isExact: true)
        state.send(.launched(numbered(1...2), start: 2), .liveFound(1, Station()))
        state.send(.passReady(1, info, landing))
        state.sound(1)
        return state
    }

    @Test func `in a live stream that the server still has, a seek by a distance keeps its list`() {
        var state = rewindable()
        #expect(state.position == .seconds(60))
        let back = state.send(.seek(.by(.seconds(-15))))
        #expect(back.start?.reusing == 1 && back.start?.position == .seconds(45))
        #expect(back.contains(.cancelPass(1, keepsResource: true)))
        let ahead = state.send(.seek(.by(.seconds(30))))
        #expect(ahead.start?.reusing == 2 && ahead.start?.position == .seconds(75))
        for target in [SeekTarget.to(.seconds(10)), .percent(50)] {
            guard case .emit(.remark("not-seekable", _)) = state.send(.seek(target)).last else {
                Issue.record("\(target) is not refused")
                return
            }
        }
    }

    @Test func `after a pause of five seconds such a stream is opened again for the live sound`() {
        var state = rewindable()
        state.send(.pause, heard: 500)
        let effects = state.send(.play, heard: 500, now: .seconds(6))
        #expect(effects.start?.reusing == nil && effects.start?.position == .zero)
        #expect(effects.contains(.cancelPass(1, keepsResource: false)))
    }

    @Test(arguments: [1, 4, 5, 600])
    func `after a pause of five seconds a live stream continues at the live position`(seconds: Int) {
        var state = live()
        state.send(.pause, heard: 500)
        let effects = state.send(.play, heard: 500, now: .seconds(seconds))
        #expect(effects.contains(.startOutput) == (seconds < 5))
        #expect(effects.contains(.cancelPass(1, keepsResource: false)) == (seconds >= 5))
        #expect(effects.start.map(\.reusing) == (seconds < 5 ? nil : .some(nil)))
    }
}

extension PlayerEvent {
    fileprivate var isTrack: Bool { if case .track = self { true } else { false } }
}
