import Media
@testable import TerminalUI
import Testing

/// The candidates above the line of a command.
struct PaletteTests {
    private func state(_ keys: String, history: [String] = [], columns: Int = 80, rows: Int = 24) -> UIState {
        var state = UIState(columns: columns, rows: rows, history: history)
        _ = state.apply(.snapshot(sampleSnapshot()))
        state.type(keys)
        return state
    }

    private func names(_ state: UIState) -> [String] {
        state.commandLine?.offer.candidates.map { $0.filter { $0 != " " } } ?? []
    }

    @Test func `all commands of the screen stand above an empty line, those that were entered first`() {
        let state = state(":", history: ["sort album", "volume 5", "nonsense", "sort year"])
        let screen = CommandTable.rows.filter { $0.reach != .lines }.map(\.name)
        #expect(Set(names(state)) == Set(screen) && names(state).count == screen.count)
        #expect(names(state).prefix(2) == ["sort", "volume"])
        #expect(names(state).dropFirst(2).elementsEqual(names(state).dropFirst(2).sorted()))
    }

    @Test func `letters in their order narrow them, those that begin with them first`() {
        #expect(names(state(":vo")).first == "volume")
        #expect(names(state(":vlm")) == ["volume"])
        #expect(names(state(":xq")).isEmpty)
        let mixed = names(state(":so"))
        #expect(mixed.first == "sort" && !mixed.contains("volume"))
        #expect(mixed.drop { $0.hasPrefix("so") }.allSatisfy { !$0.hasPrefix("so") })
        #expect(names(state(":re", history: ["repeat one"])).first == "repeat")
    }

    @Test func `each has its argument, its key and its help in one row`() throws {
        let screen = state(":volu").screen
        let row = try #require(screen.firstIndex { $0.hasPrefix(" volume N") })
        #expect(screen[row].contains(" + ") && screen[row].contains("volume"))
        #expect(screen[row - 1].hasPrefix(" ── Commands ──") && screen[23] == " :volu▏")
    }

    @Test func `Tab chooses one after the other, which is in view and behind which the next words stand`() {
        var state = state(":so\t")
        #expect(state.commandLine?.text == "sort " && state.commandLine?.offer.place == 0)
        #expect(state.screen.contains { $0.hasPrefix(" sort KEY") && $0.contains("  S  ") })
        state.type("\t")
        #expect(state.commandLine?.text.filter { $0 != " " } == names(state)[1])
        state.type("⎋:sort ")
        #expect(state.screen.contains { $0.hasPrefix(" ── sort KEY ──") })
        #expect(names(state).first == "title")
        #expect(state.screen.contains { $0.hasPrefix(" title") && $0.contains("  artist  ") })
        state.type("yr")
        #expect(names(state) == ["year"])
        state.type("\t")
        #expect(state.commandLine?.text == "sort year")
    }

    @Test func `for an argument without words, the help of its command stands there`() {
        let screen = state(":seek 1").screen
        #expect(screen.contains { $0.hasPrefix(" ── seek ") })
    }

    @Test func `the selected row stays in view above them, and a click selects the row that is shown`() {
        var state = screenState(queueSnapshot(albumTracks([9, 9, 9])))
        state.type("jjjjjjjjjj")
        let selected = state.screen[12].dropLast()
        #expect(selected.contains("Album 1"))
        state.type(":")
        let frame = ScreenView(glyphs: .unicode).draw(state)
        let shown = frame.lines.firstIndex { $0.hasPrefix(selected) } ?? 0
        #expect((2..<8).contains(shown) && frame[column: 1, row: shown].ground == .selected)
        #expect(frame[column: 1, row: 3].style == .faint, "the rest is grey")
        _ = state.apply(.mouse(MouseEvent(.press, column: 9, row: shown - 1)))
        #expect(state.queue.list.selected == 9)
        // What an argument changes is in its colours.
        state.type("sort ")
        #expect(ScreenView(glyphs: .unicode).draw(state)[column: 8, row: 3].style != .faint)
        state.type("⎋")
        #expect(state.screen[12].hasPrefix(selected))
    }

    @Test func `a long list scrolls with the chosen one, and a small window shows none`() {
        let down = state(":" + String(repeating: "\t", count: 30))
        let chosen = names(down)[29]
        #expect(down.screen.contains { $0.hasPrefix(" " + chosen) })
        for (columns, rows) in [(20, 4), (16, 3), (10, 1), (0, 0), (40, 7)] {
            #expect(state(":s\t", columns: columns, rows: rows).screen.count == rows)
        }
    }
}
