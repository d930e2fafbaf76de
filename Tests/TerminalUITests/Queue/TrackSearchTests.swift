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
        #expect(state.screen.last == "/200▏")
        check(&state, [("⎋", 3)])
        #expect(state.prompt == nil)
    }

    @Test func `n and N select the next and the previous match and wrap around`() {
        var state = queueState(100)
        check(&state, [("/5\nn", 14), ("n", 24), ("n", 34), ("n", 44), ("NNNNN", 94), ("n", 4)])
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
