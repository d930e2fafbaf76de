import Media
@testable import TerminalUI
import Testing

/// Searching, filtering and sorting act on the view in which they are typed, or say that they do not.
struct ViewSearchTests {
    @Test func `a search in the cache selects its next match, and n and N repeat it`() {
        var state = fullState()
        state.type("3/music\n")
        #expect(state.view == .cache && state.cache.list.selected == 0)
        state.type("n")
        #expect(state.cache.list.selected == 1)
        state.type("nn")
        #expect(state.cache.list.selected == 0, "it wraps around")
        state.type("N")
        #expect(state.cache.list.selected == 2)
        state.type("/zzz\n")
        #expect(state.answer?.text == "No match for \"zzz\"" && state.cache.list.selected == 2)
        state.type("/mor")
        #expect(state.cache.list.selected == 1)
        state.type("⎋")
        #expect(state.cache.list.selected == 2 && state.queue.list.selected == 1)
    }

    @Test func `a filter in the cache shows its matches, and the next key acts on them`() {
        var state = fullState()
        state.type("3fmorning\n")
        #expect(state.view == .cache && state.queue.filter == nil)
        #expect(state.cache.entries.map(\.id.value) == [8])
        #expect(state.screen[0].hasSuffix(" 1 of 3"))
        #expect(state.type("P") == [.setPinned(CachedItem.ID(8), false)])
        // A new report is filtered too.
        state.showCache(sampleEntries().reversed(), revision: 2)
        #expect(state.cache.entries.map(\.id.value) == [8])
        state.type(":filter zzz\n")
        #expect(state.screen[2] == " No match for \"zzz\"")
        state.type("⎋")
        #expect(state.view == .cache && state.cache.entries.count == 3)
        state.type("⎋")
        #expect(state.view == .queue)
    }

    @Test func `requests and messages are searched by their words`() {
        var state = fullState()
        state.type("4g/prefetch\n")
        #expect(state.network.list.selected == 2)
        state.type("n")
        #expect(state.network.list.selected == 5)
        state.show {
            $0.messages = ["a", "bee", "c"].enumerated().map { message($0.offset + 1, $0.element) }
        }
        state.type("5/BEE\n")
        #expect(state.view == .messages && state.messages.list.selected == 1)
    }

    @Test func `a search without a match is over, whatever rows come later`() {
        var state = fullState()
        state.show { $0.messages = [message(1, "a"), message(2, "b")] }
        state.type("5g/zzz\n")
        #expect(state.answer?.text == "No match for \"zzz\"")
        let selected = state.messages.list.selected
        state.show { $0.messages.append(message(3, "zzz")) }
        _ = state.apply(.idle)
        #expect(state.messages.list.selected == selected)
    }

    @Test(arguments: [
        ("4f", "Can't filter this view (1 opens the queue)"),
        ("5f", "Can't filter this view (1 opens the queue)"),
        ("2/", "Can't search this view (1 opens the queue)"),
        ("2f", "Can't filter this view (1 opens the queue)"),
        ("3S", "Can't sort this view (1 opens the queue)"),
        ("2S", "Can't sort this view (1 opens the queue)"),
        ("3:sort title\n", "Can't sort this view (1 opens the queue)"),
        ("3x", "Can't mark rows in this view (1 opens the queue)"),
        ("3J", "Can't move rows in this view (1 opens the queue)"),
        ("5d", "Can't remove from this view (1 opens the queue)"),
        ("4\n", "Can't play from this view (1 opens the queue)"),
        ("2P", "Can't pin from this view (1 opens the queue)"),
    ])
    func `a view says what it does not do, and changes nothing`(keys: String, answer: SafeText) {
        var state = fullState()
        let actions = state.type(keys)
        #expect(actions.allSatisfy { $0 == .watchCache(true) || $0 == .remember("sort title") })
        #expect(state.answer?.text == answer && state.prompt == nil)
        #expect(state.view != .queue && state.queue.list.selected == 1)
    }

    @Test(arguments: ["1", "3", "4"])
    func `a search in an empty list says that nothing matches`(view: String) {
        var state = screenState(PlayerSnapshot())
        state.type(view + "/zzz\n")
        #expect(state.answer?.text == "No match for \"zzz\"" && state.answer?.isError == true)
    }

    @Test func `n repeats a search after the queue has changed`() {
        var state = queueState(100)
        state.type("/42\n")
        state.show {
            $0.tracks += manyTracks(142).suffix(42)
            $0.queueRevision += 1
        }
        state.type("n")
        #expect(state.queue.list.selected == 141)
    }

    @Test func `another view ends a search being typed`() {
        var state = fullState()
        state.type("/mor")
        _ = state.apply(.mouse(MouseEvent(.press, column: 22, row: 0)))
        #expect(state.view == .cache && state.prompt == nil)
    }
}
