import Media
import TerminalUI
import Testing

/// The keys that act on the selected track or on the marked ones.
struct QueueMarkTests {
    private func numbers(_ ranges: [Range<Int>]) -> TrackNumbers { TrackNumbers(places: RangeSet(ranges)) }

    @Test func `marking selects the next row, and marked tracks are removed together`() {
        var state = queueState(10)
        state.type("xxjx")
        #expect(state.queue.marks.count == 3 && state.queue.list.selected == 4)
        let screen = ScreenView(glyphs: .unicode).draw(state).lines
        #expect(screen[2].hasPrefix(" • 1 1.mp3") && screen[4].hasPrefix("   3 3.mp3"))
        #expect(screen[22].contains("3 marked"))
        #expect(state.type("d") == [.send(.remove(numbers([0..<2, 3..<4])))])
        #expect(state.answer?.text == "Removed 3 tracks · u undo")
        // The next key acts on the selected row again.
        #expect(state.queue.marks.isEmpty)
        #expect(state.type("u") == [.send(.undo)])
    }

    @Test func `the same key unmarks a track, and Esc unmarks all`() {
        var state = queueState(5)
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

    @Test func `all matches of a filter can be marked and removed`() {
        var state = queueState(100)
        state.type("f9\n*")
        _ = state.apply(.key(.escape))
        #expect(state.queue.marks.count == 19)
        guard case .send(.remove(let removed)) = state.type("d").first else {
            Issue.record("nothing was removed")
            return
        }
        #expect(removed.count == 19 && removed.highest == 99)
    }

    @Test func `marked tracks move together, even before the next snapshot`() {
        var state = queueState(10)
        state.type("jjxxx")
        #expect(
            state.type("JJK") == [
                .send(.move(numbers([2..<5]), to: 4)), .send(.move(numbers([3..<6]), to: 5)),
                .send(.move(numbers([4..<7]), to: 4)),
            ]
        )
        #expect(state.queue.list.selected == 3)
        #expect(state.type("KKK").count == 3)
        // They stop at the top.
        #expect(state.type("K").isEmpty)
    }

    @Test func `marked tracks that are apart are first brought together`() {
        var state = queueState(10)
        state.type("jxjx")
        #expect(state.type("J") == [.send(.move(numbers([1..<2, 3..<4]), to: 2))])
        #expect(state.type("J") == [.send(.move(numbers([1..<3]), to: 3))])
    }

    @Test func `marks follow their tracks into another order, and disappear with removed tracks`() {
        var state = queueState(6)
        state.type("xx")
        var tracks = manyTracks(6)
        tracks.reverse()
        _ = state.apply(.snapshot(queueSnapshot(tracks, revision: 1)))
        #expect(state.type("d") == [.send(.remove(numbers([4..<6])))])
        state.type("x")
        let marked = state.queue.marks
        _ = state.apply(.snapshot(queueSnapshot(tracks.filter { !marked.contains($0.id) }, revision: 2)))
        #expect(state.queue.marks.isEmpty)
    }

    @Test func `a key selects the current track and removes a filter that hides it`() {
        var state = queueState(100, current: 50)
        state.type("gf7\n")
        state.type("i")
        #expect(state.queue.filter == nil && state.queue.list.selected == 50)
        // A filter that shows the track stays.
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
    func `keys for commands with an argument open the command line with the name`(key: String, text: String) {
        var state = queueState(3)
        state.type(key)
        #expect(state.commandLine?.text == text)
    }

    @Test func `marked tracks are pinned together, and unpinned only if all are pinned`() {
        var player = queueSnapshot(manyTracks(5))
        let pinned = Availability(storedBytes: 0, length: nil, isPinned: true)
        player.availability[manyTracks(5)[1].id] = pinned
        var state = screenState(player)
        state.type("xxx")
        #expect(state.type("P") == [.send(.pin(1)), .send(.pin(3))])
        #expect(state.queue.marks.isEmpty && state.type("P") == [.send(.pin(4))])
        player.availability[manyTracks(5)[0].id] = pinned
        _ = state.apply(.snapshot(player))
        state.type("gxx")
        #expect(state.type("P") == [.send(.pin(1)), .send(.pin(2))])
    }

    @Test func `at most a thousand tracks are pinned at once`() {
        var state = queueState(1_001)
        #expect(state.type("*P").isEmpty)
        #expect(state.answer?.text == "Can't pin 1001 tracks at once (at most 1000)")
        #expect(state.queue.marks.count == 1_001)
        #expect(state.type("xP").count == 1_000)
    }

    @Test(arguments: ["J", "K"])
    func `moving tracks in a filtered list is refused with advice`(key: String) {
        var state = queueState(20)
        state.type("f1\nj")
        #expect(state.type(key).isEmpty)
        #expect(
            state.answer?.isError == true
                && state.answer?.text.string.hasSuffix("leave the filter first (Esc)") == true
        )
        // In other views the key has no effect.
        state.type("2")
        #expect(state.type(key).isEmpty && state.answer == nil)
    }
}
