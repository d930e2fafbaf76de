import Media
import TerminalUI
import Testing

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
        #expect(first[2].hasPrefix("       7 7.mp3"))
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
            ("music.example", [0, 1, 2, 3]), ("mp3 morning", [0]), ("café", []), ("cafe\u{301}", [3]),
            ("jour.mp3", [3]), ("morning gone", []), ("01 m", [0]),
            // Tags that were read from the track itself.
            ("harbour", [3]),
        ] as [(String, [Int])]
    )
    func `each word must occur in title, artist, album or address, whatever its case`(
        words: String,
        expected: [Int]
    ) {
        var player = sampleSnapshot()
        player.learned = [Track.ID(4): TrackFacts(tags: TrackTags(album: "Harbour"))]
        var state = screenState(player)
        state.type("f\(words)\n")
        #expect(places(state) == expected)
    }

    @Test func `a filter applies while it is typed, Enter keeps it and Esc removes it`() {
        var state = screenState(queueSnapshot(sampleSnapshot().tracks))
        state.type("jjfm")
        #expect(state.prompt?.kind == .filter)
        state.type("orning")
        #expect(places(state) == [0] && state.screen.last == "filter: morning▏")
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
