import Media
import Testing

@testable import Playback

/// What plays next, where playing stops, and what was heard.
struct PlayNextTests {
    /// Ten tracks: albums `a` (0..<4) and `b` (4..<7), and three more of `a`; the second one is current.
    private func queue(isShuffled: Bool = false) -> PlayQueue {
        var queue = PlayQueue(seed: 1)
        queue.append(
            "aaaabbbaaa".enumerated().map { index, album in
                let tags = TrackTags(album: SafeText(String(album)))
                return Track(
                    id: Track.ID(UInt64(index)),
                    location: .file("/m/\(album)/\(index).mp3"),
                    tags: tags
                )
            }
        )
        queue.select(1)
        queue.setShuffle(isShuffled)
        return queue
    }

    private func numbers(_ queue: PlayQueue) -> [UInt64] { queue.tracks.map(\.id.value) }

    private func playing(_ queue: PlayQueue) -> [UInt64] {
        var numbers: [UInt64] = []
        var place = queue.next(after: queue.current)
        while let next = place {
            numbers.append(queue.tracks[next].id.value)
            place = queue.next(after: next)
        }
        return numbers
    }

    @Test(
        arguments: [
            (.track, [6..<7], [0, 1, 6, 2, 3, 4, 5, 7, 8, 9]),
            (.track, [0..<1, 3..<4], [1, 0, 3, 2, 4, 5, 6, 7, 8, 9]),
            // The current track stays where it is.
            (.track, [1..<2, 9..<10], [0, 1, 9, 2, 3, 4, 5, 6, 7, 8]),
            (.album, [8..<10], [0, 1, 2, 3, 8, 9, 4, 5, 6, 7]),
            // What is to come after the album is no part of it.
            (.album, [2..<3], [0, 1, 3, 2, 4, 5, 6, 7, 8, 9]),
        ] as [(PlayPoint, [Range<Int>], [UInt64])]
    )
    func `tracks that are to play next stand after the current one, or after its album`(
        point: PlayPoint,
        places: [Range<Int>],
        expected: [UInt64]
    ) {
        var queue = queue()
        queue.playNext(RangeSet(places), after: point, facts: [:])
        #expect(numbers(queue) == expected && queue.currentTrack?.id.value == 1)
        _ = queue.undo()
        #expect(numbers(queue) == Array(0..<10))
    }

    @Test func `in a random order they play next, and the queue stays as it is`() {
        var queue = queue(isShuffled: true)
        queue.playNext(RangeSet([3..<4, 7..<9]), after: .track, facts: [:])
        #expect(numbers(queue) == Array(0..<10) && playing(queue).prefix(3) == [3, 7, 8])
        #expect(Set(playing(queue)).count == 9)
    }

    @Test func `playing stops after the track, and goes on with the next one`() {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        state.send(.ready(2))
        #expect(
            state.send(.stopAfter(.track)).contains(
                .emit(.remark(code: "stop-after", message: "Stops after this track"))
            )
        )
        state.send(.passWritten(1, frames: 1_000), heard: 900)
        let effects = state.send(.drained, heard: 1_000)
        #expect(state.snapshotState == .stopped && state.queue.current == 1 && state.stopPoint == nil)
        #expect(effects.start == nil && !effects.contains(.startOutput))
        #expect(state.send(.play).start?.track.id == Track.ID(2))
    }

    @Test func `a track that is prepared or in the ring already is not heard after the stop`() {
        var state = PlayerState.sounding(3, exitsAtEnd: false)
        state.send(.passWritten(1, frames: 1_000), heard: 500)
        let next = state.lane.prepared?.id ?? 0
        state.send(.ready(next), .passGranted(next, start: 1_000), heard: 500)
        #expect(state.lane.lastGranted?.id == next)
        let effects = state.send(.stopAfter(.track), heard: 500)
        #expect(effects.contains(.cancelPass(next, keepsResource: false)))
        #expect(effects.start?.track.id == Track.ID(1) && effects.start?.position == .milliseconds(500))
    }

    @Test func `playing stops after the album, which may be taken back`() {
        var state = PlayerState(exitsAtEnd: false, seed: 1)
        let tracks = queue().tracks
        state.send(.launched(tracks, start: 3), .ready(1))
        state.sound(1)
        state.send(.stopAfter(.album))
        #expect(!state.stops(after: 2) && state.stops(after: 3) && !state.stops(after: 5))
        state.send(.stopAfter(nil))
        #expect(!state.stops(after: 3))
    }

    @Test func `what a seek passes over was not heard`() throws {
        var state = PlayerState.sounding(2, exitsAtEnd: false)
        state.send(.tick, heard: 2_000)
        #expect(state.heardSpans == HeardSpans([.zero..<(.seconds(2))]))
        let seek = try #require(state.send(.seek(.to(.seconds(7))), heard: 2_000).start)
        state.send(
            .passReady(seek.id, .music(), SeekLanding(frame: 7_000, isExact: true)),
            heard: 2_000
        )
        state.sound(seek.id)
        state.send(.tick, heard: 1_000)
        #expect(state.heardSpans == HeardSpans([.zero..<(.seconds(2)), .seconds(7)..<(.seconds(8))]))
        // The next track begins anew.
        state.send(.next)
        let next = try #require(state.lane.current)
        state.send(.ready(next.id))
        state.sound(next.id)
        #expect(state.heardSpans == HeardSpans())
    }

    private func tracks(
        _ tags: [(artist: String?, year: String?, album: String?, disc: String?, number: String?)]
    )
        -> [Track]
    {
        tags.enumerated().map { index, facts in
            var tags = TrackTags(
                title: SafeText(String(UnicodeScalar(UInt8(ascii: "z") - UInt8(index)))),
                artist: facts.artist.map { SafeText($0) },
                album: facts.album.map { SafeText($0) },
                year: facts.year.map { SafeText($0) },
                number: facts.number.map { SafeText($0) }
            )
            tags.disc = facts.disc.map { SafeText($0) }
            return Track(id: Track.ID(UInt64(index)), location: .file("/m/\(index).mp3"), tags: tags)
        }
    }

    @Test(
        arguments: [
            (.artist, [4, 3, 1, 2, 0, 5]), (.album, [1, 2, 4, 3, 0, 5]), (.year, [4, 3, 0, 1, 2, 5]),
            // Of the first disc, then the second.
            (.track, [1, 4, 0, 3, 2, 5]), (.added, [0, 1, 2, 3, 4, 5]),
        ] as [(SortKey, [UInt64])]
    )
    func `sorting keeps albums in the order of their discs and tracks, not of their titles`(
        key: SortKey,
        expected: [UInt64]
    ) {
        var queue = PlayQueue(seed: 1)
        queue.append(
            tracks([
                ("Edda", "1999", "Waves", nil, "3"), ("Brim", "2001", "Ash", nil, "2"),
                ("Brim", "2001", "Ash", "2/2", "1/9"), ("Alba", "1990", "Noon", nil, "10"),
                ("Alba", "1990", "Noon", "1", "2"), (nil, nil, nil, nil, nil),
            ])
        )
        // What is equal keeps its order.
        queue.sort(by: key, facts: [:])
        #expect(numbers(queue) == expected)
    }

    @Test func `sorting by host keeps the order within each, local files first`() {
        var queue = PlayQueue(seed: 1)
        let sources = ["https://b/2", "https://a/9", "/m/1.mp3", "https://b/1"]
        queue.append(
            sources.enumerated().map { index, source in
                let location = WebURL(source).map { ResourceLocation.web($0) } ?? .file(source)
                return Track(id: Track.ID(UInt64(index)), location: location)
            }
        )
        queue.sort(by: .host, facts: [:])
        #expect(numbers(queue) == [2, 1, 0, 3])
    }
}
