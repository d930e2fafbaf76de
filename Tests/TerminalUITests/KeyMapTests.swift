import Media
@testable import TerminalUI
import Testing

struct KeyMapTests {
    @Test func `every key can be named in the configuration as the help names it`() throws {
        for key in KeyMap.standard.bindings.flatMap(\.keys) {
            #expect(try Key(named: key.name.string) == key)
        }
    }

    @Test(
        arguments: [
            ("space", " "), ("ctrl-L", .control("l")), ("Ctrl-I", .tab), ("PGUP", .pageUp), ("f", "f"),
            ("f12", .function(12)), ("é", "é"), ("shift-tab", .backTab), ("esc", .escape),
        ] as [(String, Key)]
    )
    func `keys have names`(name: String, key: Key) throws {
        #expect(try Key(named: name) == key)
    }

    @Test(arguments: ["", "f13", "Ctrl-C", "ctrl-z", "Ctrl-!", "jj", " ", "\u{1B}", "\u{202E}", "Ctrl-"])
    func `a text that names no key is refused`(name: String) {
        #expect(throws: Key.ParseError.self) { try Key(named: name) }
    }

    @Test func `a key can be rebound or unbound, and the help follows`() throws {
        let map = KeyMap.standard
            .binding("j", to: try ParsedCommand(parsing: "next"))
            .binding("s", to: nil)
            .binding(.function(5), to: try ParsedCommand(parsing: "volume 30"))
        #expect(map.entry(for: "j")?.command == .player(.next))
        #expect(map.entry(for: "s")?.command == nil)
        #expect(map.bindings.first { $0.entry.command == .player(.next) }?.keys == [">", "j"])
        #expect(map.bindings.first { $0.entry.command == .selectBy(1) }?.keys == [.down])
        #expect(!map.bindings.contains { $0.entry.command == .player(.setShuffle(nil)) })
        #expect(map.bindings.last?.help == "volume 30")
    }
}
