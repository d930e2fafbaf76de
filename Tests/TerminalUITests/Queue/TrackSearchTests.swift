import Media
import TerminalUI
import Testing

struct TrackSearchTests {
    private func finish(_ state: inout UIState) {
        for _ in 0..<1_000 where state.hasWork { _ = state.apply(.idle) }
    }

    @Test func `each letter selects the first match after the row where the search began`() {
        var state = queueState(1_000)
        state.type("jjj/2")
        #expect(state.queue.list.selected == 11)
        state.type("0")
        #expect(state.queue.list.selected == 19)
        state.type("05")
        #expect(state.queue.list.selected == 3)
        _ = state.apply(.key(.backspace))
        #expect(state.queue.list.selected == 199)
        #expect(ScreenView(glyphs: .unicode).draw(state).lines.last == "/200▏")
        _ = state.apply(.key(.escape))
        #expect(state.queue.list.selected == 3 && state.prompt == nil)
    }

    @Test func `n and N select the next and the previous match and wrap around`() {
        var state = queueState(100)
        state.type("/5\n")
        var seen: [Int] = []
        for _ in 0..<4 {
            state.type("n")
            seen.append(state.queue.list.selected)
        }
        #expect(seen == [14, 24, 34, 44])
        state.type("NNNNN")
        #expect(state.queue.list.selected == 94)
        state.type("n")
        #expect(state.queue.list.selected == 4)
    }

    @Test func `a far match is found in slices, and keys in between are answered`() {
        var state = queueState(100_000)
        state.type("/99999")
        #expect(state.hasWork && state.queue.list.selected == 0)
        #expect(state.type("\n ") == [.send(.toggle)])
        finish(&state)
        #expect(state.queue.list.selected == 99_998)
    }

    @Test func `a search without a match is reported once every row was examined`() {
        var state = queueState(10_000)
        state.type("jj/zzz\n")
        #expect(state.answer == nil)
        finish(&state)
        #expect(state.answer?.text == "No match for \"zzz\"" && state.answer?.isError == true)
        #expect(state.queue.list.selected == 2)
    }

    @Test func `search and filter work as typed commands too`() {
        var state = queueState(100)
        state.type(":search 42\n")
        #expect(state.queue.list.selected == 41)
        state.type(":filter 7\n")
        #expect(state.queue.list.count == 19)
        state.type(":search-next\n")
        #expect(state.answer?.text == "No search yet")
    }

    @Test func `text pasted into a prompt becomes part of it`() {
        var state = queueState(100)
        state.type("/")
        #expect(state.apply(.pasted("42")).isEmpty)
        #expect(state.queue.list.selected == 41)
    }
}
