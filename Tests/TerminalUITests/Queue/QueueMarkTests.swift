import Media
import TerminalUI
import Testing

/// What keys do to one track and to marked ones.
struct QueueMarkTests {
    private func state(_ count: Int, current: Int? = nil) -> UIState {
        var state = UIState(columns: 80, rows: 24)
        _ = state.apply(.snapshot(snapshot(manyTracks(count), current: current)))
        return state
    }

    private func snapshot(_ tracks: [Track], current: Int? = nil, revision: Int = 0) -> PlayerSnapshot {
        var snapshot = PlayerSnapshot()
        snapshot.tracks = tracks
        snapshot.currentIndex = current
        snapshot.queueRevision = revision
        return snapshot
    }

    private func numbers(_ ranges: [Range<Int>]) -> TrackNumbers { TrackNumbers(places: RangeSet(ranges)) }

    @Test func `marking goes on to the next row, and the marked are removed together`() {
        var state = state(10)
        state.type("xxjx")
        #expect(state.queue.marks.count == 3 && state.queue.list.selected == 4)
        let screen = ScreenView(glyphs: .unicode).draw(state).lines
        #expect(screen[2].hasPrefix(" • 1 1.mp3") && screen[4].hasPrefix("   3 3.mp3"))
        #expect(screen[22].contains("3 marked"))
        #expect(state.type("d") == [.send(.remove(numbers([0..<2, 3..<4])))])
        #expect(state.answer?.text == "Removed 3 tracks · u undo")
        // The next key is about the selected row again.
        #expect(state.queue.marks.isEmpty)
        #expect(state.type("u") == [.send(.undo)])
    }

    @Test func `a mark is let go of by the same key, and all by Esc`() {
        var state = state(5)
        state.type("xkx")
        #expect(state.queue.marks.isEmpty)
        state.type("*")
        #expect(state.queue.marks.count == 5)
        state.type("X")
        #expect(state.queue.marks.isEmpty)
        state.type("*")
        _ = state.apply(.key(.escape))
        #expect(state.queue.marks.isEmpty)
    }

    @Test func `all that a filter shows can be marked, and is what goes`() {
        var state = state(100)
        state.type("f9\n*")
        _ = state.apply(.key(.escape))
        #expect(state.queue.marks.count == 19)
        guard case .send(.remove(let removed)) = state.type("d").first else {
            Issue.record("nothing was removed")
            return
        }
        #expect(removed.count == 19 && removed.highest == 99)
    }

    @Test func `marked tracks move together, also while the player has not told of it yet`() {
        var state = state(10)
        state.type("jjxxx")
        #expect(
            state.type("JJK") == [
                .send(.move(numbers([2..<5]), to: 4)), .send(.move(numbers([3..<6]), to: 5)),
                .send(.move(numbers([4..<7]), to: 4)),
            ]
        )
        #expect(state.queue.list.selected == 3)
        #expect(state.type("KKK").count == 3)
        // At the top it ends.
        #expect(state.type("K").isEmpty)
    }

    @Test func `marked tracks that stand apart come together first`() {
        var state = state(10)
        state.type("jxjx")
        #expect(state.type("J") == [.send(.move(numbers([1..<2, 3..<4]), to: 2))])
        #expect(state.type("J") == [.send(.move(numbers([1..<3]), to: 3))])
    }

    @Test func `marks stay with their tracks in another order, and go with removed ones`() {
        var state = state(6)
        state.type("xx")
        var tracks = manyTracks(6)
        tracks.reverse()
        _ = state.apply(.snapshot(snapshot(tracks, revision: 1)))
        #expect(state.type("d") == [.send(.remove(numbers([4..<6])))])
        state.type("x")
        let marked = state.queue.marks
        _ = state.apply(.snapshot(snapshot(tracks.filter { !marked.contains($0.id) }, revision: 2)))
        #expect(state.queue.marks.isEmpty)
    }

    @Test func `a key goes to what is playing, past any filter`() {
        var state = state(100, current: 50)
        state.type("gf7\n")
        state.type("i")
        #expect(state.queue.filter == nil && state.queue.list.selected == 50)
        // A filter that shows it stays.
        state.type("f5\ngi")
        #expect(state.queue.filter != nil && state.queue.selectedPlace == 50)
        state.type("4i")
        #expect(state.view == .queue)
    }

    @Test(
        arguments: [
            ("a", "add "), ("w", "save "), ("S", "sort "), (":", ""),
        ]
    )
    func `keys for commands with words open the command line with theirs`(key: String, text: String) {
        var state = state(3)
        state.type(key)
        #expect(state.commandLine?.text == text)
    }

    @Test func `sorting, shuffling, undoing and clearing are commands and keys`() {
        var state = state(3)
        #expect(state.type("Stitle\n").contains(.send(.sort(.title))))
        #expect(state.type("Z") == [.send(.shuffleNow)])
        #expect(state.type(":shuffle now\n").contains(.send(.shuffleNow)))
        #expect(state.type(":clear\n").contains(.send(.clear)))
        #expect(state.type("C") == [.send(.clear)])
        #expect(state.type("u") == [.send(.undo)])
        #expect(state.type(":remove 1-2\n").contains(.send(.remove(numbers([0..<2])))))
    }

    @Test func `marked tracks are pinned together, and let go of only where all are pinned`() {
        var player = snapshot(manyTracks(5))
        let pinned = Availability(storedBytes: 0, length: nil, isPinned: true)
        player.availability[manyTracks(5)[1].id] = pinned
        var state = UIState(columns: 80, rows: 24)
        _ = state.apply(.snapshot(player))
        state.type("xxx")
        #expect(state.type("P") == [.send(.pin(1)), .send(.pin(3))])
        #expect(state.queue.marks.isEmpty && state.type("P") == [.send(.pin(4))])
        player.availability[manyTracks(5)[0].id] = pinned
        _ = state.apply(.snapshot(player))
        state.type("gxx")
        #expect(state.type("P") == [.send(.pin(1)), .send(.pin(2))])
    }

    @Test func `a thousand tracks are pinned at once, and no more`() {
        var state = state(1_001)
        #expect(state.type("*P").isEmpty)
        #expect(state.answer?.text == "Can't pin 1001 tracks at once (at most 1000)")
        #expect(state.queue.marks.count == 1_001)
        #expect(state.type("xP").count == 1_000)
    }

    @Test(arguments: ["J", "K"])
    func `where a filter hides what lies between, moving says what to do`(key: String) {
        var state = state(20)
        state.type("f1\nj")
        #expect(state.type(key).isEmpty)
        #expect(
            state.answer?.isError == true
                && state.answer?.text.string.hasSuffix("leave the filter first (Esc)") == true
        )
        // Elsewhere the key is about nothing.
        state.type("2")
        #expect(state.type(key).isEmpty && state.answer == nil)
    }
}
