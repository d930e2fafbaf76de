import Media
@testable import TerminalUI
import Testing

/// Episodes of podcasts in the queue's view.
struct EpisodeRowTests {
    /// Four episodes, of which those with these numbers were played, and a song.
    private func state(played: Set<Int> = [], columns: Int = 80) -> UIState {
        let tracks = (1...5).map { number in
            var track = track(
                UInt64(number),
                "http://h/\(number).mp3",
                TrackTags(title: "Fog"),
                seconds: 60 * number
            )
            guard number < 5 else { return track }
            let date = number == 4 ? nil : InternetDate(seconds: 1_795_392_000 - Int64(number) * 86_400)
            track.episode = Episode(feed: "http://h/feed", guid: "\(number)", date: date, place: number)
            track.isPlayed = played.contains(number)
            return track
        }
        return screenState(queueSnapshot(tracks), columns: columns)
    }

    private func setPlayed(_ isPlayed: Bool, _ places: Range<Int>...) -> [UIAction] {
        [.send(.setPlayed(isPlayed, TrackNumbers(places: RangeSet(places))))]
    }

    @Test func `a row shows the day of its episode and if it was played`() {
        let screen = state(played: [2]).screen
        #expect(screen[1].hasPrefix("   #   TITLE ") && screen[1].hasSuffix("DATE          CACHED      TIME"))
        #expect(screen[3].hasPrefix("   1   Fog ") && screen[3].hasSuffix("2026-11-22    ┈┈┈┈┈┈┈┈┈┈  1:00"))
        #expect(screen[4].hasPrefix(" ✓ 2   Fog ") && screen[4].contains(" 2026-11-21 "))
        #expect(screen[6].hasPrefix("   4   Fog ") && !screen[6].contains("2026"))
        // A narrow window has room for the title first.
        #expect(state(columns: 59).screen[3].hasPrefix("   1   Fog"))
        #expect(queueState(1).screen[2] == "   1 1")
    }

    @Test func `the row that plays shows also that its episode was played`() {
        var state = state(played: [2])
        state.show { ($0.currentIndex, $0.state) = (1, .playing) }
        #expect(state.screen[4].hasPrefix(" ▶ ✓ 2   Fog "))
        state.show { $0.failures[$0.tracks[1].id] = MediaError(.notFound, "x", "gone") }
        state.show { $0.state = .stopped }
        #expect(state.screen[4].hasPrefix(" ✗ ✓ 2"))
        // Marked, its row has three signs, and the numbers of all rows stay below each other.
        state.type("jjx")
        #expect(state.screen[4].hasPrefix(" ✗ • ✓ 2") && state.screen[3].first == " ")
        #expect(state.screen[3].hasPrefix("       1   Fog "))
        state.type("⎋")
        state.show { $0.currentIndex = 0 }
        #expect(state.screen[3].hasPrefix(" ■   1"), "it was not played")
    }

    @Test func `episodes of one feed stand below its title`() {
        var player = state().player
        for index in 0..<4 { player.tracks[index].tags.artist = "Fog Radio" }
        #expect(screenState(player).screen[2].hasPrefix(" Fog Radio ─"))
    }

    @Test(arguments: [
        ("Night Radio", "Radio Test", "Night Radio"), (nil, "Radio Test", "Radio Test"), (nil, nil, "Kepler"),
    ])
    func `a station keeps the name of its list, else its own, and the current title is below`(
        listed: SafeText?,
        own: SafeText?,
        shown: String
    ) {
        var named = track(1, "http://h/listen", TrackTags(title: "Night Radio"), seconds: nil)
        named.tags.title = listed
        var state = screenState(queueSnapshot([named], current: 0))
        state.show { player in
            player.state = .playing
            player.load.live = LiveReport()
            var info = StreamInfo(
                format: AudioFormat(sampleRate: 44_100, channelCount: 2),
                bytesPerSecond: 16_000
            )
            info.tags.title = "Kepler"
            info.tags.album = own
            player.info = info
        }
        #expect(state.screen[2].hasPrefix(" ▶ 1 \(shown)"))
        #expect(state.screen[19].hasPrefix(" ▶ Kepler"))
    }

    @Test func `after the end, the bottom names the last track as its row does`() {
        var state = screenState(
            queueSnapshot([track(1, "http://h/1.mp3", TrackTags(), seconds: nil)], current: 0)
        )
        state.show { player in
            player.state = .ended
            player.learned[player.tracks[0].id] = TrackFacts(tags: TrackTags(title: "Short B"))
        }
        #expect(state.screen[2].contains("Short B") && state.screen[19].contains("Short B"))
    }

    @Test func `the playing view and the facts say when the episode was published, and if it was played`() {
        var state = state(played: [1])
        state.show { $0.currentIndex = 0 }
        state.type("2")
        #expect(state.screen[3] == " 2026-11-22 · played before")
        state.type("I")
        #expect(state.screen.contains(" Published   2026-11-22, played"))
        state.type("I")
        state.show { $0.currentIndex = 3 }
        state.type("I")
        #expect(state.screen.contains(" Published   unknown"))
        state.type("I")
        state.show { $0.currentIndex = 4 }
        state.type("I")
        #expect(!state.screen.contains { $0.contains("Published") })
    }

    @Test func `a key marks the chosen episodes as played, or all as not played if they are`() {
        var state = state(played: [1])
        #expect(state.type("je") == setPlayed(false, 0..<1))
        #expect(state.type("xxe") == setPlayed(true, 0..<2) && state.queue.marks.isEmpty)
        #expect(state.type("je") == setPlayed(true, 3..<4))
        // Nothing happens in other views.
        state.type("3")
        #expect(state.type("e").isEmpty)
    }

    @Test(
        arguments: [
            ("played:no", [0, 2, 3]), ("played:yes", [1]), ("PLAYED:no fog", [0, 2, 3]),
            ("played:no 3.mp3", []),
            ("played:maybe", []), ("fog", [0, 1, 2, 3, 4]),
        ] as [(String, [Int])]
    )
    func `the filter finds episodes by their played state`(text: String, expected: [Int]) {
        var state = state(played: [2])
        state.type("f\(text)\n")
        #expect((0..<state.queue.list.count).map { state.queue.place(ofRow: $0) } == expected)
    }

    @Test func `an episode that is marked disappears from the unplayed ones`() {
        var state = state()
        state.type("fplayed:no\nj")
        state.show { player in
            player.tracks[1].isPlayed = true
            player.queueRevision += 1
        }
        #expect(state.queue.list.count == 3 && state.queue.selectedPlace == 2)
    }
}
