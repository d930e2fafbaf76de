import Media
import Testing

@testable import TerminalUI

/// Headings on the screen, and the keys on them.
struct QueueHeadingTests {
    private func state(_ sizes: [Int], current: Int? = nil, columns: Int = 80, rows: Int = 24) -> UIState {
        screenState(queueSnapshot(albumTracks(sizes), current: current), columns: columns, rows: rows)
    }

    private let episode = Episode(feed: "f", guid: "g", date: nil, place: 0)

    private func numbers(_ ranges: Range<Int>...) -> TrackNumbers { TrackNumbers(places: RangeSet(ranges)) }

    @Test func `a heading names the album, the artist, the year, and the length of its tracks`() {
        let screen = state([2, 1]).screen
        let rule = String(repeating: "─", count: 37)
        #expect(screen[2] == " Album 0  Artist 0 · 2000 \(rule) 2 tracks · 2:00")
        #expect(screen[3].hasPrefix("   1   Song 1 "))
        // A track in no group is not indented: the group before it has ended.
        #expect(screen[5].hasPrefix("   3 Song 1 "))
        // Without the album: the folder.
        var untagged = albumTracks([2])
        for index in untagged.indices { untagged[index].tags = TrackTags() }
        untagged[1].duration = nil
        let folder = screenState(queueSnapshot(untagged)).screen[2]
        #expect(folder.hasPrefix(" 0 ─") && folder.hasSuffix("─ 2 tracks · ~1:00"))
        // A narrow window keeps the name.
        #expect(state([2], columns: 24, rows: 10).screen[1] == " Album 0")
    }

    @Test func `the keys on a heading act on all of its tracks`() {
        for (keys, expected) in [
            ("\n", PlayerCommand.jump(3)), ("d", .remove(numbers(2..<5))),
            ("P", .setPinned(numbers(2..<5), true)),
            ("D", .download(numbers(2..<5))), ("e", .setPlayed(true, numbers(2..<5))),
        ] {
            var state = state([2, 3])
            // Tracks that are no episodes are neither played nor not.
            if keys == "e" { state.show { for place in 0..<5 { $0.tracks[place].episode = episode } } }
            state.type("jjj")
            #expect(state.queue.selectedItem == .heading(2..<5))
            #expect(state.type(keys) == [.send(expected)], "\(keys)")
        }
        for point in [PlayPoint.track, .album] {
            var state = state([2, 3])
            state.type("jjj")
            let key = point == .track ? Key.character("E") : .control("e")
            #expect(state.apply(.key(key)) == [.send(.playNext(numbers(2..<5), after: point))])
        }
        var state = state([2, 3, 1])
        state.type("x")
        #expect(state.queue.marks.count == 2 && state.queue.selectedItem == .heading(2..<5))
        state.type("x")
        #expect(state.queue.marks.count == 5 && state.queue.selectedItem == .track(5))
        state.type("gx")
        #expect(state.queue.marks.count == 3)
    }

    @Test func `a heading moves its group past the next one, even before the next snapshot`() {
        var state = state([2, 3, 1])
        #expect(
            state.type("JJJ") == [
                .send(.move(numbers(0..<2), to: 4)), .send(.move(numbers(3..<5), to: 5)),
            ]
        )
        #expect(state.answer?.text == "Can't move further")
        #expect(state.type("KK").last == .send(.move(numbers(3..<5), to: 1)))
        state.type("J")
        state.show { player in
            player.tracks = Array(player.tracks[2..<5] + player.tracks[..<2] + player.tracks[5...])
            player.queueRevision += 1
        }
        #expect(state.queue.selectedItem == .heading(3..<5))
    }

    @Test func `the key after a move of a group acts on that group, unless another row was selected`() {
        for (keys, expected) in [
            ("\n", PlayerCommand.jump(4)), ("d", .remove(numbers(3..<5))), ("D", .download(numbers(3..<5))),
        ] {
            var state = state([2, 3, 1])
            #expect(state.type("J" + keys).last == .send(expected), "\(keys)")
        }
        for (event, expected) in [
            // On the second track of the second group, and on its heading.
            (MouseEvent(.press, column: 5, row: 7), numbers(3..<4)),
            (MouseEvent(.press, column: 5, row: 5), numbers(2..<5)),
        ] {
            var state = state([2, 3, 1])
            state.type("J")
            _ = state.apply(.mouse(event))
            #expect(state.type("d") == [.send(.remove(expected))])
        }
        // The selection stays where it was clicked when the move is shown.
        var state = state([2, 3, 1])
        state.type("J")
        _ = state.apply(.mouse(MouseEvent(.press, column: 5, row: 9)))
        state.show { player in
            player.tracks = Array(player.tracks[2..<5] + player.tracks[..<2] + player.tracks[5...])
            player.queueRevision += 1
        }
        #expect(state.queue.selectedItem == .track(5))
    }

    @Test func `a removed group is removed once, however fast the key is pressed`() {
        var state = state([2, 3])
        #expect(state.type("dd") == [.send(.remove(numbers(0..<2)))])
        state.show { player in
            player.tracks.removeFirst(2)
            player.queueRevision += 1
        }
        #expect(state.type("d") == [.send(.remove(numbers(0..<3)))])
    }

    @Test func `a folded group shows its heading only, and unfolds for the playing track and for a match`() {
        var state = state([2, 3, 1], current: 0)
        state.type("jjjz")
        #expect(state.queue.list.count == 5 && state.queue.selectedItem == .heading(2..<5))
        #expect(state.screen[5].hasPrefix(" ▸ Album 1  ") && state.screen[6].hasPrefix("   6 Song 1"))
        // The selection does not follow the music, so the group stays folded while it plays.
        state.show { $0.currentIndex = 2 }
        #expect(state.queue.list.count == 5 && state.screen[5].hasPrefix(" ■ Album 1"))
        state.type("i")
        #expect(state.queue.list.count == 8 && state.queue.selectedPlace == 2)
        state.type("z/song 3\n")
        #expect(state.queue.selectedPlace == 4 && state.queue.list.count == 8)
        // Now it follows the music into a folded group.
        state.type("gzGi")
        state.show { $0.currentIndex = 0 }
        #expect(state.queue.selectedPlace == 0 && state.queue.list.count == 8)
        state.type("Gz")
        #expect(state.answer?.text == "This track is in no group")
    }

    @Test func `a heading is no match of a search, and has no number`() {
        var state = state([2, 3])
        state.type("/album\n")
        #expect(state.queue.selectedPlace == 0 && state.answer?.text == "1 of 5")
        state.type("nn")
        #expect(state.queue.selectedPlace == 2 && state.answer?.text == "3 of 5")
        state.type("fsong 3\n")
        #expect(state.queue.list.count == 1 && state.queue.item(ofRow: 0) == .track(4))
    }

    @Test func `what is selected stays where it is on the screen when headings appear above`() {
        var player = queueSnapshot(albumTracks(Array(repeating: 5, count: 1_000)))
        for index in player.tracks.indices { player.tracks[index].tags = TrackTags() }
        var state = screenState(player)
        state.type("G")
        let line = state.queue.list.selected - state.queue.list.top
        state.finishWork()
        #expect(state.queue.selectedPlace == 4_999 && state.queue.list.count == 6_000)
        #expect(state.queue.list.selected - state.queue.list.top == line)
    }
}
