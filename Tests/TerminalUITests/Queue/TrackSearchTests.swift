import Media
@testable import TerminalUI
import Testing

struct TrackSearchTests {
    /// Types each text and compares the selected row after it.
    private func check(_ state: inout UIState, _ steps: [(keys: String, selected: Int)]) {
        for (keys, selected) in steps {
            state.type(keys)
            #expect(state.queue.list.selected == selected, "after \(keys)")
        }
    }

    @Test func `each letter selects the first match after the row where the search began`() {
        var state = queueState(1_000)
        check(&state, [("jjj/2", 11), ("0", 19), ("05", 3), ("⌫", 199)])
        #expect(
            state.screen.last?.hasPrefix(" /200▏  ") == true
                && state.screen.last?.hasSuffix("  1 of 1") == true
        )
        check(&state, [("⎋", 3)])
        #expect(state.prompt == nil)
    }

    @Test func `n and N select the next and the previous match and wrap around`() {
        var state = queueState(100)
        check(&state, [("/5\nn", 14), ("n", 24), ("n", 34), ("n", 44), ("NNNNN", 94), ("n", 4)])
    }

    @Test func `a search says which match it found of how many, and when it goes on at the other end`() {
        var state = queueState(100)
        for (keys, place) in [
            ("/5\n", "1 of 19"), ("n", "2 of 19"), ("N", "1 of 19"),
            ("N", "19 of 19 (from the bottom again)"),
            ("n", "1 of 19 (from the top again)"), ("Gn", "1 of 19 (from the top again)"),
            // From the selected row, wherever it is.
            ("jjN", "1 of 19"),
        ] {
            state.type(keys)
            #expect(state.answer?.text.string == place, "after \(keys)")
        }
    }

    @Test func `three rows above and below a match are in view, and matches are highlighted until Esc`() {
        var state = queueState(100)
        state.type("/61\n")
        #expect(state.queue.list.selected == 60 && state.queue.list.visible.upperBound == 64)
        let highlighted = { (state: UIState) in
            let frame = ScreenView(glyphs: .unicode).draw(state)
            return (0..<24).map { row in
                frame[row: row].filter { $0.style == .prompt }.map(\.text).joined()
            }
            .joined()
        }
        #expect(highlighted(state) == "61")
        state.type("⎋")
        #expect(highlighted(state).isEmpty && state.answer?.text == "Search off")
        state.type("gn")
        #expect(state.queue.list.selected == 60 && highlighted(state) == "61")
    }

    @Test func `a far match is found in slices, and keys in between are answered`() {
        var state = queueState(100_000)
        check(&state, [("/99999", 0)])
        #expect(state.hasWork && state.type("\n ") == [.send(.toggle)])
        state.finishWork()
        #expect(state.queue.list.selected == 99_998)
    }

    @Test func `a search without a match is reported once every row was examined`() {
        var state = queueState(10_000)
        state.type("jj/zzz\n")
        #expect(state.answer == nil)
        state.finishWork()
        #expect(state.answer?.text == "No match for \"zzz\"" && state.answer?.isError == true)
        #expect(state.queue.list.selected == 2)
    }

    @Test func `search and filter work as typed commands too`() {
        var state = queueState(100)
        check(&state, [(":search 42\n", 41)])
        state.type(":filter 7\n")
        #expect(state.queue.list.count == 19)
        state.type(":search-next\n")
        #expect(state.answer?.text == "No search yet")
    }
}
