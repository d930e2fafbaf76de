import Media
@testable import TerminalUI
import Testing

struct CommandLineTests {
    private static func line(_ text: String, _ keys: [Key]) -> CommandLine {
        var line = CommandLine()
        line.insert(text)
        for key in keys { _ = line.apply(key) }
        return line
    }

    @Test(
        arguments: [
            ([.backspace], "seek 5|"), ([.left, .backspace], "seek |0"), ([.home, .delete], "|eek 50"),
            ([.left, .left, .character("1")], "seek 1|50"), ([.control("w")], "seek |"),
            ([.left, .control("u")], "|0"), ([.home, .control("k")], "|"), ([.end, .right], "seek 50|"),
            ([.home, .left, .end], "seek 50|"), ([.up, .pageDown, .control("z")], "seek 50|"),
            ([.home, .backspace], "|seek 50"),
        ] as [([Key], String)]
    )
    func `keys edit around the cursor`(keys: [Key], expected: String) {
        let parts = Self.line("seek 50", keys).parts
        #expect(parts.before.string + "|" + parts.after.string == expected)
    }

    @Test func `Esc and Backspace close an empty line`() {
        var line = CommandLine()
        #expect(line.apply(.backspace) == .cancelled)
        #expect(line.apply(.escape) == .cancelled)
        #expect(line.apply(.enter) == .entered(""))
    }

    @Test(arguments: [
        ("tog", "toggle"), ("repe", "repeat "), ("repeat o", "repeat off"), ("rpt", "repeat "),
        ("repeat a", "repeat all"), ("jump ", "jump "), ("nothing", "nothing"),
        ("nothing ", "nothing "), ("add http://h/", "add http://h/"),
    ])
    func `Tab completes commands and their words`(typed: String, expected: String) {
        var line = CommandLine(typed)
        #expect(line.apply(.tab) == .editing)
        #expect(line.text == expected)
    }

    @Test func `Tab and Shift-Tab cycle through the candidates until another key`() {
        var line = CommandLine("repeat o")
        let seen = [Key.tab, .tab, .tab, .tab, .backTab].map { key in
            _ = line.apply(key)
            return line.text
        }
        #expect(seen == ["repeat off", "repeat one", "repeat off", "repeat one", "repeat off"])
        _ = line.apply(.backspace)
        _ = line.apply(.tab)
        #expect(line.text == "repeat off")
    }

    @Test func `Up and Down move through the candidates while Tab offers them`() {
        var line = CommandLine("repeat o", history: ["next"])
        let seen = [Key.tab, .down, .down, .up, .left, .up].map { key in
            _ = line.apply(key)
            return line.text
        }
        #expect(seen == ["repeat off", "repeat one", "repeat off", "repeat one", "repeat one", "next"])
    }

    @Test func `only the word before the cursor is completed`() {
        let line = Self.line("repeat al 5", [.left, .left, .tab])
        #expect(line.text == "repeat all 5" && line.parts.after == " 5")
    }

    @Test func `Up and Down step through the history, and back to the unfinished line`() {
        var line = CommandLine("se", history: ["next", "stop"])
        let seen = [Key.up, .up, .up, .down, .down, .down].map { key in
            _ = line.apply(key)
            return line.text
        }
        #expect(seen == ["stop", "next", "next", "stop", "se", "se"])
    }

    @Test(arguments: [
        ("add http://u:p@h/x", false), ("add https://u@h", false), ("add http://h/a@b", true),
        ("add me@host", true), ("seek 5", true), ("add http://h/?u=a://b:c@d", false),
    ])
    func `a line that names a user of a server may not be saved`(line: String, mayBe: Bool) {
        #expect(CommandLine.maySave(line) == mayBe)
    }

    @Test func `a long text keeps its end in view, and a flood is cut`() {
        var line = Self.line(String(repeating: "x", count: 9_999) + "!", [])
        #expect(line.text.count == 10_000 && line.parts.before.string.hasSuffix("x!"))
        line.insert(String(repeating: "x", count: 100_000))
        #expect(line.text.count == CommandLine.longest)
    }

    // If a key cost as much as the line is long, a flood would take minutes.
    @Test(.timeLimit(.minutes(1)), arguments: [":x\u{1}", "f"])
    func `a flood of typed characters costs no more per character than the first`(opening: String) {
        var state = queueState(100, rows: 15)
        for byte in (opening + String(repeating: "y", count: 1 << 18)).utf8 {
            let key: Key = byte == 1 ? .control("a") : .character(Character(UnicodeScalar(byte)))
            #expect(state.apply(.key(key)).isEmpty)
        }
        #expect(state.commandLine.map { $0.text.count } ?? CommandLine.longest == CommandLine.longest)
        #expect(state.prompt.map { $0.line.text.count } ?? 256 == 256)
    }
}
