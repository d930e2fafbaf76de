import Media
@testable import TerminalUI
import Testing

/// The keys that act on the selected track or on the marked ones.
struct QueueMarkTests {
    private func numbers(_ ranges: Range<Int>...) -> TrackNumbers { TrackNumbers(places: RangeSet(ranges)) }

    @Test func `marking selects the next row, and marked tracks are removed together`() {
        var state = queueState(10)
        state.type("xxjx")
        #expect(state.queue.marks.count == 3 && state.queue.list.selected == 4)
        let screen = state.screen
        #expect(screen[2] == " •  1 1" && screen[4] == "    3 3")
        #expect(screen[22].contains("3 marked"))
        #expect(state.type("d") == [.send(.remove(numbers(0..<2, 3..<4)))])
        #expect(state.answer?.text == "Removed 3 tracks · u undo")
        // The next key acts on the selected row again.
        #expect(state.queue.marks.isEmpty && state.type("u") == [.send(.undo)])
    }

    @Test func `the selected row has an edge among marked ones, whose background is the same`() {
        var state = queueState(9, current: 0)
        state.type("xx")
        let rows = state.screen
        #expect(rows[2].hasPrefix(" ■ • 1 1") && rows[4] == "▎    3 3" && rows[5] == "     4 4")
        state.type("X")
        #expect(state.screen[4] == "   3 3")
    }

    @Test func `the same key unmarks a track, and Esc unmarks all`() {
        var state = queueState(5)
        for (keys, count) in [("xkx", 0), ("*", 5), ("X", 0), ("*", 5), ("⎋", 0)] {
            state.type(keys)
            #expect(state.queue.marks.count == count, "\(keys)")
        }
    }

    @Test func `all matches of a filter can be marked and removed`() {
        var state = queueState(100)
        state.type("f9\n*⎋")
        #expect(state.queue.marks.count == 19)
        guard case .send(.remove(let removed)) = state.type("d").first else {
            Issue.record("nothing was removed")
            return
        }
        #expect(removed.count == 19 && removed.highest == 99)
    }

    @Test(arguments: [(Key.character("E"), PlayPoint.track), (.control("e"), .album)])
    func `marked tracks play next, or after this album`(key: Key, point: PlayPoint) {
        var state = queueState(10)
        state.type("jxjx")
        #expect(state.apply(.key(key)) == [.send(.playNext(numbers(1..<2, 3..<4), after: point))])
        #expect(state.queue.marks.isEmpty)
        #expect(state.apply(.key(key)) == [.send(.playNext(numbers(4..<5), after: point))])
    }

    @Test func `marked tracks move together, even before the next snapshot`() {
        var state = queueState(10)
        state.type("jjxxx")
        #expect(
            state.type("JJK") == [
                .send(.move(numbers(2..<5), to: 4)), .send(.move(numbers(3..<6), to: 5)),
                .send(.move(numbers(4..<7), to: 4)),
            ]
        )
        #expect(state.queue.list.selected == 3)
        // They stop at the top.
        #expect(state.type("KKKK").count == 3)
    }

    @Test func `marked tracks that are apart are first brought together`() {
        var state = queueState(10)
        let apart = numbers(1..<2, 3..<4)
        let together = numbers(1..<3)
        #expect(state.type("jxjxJJ") == [.send(.move(apart, to: 2)), .send(.move(together, to: 3))])
    }

    @Test func `marks follow their tracks into another order, and disappear with removed tracks`() {
        var state = queueState(6)
        state.type("xx")
        state.show { ($0.tracks, $0.queueRevision) = ($0.tracks.reversed(), 1) }
        #expect(state.type("d") == [.send(.remove(numbers(4..<6)))])
        state.type("x")
        let marked = state.queue.marks
        state.show { player in
            player.tracks.removeAll { marked.contains($0.id) }
            player.queueRevision = 2
        }
        #expect(state.queue.marks.isEmpty)
    }

    @Test func `a key selects the current track and removes a filter that hides it`() {
        var state = queueState(100, current: 50)
        state.type("gf7\ni")
        #expect(state.queue.filter == nil && state.queue.list.selected == 50)
        // A filter that shows the track stays.
        state.type("f5\ngi")
        #expect(state.queue.filter != nil && state.queue.selectedPlace == 50)
        state.type("4i")
        #expect(state.view == .queue)
    }

    @Test(arguments: [("a", "add "), ("w", "save "), ("S", "sort "), (":", "")])
    func `keys for commands with an argument open the command line with the name`(key: String, text: String) {
        var state = queueState(3)
        state.type(key)
        #expect(state.commandLine?.text == text)
    }

    @Test func `marked tracks are pinned together, and unpinned only if all are pinned`() {
        let tracks = manyTracks(5)
        let pinned = Availability(isPinned: true)
        var player = queueSnapshot(tracks)
        player.availability[tracks[1].id] = pinned
        var state = screenState(player)
        #expect(
            state.type("xxxP") == [.send(.setPinned(TrackNumbers(places: RangeSet([0..<1, 2..<3])), true))]
        )
        #expect(state.queue.marks.isEmpty && state.type("P") == [.send(.setPinned(4, true))])
        state.show { $0.availability[tracks[0].id] = pinned }
        #expect(state.type("gxxP") == [.send(.setPinned(TrackNumbers(places: RangeSet(0..<2)), false))])
    }

    @Test func `at most a thousand tracks are pinned at once`() {
        var state = queueState(1_001)
        #expect(state.type("*P").isEmpty && state.queue.marks.count == 1_001)
        #expect(state.answer?.text == "Can't pin 1001 tracks at once (at most 1000)")
        #expect(state.type("xP") == [.send(.setPinned(TrackNumbers(places: RangeSet(1..<1_001)), true))])
    }

    @Test(arguments: ["J", "K"])
    func `moving tracks in a filtered list is refused with advice`(key: String) {
        var state = queueState(20)
        #expect(state.type("f1\nj" + key).isEmpty && state.answer?.isError == true)
        #expect(state.answer?.text.string.hasSuffix("leave the filter first (Esc)") == true)
        // In other views the key has no effect.
        #expect(state.type("2" + key).isEmpty)
        #expect(state.answer?.text == "Can't move rows in this view (1 opens the queue)")
    }
}
