import Media
@testable import TerminalUI
import Testing

/// The box with the messages over the open view.
struct MessagesViewTests {
    private func state(_ count: Int = 3, columns: Int = 80, rows: Int = 24) -> UIState {
        let messages = (1...count).map { message($0, SafeText("message \($0)")) }
        return fullState(columns: columns, rows: rows, player: sampleSnapshot { $0.messages = messages })
    }

    @Test func `the messages stand in a box over the open view, whose rows stay in view above it`() {
        var state = state()
        let queue = state.screen
        state.type("5")
        let box = state.layout.listRows.suffix(4)
        let heading = state.screen[box.lowerBound]
        #expect(heading.hasPrefix(" ── Messages ─") && heading.count == 79)
        #expect((1...3).allSatisfy { state.screen[box.lowerBound + $0].hasSuffix(" message \($0)") })
        #expect(state.screen[1..<box.lowerBound] == queue[1..<box.lowerBound])
        state.type("3")
        #expect(state.view == .cache)
        state.type("5⎋")
        #expect(state.view == .cache)
    }

    @Test func `the view behind it is grey, without a selected row, and does not end on a lone heading`() {
        let player = queueSnapshot(albumTracks([9, 9, 9]))
        let messages = (1...3).map { message($0, SafeText("message \($0)")) }
        var state = fullState(player: player)
        state.show { $0.messages = messages }
        state.type("jx5")
        let top = state.layout.listRows.upperBound - 4
        let frame = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
        for row in 1..<top {
            let cells = frame[row: row]
            #expect(cells.allSatisfy { $0.style == .faint && $0.ground == .plain }, "\(frame.lines[row])")
            #expect(!frame.lines[row].hasPrefix("▎"))
        }
        // As many rows as show the heading of an album above the box.
        let ends = (1...12).map { count in
            state.show { $0.messages = (1...count).map { message($0, "again") } }
            let screen = state.screen
            let box = screen.firstIndex { $0.hasPrefix(" ── Messages") } ?? 0
            return screen[box - 1]
        }
        #expect(
            !ends.contains { $0.hasPrefix(" Album") }
                && ends.contains { $0.allSatisfy { " │┃".contains($0) } }
        )
    }

    @Test(arguments: ["⎋", "5⎋", "?⎋⎋", "q"])
    func `Esc closes it, also below Help`(keys: String) {
        var state = state()
        state.type("4")
        state.type("5" + keys)
        #expect(keys == "q" ? state.isLeaving : state.view == .network)
    }

    @Test func `the view behind it goes on`() {
        var state = state(1)
        let first = state.type("3")
        #expect(first == [.watchCache(true)] && state.type("5").isEmpty)
        state.showCache(Array(sampleEntries().prefix(1)), revision: 9)
        #expect(state.cache.entries.count == 1)
        #expect(state.type("1") == [.watchCache(false)])
        state.type("25")
        state.show { player in
            player.failures[player.tracks[1].id] = MediaError(.notFound, "a", "gone")
            player.state = .ended
        }
        #expect(state.screen[2...5].contains(" gone"))
    }

    @Test func `errors are red, times grey, and a long list leaves a third of the view`() throws {
        var state = state(100)
        state.show { $0.messages[99].isError = true }
        state.show { $0.messages.append(PlayerMessage(number: 101, time: .zero, text: "bad", isError: true)) }
        state.type("5")
        #expect(state.messages.list.count == 101 && state.messages.list.selected == 100)
        let rows = state.layout.listRows
        #expect(state.messages.list.height == rows.count * 2 / 3 - 1)
        let buffer = ScreenView(glyphs: .unicode, timeOfDay: minutes).draw(state)
        let last = rows.upperBound - 1
        #expect(buffer[column: 1, row: last].style == .dim && buffer[column: 11, row: last].style == .error)
        #expect(buffer[column: 11, row: last - 3].style == .normal)
    }

    @Test func `a click on a message opens them, a click on the hints does not`() {
        var state = state()
        let row = state.layout.rows - 1
        #expect(state.message?.text == "message 3")
        _ = state.apply(.mouse(MouseEvent(.press, column: 20, row: row)))
        #expect(state.view == .messages)
        state.type("⎋")
        _ = state.apply(.mouse(MouseEvent(.press, column: 20, row: row)))
        #expect(state.view == .queue)
    }

    @Test func `a click on either row of a long message opens it, a click above does not`() {
        var state = state()
        let text = SafeText(String(repeating: "long ", count: 20))
        state.show { $0.messages.append(PlayerMessage(number: 4, time: .zero, text: text)) }
        let last = state.layout.rows - 1
        for (row, view) in [(last - 2, ViewName.queue), (last - 1, .messages), (last, .messages)] {
            var clicked = state
            _ = clicked.apply(.mouse(MouseEvent(.press, column: 20, row: row)))
            #expect(clicked.view == view, "\(row)")
        }
    }

    @Test(arguments: [(20, 4), (40, 10), (16, 2), (200, 60)])
    func `any window has room for one message at least, if it has rows for a list`(columns: Int, rows: Int) {
        var state = state(5, columns: columns, rows: rows)
        state.type("5")
        let hasRoom = !state.layout.listRows.isEmpty
        #expect(state.screen.contains { $0.contains("message 5") } == hasRoom)
    }
}
