import Media
import TerminalUI
import Testing

struct KeyMapTests {
    @Test func `R cycles through the gain modes`() {
        #expect(KeyMap.standard.command(for: .character("R")) == .player(.setGain(nil)))
        #expect(KeyMap.standard.command(for: .character("r")) != .player(.setGain(nil)))
        var modes = [GainMode.off]
        for _ in 0..<3 { modes.append(modes[modes.count - 1].next) }
        #expect(modes == [.off, .track, .album, .off])
    }

    @Test func `every key can be named in the configuration as the help names it`() throws {
        for key in KeyMap.standard.bindings.flatMap(\.keys) {
            #expect(try Key(named: key.name.string) == key)
        }
    }

    @Test(
        arguments: [
            ("space", .character(" ")), ("ctrl-L", .control("l")), ("Ctrl-I", .tab), ("PGUP", .pageUp),
            ("f12", .function(12)), ("f", .character("f")), ("é", .character("é")),
            ("shift-tab", .backTab), ("esc", .escape),
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
            .binding(.character("j"), to: .player(.next))
            .binding(.character("s"), to: nil)
            .binding(.function(5), to: try UICommand(parsing: "volume 30"))
        #expect(map.command(for: .character("j")) == .player(.next))
        #expect(map.command(for: .character("s")) == nil)
        #expect(
            map.bindings.first { $0.command == .player(.next) }?.keys == [.character(">"), .character("j")]
        )
        #expect(map.bindings.first { $0.command == .selectBy(1) }?.keys == [.down])
        #expect(!map.bindings.contains { $0.command == .player(.shuffle) })
        #expect(map.bindings.last?.help == "volume 30")
    }

    @Test(
        arguments: [
            (.character(" "), .toggle), (.character(">"), .next), (.character("<"), .previous),
            (.right, .seek(.by(.seconds(5)))), (.left, .seek(.by(.seconds(-5)))),
            (.character("."), .seek(.by(.seconds(60)))), (.character(","), .seek(.by(.seconds(-60)))),
            (.character("+"), .changeVolume(by: 5)), (.character("="), .changeVolume(by: 5)),
            (.character("-"), .changeVolume(by: -5)), (.character("m"), .mute),
            (.character("s"), .shuffle), (.character("r"), .setRepeat(nil)),
        ] as [(Key, PlayerCommand)]
    )
    func `a key sends its command`(key: Key, command: PlayerCommand) {
        var state = UIState(columns: 80, rows: 24)
        #expect(state.apply(.key(key)) == [.send(command)])
    }
}
