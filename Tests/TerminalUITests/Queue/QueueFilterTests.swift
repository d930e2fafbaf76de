import Media
import TerminalUI
import Testing

/// Filtering and searching, by how many tracks are looked at, and never by the clock.
struct QueueFilterTests {
    private func state(_ tracks: [Track], rows: Int = 24, revision: Int = 0) -> UIState {
        var state = UIState(columns: 80, rows: rows)
        _ = state.apply(.snapshot(snapshot(tracks, revision: revision)))
        return state
    }

    private func snapshot(_ tracks: [Track], revision: Int = 0) -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        snapshot.tracks = tracks
        snapshot.queueRevision = revision
        return snapshot
    }

    private func places(_ state: UIState) -> [Int] {
        (0..<state.queue.list.count).map { state.queue.place(ofRow: $0) }
    }

    private func finish(_ state: inout UIState) -> Int {
        var slices = 0
        while state.hasWork, slices < 1_000 {
            _ = state.apply(.idle)
            slices += 1
        }
        return slices
    }

    @Test func `a hundred thousand tracks are looked through in slices, with what is found shown meanwhile`()
    {
        var state = state(manyTracks(100_000))
        state.type("f7")
        // A letter costs one slice, whatever the length of the queue.
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice)
        #expect(state.hasWork)
        #expect(state.queue.list.count > 10)
        let first = ScreenView(glyphs: .unicode).draw(state).lines
        #expect(first[0].hasSuffix("\(state.queue.list.count)… of 100000"))
        #expect(first[2].hasPrefix("       7 7.mp3"))
        for step in 2...4 {
            _ = state.apply(.idle)
            #expect(state.queue.filter?.examinedCount == step * QueueFilter.slice)
        }
        #expect(finish(&state) == 100_000 / QueueFilter.slice - 4)
        // So many numbers up to 100,000 have a 7 in them.
        #expect(ScreenView(glyphs: .unicode).draw(state).lines[0].hasSuffix("40951 of 100000"))
        // More letters begin anew, and keys in between are answered.
        state.type("77")
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice)
        #expect(state.type("\n j").contains(.send(.toggle)))
        _ = finish(&state)
        #expect(state.queue.list.count == 280)
    }

    @Test
    func
        `nothing is looked at again for a new snapshot of the same queue, and only what was added for a longer one`()
    {
        var state = state(manyTracks(5_000))
        state.type("f.mp3\n")
        _ = finish(&state)
        var next = snapshot(manyTracks(5_000))
        next.position = .seconds(3)
        _ = state.apply(.snapshot(next))
        #expect(!state.hasWork && state.queue.list.count == 5_000)
        _ = state.apply(.snapshot(snapshot(manyTracks(5_100))))
        #expect(state.queue.list.count == 5_000)
        #expect(finish(&state) == 1)
        #expect(state.queue.list.count == 5_100)
        // In another order all of it is another queue; the selected row is selected again when it is there.
        state.type("G")
        _ = state.apply(.snapshot(snapshot(Array(manyTracks(5_100).reversed()), revision: 1)))
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice)
        #expect(state.type("d").isEmpty)
        _ = finish(&state)
        #expect(state.queue.list.selected == 5_099)
    }

    @Test(
        arguments: [
            ("morning", [0]), ("EDDA", [0]), ("夜", [1]), ("東京 夜", [1]), ("gone", [2]),
            ("music.example", [0, 1, 2, 3]),
            ("mp3 morning", [0]), ("café", []), ("cafe\u{301}", [3]), ("jour.mp3", [3]), ("morning gone", []),
            ("01 m", [0]), ("zzz", []),
        ] as [(String, [Int])]
    )
    func `each word must occur in title, artist or address, whatever its case`(text: String, expected: [Int])
    {
        var state = state(sampleSnapshot().tracks)
        state.type("f" + text + "\n")
        #expect(places(state) == expected)
    }

    @Test func `what music said of itself is looked through too`() {
        var player = sampleSnapshot()
        player.learned = [Track.ID(4): TrackFacts(tags: TrackTags(title: "Nocturne", album: "Harbour"))]
        var state = UIState(columns: 80, rows: 24)
        _ = state.apply(.snapshot(player))
        state.type("fharbour\n")
        #expect(places(state) == [3])
    }

    @Test func `a filter is live while it is typed, stays with Enter and goes with Esc`() {
        var state = state(sampleSnapshot().tracks)
        state.type("jjfm")
        #expect(state.prompt?.kind == .filter)
        state.type("orning")
        #expect(places(state) == [0])
        #expect(ScreenView(glyphs: .unicode).draw(state).lines.last == "filter: morning▏")
        // The keys of the list are letters while it is typed.
        #expect(state.type("qd").isEmpty)
        for _ in 0..<2 { _ = state.apply(.key(.backspace)) }
        state.type("\n")
        #expect(state.prompt == nil && places(state) == [0])
        #expect(ScreenView(glyphs: .unicode).draw(state).lines[22].contains("filter morning"))
        // What is selected stays selected when the others are back.
        _ = state.apply(.key(.escape))
        #expect(places(state) == [0, 1, 2, 3] && state.queue.list.selected == 0)
        // Cancelled while it is typed, all is as it was.
        state.type("jjfedda")
        _ = state.apply(.key(.escape))
        #expect(places(state) == [0, 1, 2, 3] && state.queue.list.selected == 2)
    }

    @Test func `a filtered row is played, removed and pinned as the track that it is`() {
        var state = state(manyTracks(100))
        state.type("f5\n")
        #expect(places(state).prefix(3) == [4, 14, 24])
        #expect(state.type("j\n") == [.send(.jump(15))])
        #expect(state.type("P") == [.send(.pin(15))])
        // Twice, before the player has told of the first: never the wrong one.
        #expect(state.type("dd") == [.send(.remove(15)), .send(.remove(24))])
        // Where it would land is not to be seen.
        #expect(state.type("J").isEmpty)
    }

    @Test func `nothing that matches is said`() {
        var state = state(manyTracks(10))
        state.type("fxyz\n")
        #expect(ScreenView(glyphs: .unicode).draw(state).lines[2] == " No match for \"xyz\"")
        #expect(state.type("d\nP").isEmpty)
    }
}
