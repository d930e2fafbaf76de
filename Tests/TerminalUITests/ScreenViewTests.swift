import Media
import TerminalUI
import Testing

struct ScreenViewTests {
    private static func screen(
        _ columns: Int,
        _ rows: Int,
        glyphs: Glyphs = .unicode,
        player: PlayerSnapshot = sampleSnapshot(),
        keys: String = ""
    ) -> [String] {
        var state = UIState(columns: columns, rows: rows)
        _ = state.apply(.snapshot(player))
        for key in keys { _ = state.apply(.key(.character(key))) }
        return ScreenView(glyphs: glyphs).draw(state).lines
    }

    @Test func dump() {
        for (c, r) in [(80, 12), (80, 24), (40, 10), (30, 5), (20, 3), (16, 2), (15, 3), (1, 1), (200, 60)] {
            print("--- \(c)x\(r)")
            for line in Self.screen(c, r) { print(line + "|") }
        }
        for line in Self.screen(80, 12, glyphs: .ascii, keys: "t:seek 1") { print(line + "|") }
        for line in Self.screen(40, 16, keys: "?jj") { print(line + "|") }
        for line in Self.screen(80, 10, player: PlayerSnapshot()) { print(line + "|") }
    }
}
