import Media
import TestSupport
import Testing

@testable import Playback

/// Episodes of podcasts in the queue: their played state and their order.
@Suite struct EpisodeTests {
    private static func episode(_ guid: Int, of feed: String = "http://h/feed", place: Int = 0) -> Episode {
        Episode(feed: feed, guid: "\(guid)", date: nil, place: place)
    }

    /// Tracks 1 to 3 are episodes, track 4 is a song.
    private static let tracks = numbered(1...4).map { track in
        var track = track
        if track.id.value < 4 { track.episode = episode(Int(track.id.value)) }
        return track
    }

    /// The first track sounds, and lasts so long.
    private func sounding(_ tracks: [Track] = tracks, seconds: Int) -> PlayerState {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.send(.launched(tracks), .ready(1, .music(seconds: seconds)))
        state.sound(1)
        return state
    }

    private func played(_ state: PlayerState) -> [UInt64] {
        state.queue.tracks.filter(\.isPlayed).map(\.id.value)
    }

    /// The guids of the episodes that are marked as played (`+`) or not (`-`).
    private func remembered(_ effects: [PlayerEffect]) -> [String] {
        effects.flatMap { effect -> [String] in
            guard case .rememberPlayed(let isPlayed, let episodes) = effect else { return [] }
            return episodes.map { (isPlayed ? "+" : "-") + $0.guid }
        }
    }

    /// The frames of `music` count milliseconds.
    @Test(arguments: [(100, 69_999, 70_000), (40, 19_999, 20_000), (60, 29_999, 30_000)])
    func `an episode is played once it was heard to 30 s before its end, a short one in its second half`(
        seconds: Int,
        before: FrameCount,
        after: FrameCount
    ) {
        var state = sounding(seconds: seconds)
        #expect(remembered(state.send(.tick, heard: before)).isEmpty && played(state).isEmpty)
        let revision = state.queue.revision
        #expect(remembered(state.send(.tick, heard: after)) == ["+1"] && played(state) == [1])
        #expect(state.queue.revision == revision + 1)
        // Only once.
        #expect(remembered(state.send(.tick, heard: after + 1_000)).isEmpty)
    }

    @Test func `a seek to near the end counts once the music there is heard`() {
        var state = sounding(seconds: 100)
        state.send(.seek(.to(.seconds(90))), heard: 10)
        #expect(remembered(state.send(.tick, heard: 10)).isEmpty)
        let landing = SeekLanding(frame: 90_000, isExact: true)
        state.send(.passReady(2, .music(seconds: 100), landing))
        state.sound(2)
        #expect(remembered(state.send(.tick)) == ["+1"])
    }

    @Test func `a seek past the end goes to the next track and does not mark the episode as played`() {
        var state = sounding([Self.tracks[0]], seconds: 100)
        state.send(.seek(.by(.seconds(3_600))), heard: 10_000)
        let landing = SeekLanding(frame: 99_990, isExact: true)
        state.send(.passReady(2, .music(seconds: 100), landing))
        state.sound(2)
        #expect(remembered(state.send(.tick, heard: 5)).isEmpty)
        let effects = state.send(.passWritten(2, frames: 10), .drained, heard: 10)
        #expect(effects.endsTrack && remembered(effects).isEmpty && played(state).isEmpty)
    }

    @Test func `a track that continues where it was left says so`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.queue.memory = FakeMemory(places: [Track.ID(2): .seconds(1_206)])
        state.send(.launched(Self.tracks), .ready(1))
        #expect(state.announcer.messages.isEmpty)
        state.send(.next)
        #expect(state.announcer.messages.map(\.text) == ["Continuing at 20:06 · seek 0 starts over"])
        state.send(
            .passReady(
                2,
                .music(seconds: 3_600),
                SeekLanding(frame: 1_206_000, isExact: true)
            )
        )
        state.send(.seek(.to(.zero)))
        #expect(state.announcer.messages.count == 1)
    }

    @Test func `an episode that ends by itself is played, whatever its length was said to be`() {
        var state = sounding([Self.tracks[0]], seconds: 1_000)
        let effects = state.send(.passWritten(1, frames: 900), .drained, heard: 900)
        #expect(effects.endsTrack && played(state) == [1])
        var skipped = sounding(seconds: 1_000)
        skipped.send(.next, heard: 900)
        #expect(played(skipped).isEmpty)
    }

    /// The played states that the `track` events of these effects have.
    private func announced(_ effects: [PlayerEffect]) -> [Bool] {
        effects.flatMap { if case .answer(let effects) = $0 { effects } else { [$0] } }
            .compactMap { if case .emit(.track(let report)) = $0 { report.isPlayed } else { nil } }
    }

    @Test func `the current episode is announced again when its played state changes`() {
        var state = sounding(seconds: 100)
        #expect(announced(state.send(.status)) == [false])
        #expect(announced(state.send(.tick, heard: 90_000)) == [true])
        #expect(announced(state.send(.status, heard: 90_000)) == [true])
        #expect(announced(state.send(.setPlayed(true, 2), heard: 90_000)).isEmpty)
        #expect(announced(state.send(.setPlayed(false, nil), heard: 90_000)) == [false])
    }

    @Test func `a song is never marked`() {
        var state = sounding(Self.tracks.reversed(), seconds: 100)
        #expect(remembered(state.send(.tick, heard: 90_000)).isEmpty)
        let effects = state.send(.setPlayed(true, 1), heard: 90_000)
        let text: SafeText = "Only episodes of a podcast feed can be marked as played"
        #expect(effects == [.emit(.notice(code: "bad-command", message: text))])
        #expect(played(state).isEmpty)
    }

    @Test func `episodes are marked by hand, with one answer`() {
        var state = sounding(seconds: 100)
        let all = TrackNumbers(places: RangeSet(1..<4))
        let effects = state.send(.setPlayed(true, all))
        #expect(effects.first == .emit(.remark(code: "played", message: "Marked 2 episodes as played")))
        #expect(remembered(effects) == ["+2", "+3"] && played(state) == [2, 3])
        // The current one, and one of which nothing changes.
        #expect(remembered(state.send(.setPlayed(true, nil))) == ["+1"])
        let back = state.send(.setPlayed(false, 2))
        #expect(back.first == .emit(.remark(code: "unplayed", message: "Marked 1 episode as not played")))
        #expect(remembered(back) == ["-2"] && remembered(state.send(.setPlayed(false, 2))).isEmpty)
        let wrong = state.send(.setPlayed(true, 9))
        #expect(wrong == [.emit(.notice(code: "bad-command", message: "No track 9"))])
    }

    @Test func `an episode that is in the queue twice is marked twice`() {
        var again = Self.tracks[0]
        again.id = Track.ID(9)
        var other = Self.tracks[0]
        other.id = Track.ID(10)
        other.episode = Self.episode(1, of: "http://h/other")
        var state = sounding(Self.tracks + [again, other], seconds: 100)
        state.send(.setPlayed(true, 1))
        #expect(played(state) == [1, 9])
    }

    @Test func `what was played in an earlier session is marked when it is added`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.queue.memory = FakeMemory(played: ["2", "4"])
        state.send(.launched(Self.tracks))
        #expect(played(state) == [2])
        var again = Self.tracks[1]
        again.id = Track.ID(9)
        again.episode = Self.episode(4)
        state.send(.added([again], problems: []))
        #expect(played(state) == [2, 9])
    }

    @Test func `the feed's order groups the feeds as they were added, with other tracks last`() {
        let feeds = ["", "b", "a", "b", "", "a"]
        let places = [0, 1, 1, 0, 0, 0]
        var queue = PlayQueue(seed: 1)
        // The sources are read side by side, so that the numbers of the tracks say nothing.
        queue.append(
            zip(numbered((1...6).reversed()), zip(feeds, places)).map { track, row in
                var track = track
                if !row.0.isEmpty { track.episode = Self.episode(0, of: row.0, place: row.1) }
                return track
            }
        )
        queue.sort(by: .feed, facts: [:])
        #expect(queue.tracks.map(\.id.value) == [3, 5, 1, 4, 6, 2])
        queue.shuffleNow()
        queue.sort(by: .feed, facts: [:])
        #expect(queue.tracks.prefix(4).map(\.id.value) == [3, 5, 1, 4])
    }

    @Test func `when the network is lost, episodes that wait for their first bytes are opened again`() {
        var offline = ConnectivityReport()
        offline.isOffline = true
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        state.send(.launched(Self.tracks))
        let again = state.send(.networkChanged(offline))
        #expect(again.contains(.cancelPass(1, keepsResource: false)))
        #expect(again.start?.track.id == Self.tracks[0].id && again.start?.reusing == nil)
        // One that plays is left alone, but the next one is prepared anew.
        var playing = sounding(seconds: 100)
        playing.send(.passWritten(1, frames: 90_000), heard: 100)
        let next = playing.send(.networkChanged(offline), heard: 200)
        #expect(next.contains(.cancelPass(2, keepsResource: false)) && !next.endsTrack)
        #expect(next.start?.track.id == Self.tracks[1].id)
        // For a song there is no other place.
        var song = PlayerState(exitsAtEnd: false, seed: 1)
        song.send(.launched(numbered(1...2)))
        #expect(song.send(.networkChanged(offline)).start == nil)
    }

    @Test func `the tags of a feed take precedence over those of its files, which complete them`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        var tracks = Self.tracks
        for index in tracks.indices { tracks[index].tags = TrackTags(title: "Fog", artist: "Harbour") }
        state.send(.launched(tracks), .ready(1, .music(title: "episode_final_2")))
        #expect(state.described[0].tags.title == "Fog")
        state.send(.jump(4))
        state.send(.ready(2, .music(title: "River")))
        #expect(state.described[3].tags.title == "River")
    }
}
