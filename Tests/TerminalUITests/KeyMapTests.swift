import Media
import TerminalUI
import Testing

struct KeyMapTests {
    @Test func `every key has a line of help and no key is bound twice`() {
        let keys = KeyMap.standard.bindings.flatMap(\.keys)
        #expect(Set(keys).count == keys.count)
        #expect(KeyMap.standard.bindings.allSatisfy { !$0.help.isEmpty && !$0.keys.isEmpty })
        #expect(keys.allSatisfy { KeyMap.standard.command(for: $0) != nil })
    }

    @Test func `help lines fit a window of forty columns and any locale`() {
        for binding in KeyMap.standard.bindings {
            #expect(binding.help.columns <= 40 - 16)
            #expect(
                (binding.help.string + binding.keys.map(\.name.string).joined()).utf8.allSatisfy { $0 < 0x7F }
            )
        }
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
