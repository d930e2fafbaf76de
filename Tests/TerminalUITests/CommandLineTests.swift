import Media
import TerminalUI
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

    @Test func `Esc and Backspace in an empty line leave it`() {
        var line = CommandLine()
        #expect(line.apply(.backspace) == .cancelled)
        #expect(line.apply(.escape) == .cancelled)
        #expect(line.apply(.enter) == .entered(""))
    }

    @Test func `a flood of text is cut`() {
        var line = Self.line(String(repeating: "x", count: 10_000), [])
        line.insert("more")
        #expect(line.text.count == CommandLine.longest)
    }
}
