import Media
import Testing

@testable import TerminalUI

/// Filtering, measured by the number of tracks examined instead of by time.
struct QueueFilterTests {
    private func places(_ state: UIState) -> [Int] {
        (0..<state.queue.list.count).map { state.queue.place(ofRow: $0) }
    }

    @Test func `a hundred thousand tracks are examined in slices, and matches are shown meanwhile`() {
        var state = queueState(100_000)
        state.type("f7")
        // A letter costs one slice, whatever the length of the queue.
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice && state.hasWork)
        #expect(state.queue.list.count > 10)
        let first = state.screen
        #expect(first[0].hasSuffix("\(state.queue.list.count)… of 100000"))
        #expect(first[2].hasPrefix("        7 7 "))
        for step in 2...4 {
            _ = state.apply(.idle)
            #expect(state.queue.filter?.examinedCount == step * QueueFilter.slice)
        }
        #expect(state.finishWork() == 100_000 / QueueFilter.slice - 4)
        // The count of numbers up to 100,000 that contain a 7.
        #expect(state.screen[0].hasSuffix("40951 of 100000"))
        // More letters start again, and keys in between are answered.
        state.type("77")
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice)
        #expect(state.type("\n j").contains(.send(.toggle)))
        state.finishWork()
        #expect(state.queue.list.count == 280)
    }

    @Test func `a snapshot of the same queue costs nothing, and of one with more tracks only those`() {
        var state = queueState(5_000)
        state.type("f.mp3\n")
        state.finishWork()
        state.show { $0.position = .seconds(3) }
        #expect(!state.hasWork && state.queue.list.count == 5_000)
        state.show { $0.tracks = manyTracks(5_100) }
        #expect(state.queue.list.count == 5_000)
        #expect(state.finishWork() == 1 && state.queue.list.count == 5_100)
        // A reordered queue is examined again; the selected row is selected again once it is found.
        state.type("G")
        state.show { ($0.tracks, $0.queueRevision) = ($0.tracks.reversed(), 1) }
        #expect(state.queue.filter?.examinedCount == QueueFilter.slice && state.type("d").isEmpty)
        state.finishWork()
        #expect(state.queue.list.selected == 5_099)
    }

    @Test(
        arguments: [
            ("morning", [0]), ("EDDA", [0]), ("夜", [1]), ("東京 夜", [1]), ("gone", [2]), ("zzz", []),
            // Neither the address nor the album is shown.
            ("music.example", []), ("mp3 morning", []), ("01 m", []), ("album", [3]),
            ("edda morning", [0]), ("morning gone", []), ("gone.MP3", [2]),
            // Tags that were read from the track itself; the name of its file is not shown then.
            ("harbour", [3]), ("jour.mp3", []), ("été", [3]), ("ete", [3]), ("E\u{301}TE\u{301}", [3]),
            ("strasse", [3]), ("STRAßE", [3]), ("étude", []),
        ] as [(String, [Int])]
    )
    func `each word must occur in what is shown, whatever its case and accents`(
        words: String,
        expected: [Int]
    ) {
        var player = sampleSnapshot()
        let tags = TrackTags(title: "L’Été à la Straße", artist: "Harbour", album: "Album")
        player.learned = [Track.ID(4): TrackFacts(tags: tags)]
        var state = screenState(player)
        state.type("f\(words)\n")
        #expect(places(state) == expected)
    }

    @Test(arguments: [("café noir", [0]), ("CAFE", [0]), ("%C3%A9", []), ("fog radio", [1]), ("feed", [])])
    func `a folder is found by its name, unescaped, and an episode by the title of its feed`(
        words: String,
        expected: [Int]
    ) {
        var tracks = [
            track(1, "http://h/Caf%C3%A9%20Noir/1.mp3", seconds: 1),
            track(2, "http://h/feed/2.mp3", TrackTags(title: "Mist", artist: "Fog Radio"), seconds: 1),
        ]
        tracks[1].episode = Episode(feed: "http://h/feed", guid: "2", date: nil, place: 1)
        var state = screenState(queueSnapshot(tracks))
        state.type("f\(words)\n")
        #expect(places(state) == expected)
    }

    @Test func `matches are highlighted, also wide characters and in the selected row`() {
        func highlighted(_ words: String, columns: Int) -> [String] {
            var player = sampleSnapshot()
            player.learned = [
                Track.ID(4): TrackFacts(tags: TrackTags(title: "Un Été, l'été", artist: "Harbour"))
            ]
            var state = fullState(columns: columns, player: player)
            state.type("f\(words)\n")
            let buffer = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
            return state.layout.listRows.prefix(state.queue.list.count).map { row in
                buffer[row: row].filter { $0.style == .prompt }.map(\.text).joined()
            }
        }
        for columns in [80, 120] {
            #expect(highlighted("ete", columns: columns) == ["Étéété"])
            #expect(highlighted("夜", columns: columns) == ["夜"])
            #expect(highlighted("harb un", columns: columns) == ["UnHarb"])
        }
    }

    @Test func `tags that are read later are matched, and earlier matches stay until then`() {
        var state = queueState(5_000)
        state.type("f7\n")
        state.finishWork()
        let count = state.queue.list.count
        state.type("j")
        let selected = state.queue.selectedPlace
        // Track 1 has a 7 now, and the selected row moves by one.
        state.show { player in
            player.learned[player.tracks[0].id] = TrackFacts(tags: TrackTags(title: "Opus 7"))
        }
        #expect(state.hasWork && state.queue.list.count == count)
        #expect(state.finishWork() == 3)
        #expect(state.queue.list.count == count + 1 && state.queue.place(ofRow: 0) == 0)
        #expect(state.queue.selectedPlace == selected)
    }

    @Test func `Esc leaves the filter, then stops the reading of sources, as the status line says`() {
        var state = fullState(player: sampleSnapshot { $0.isReading = true })
        let status = { (state: UIState) in state.screen[state.layout.statusRow ?? 0] }
        #expect(status(state).hasPrefix(" Playing  reading (Esc stops)"))
        state.type("fmorning\n")
        #expect(status(state).hasPrefix(" Playing  reading  filter morning"))
        #expect(state.type("⎋").isEmpty && state.queue.filter == nil)
        #expect(state.type("⎋") == [.send(.stopReading)] && state.answer?.text == "Stopped reading")
        state.show { $0.isReading = false }
        #expect(state.type("⎋").isEmpty)
    }

    @Test func `the status line names the source that is awaited, and has room for the key`() {
        var state = fullState(
            player: sampleSnapshot { ($0.isReading, $0.awaitedSource) = (true, "list.m3u") }
        )
        let status = { (state: UIState) in state.screen[state.layout.statusRow ?? 0] }
        #expect(status(state).hasPrefix(" Playing  reading list.m3u (Esc stops)"))
        state.show { $0.awaitedSource = SafeText(String(repeating: "桜", count: 80)) }
        #expect(status(state).contains("…") && status(state).contains(" (Esc stops)"))
    }

    @Test func `a filter applies while it is typed, Enter keeps it and Esc removes it`() {
        var state = screenState(queueSnapshot(sampleSnapshot().tracks))
        state.type("jjfm")
        #expect(state.prompt?.kind == .filter)
        state.type("orning")
        #expect(places(state) == [0] && state.screen.last == " filter: morning▏")
        // The keys of the list are letters while it is typed.
        #expect(state.type("qd⌫⌫\n").isEmpty && state.prompt == nil && places(state) == [0])
        #expect(state.screen[22].contains("filter morning"))
        // The selected track stays selected when the others are back.
        state.type("⎋")
        #expect(places(state) == [0, 1, 2, 3] && state.queue.list.selected == 0)
        // Cancelling restores the earlier list and selection.
        state.type("jjfedda⎋")
        #expect(places(state) == [0, 1, 2, 3] && state.queue.list.selected == 2)
    }

    @Test func `a row of a filtered list is played, removed and pinned as its own track`() {
        var state = queueState(100)
        state.type("f5\n")
        #expect(places(state).prefix(3) == [4, 14, 24])
        #expect(state.type("j\nP") == [.send(.jump(15)), .send(.setPinned(15, true))])
        // Twice before the next snapshot: never the wrong track.
        #expect(state.type("dd") == [.send(.remove(15)), .send(.remove(24))])
        // The target position would be hidden.
        #expect(state.type("J").isEmpty)
    }

    @Test func `an empty result is shown`() {
        var state = queueState(10)
        state.type("fxyz\n")
        #expect(state.screen[2] == " No match for \"xyz\"" && state.type("d\nP").isEmpty)
    }
}

extension UIState {
    /// Does all work that is left, and returns the number of its slices.
    @discardableResult
    mutating func finishWork() -> Int {
        for slices in 0..<1_000 {
            guard hasWork else { return slices }
            _ = apply(.idle)
        }
        return 1_000
    }
}
