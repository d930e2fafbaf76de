import Media
import TerminalUI
import Testing

struct ShellPartsTests {
    @Test func `snapshots are drawn at once, then at most ten times a second`() {
        var pacer = RedrawPacer()
        #expect(pacer.delay(at: .zero) == nil)
        pacer.snapshotArrived()
        #expect(pacer.delay(at: .zero) == .zero)
        pacer.drawn(at: .zero)
        #expect(pacer.delay(at: .milliseconds(10)) == nil)
        pacer.snapshotArrived()
        pacer.snapshotArrived()
        #expect(pacer.delay(at: .milliseconds(30)) == .milliseconds(70))
        #expect(pacer.delay(at: .milliseconds(130)) == .zero)
    }

    @Test func `a paste is one event whatever it holds`() {
        var decoder = InputDecoder()
        #expect(decoder.functionKey(InputDecoder.pasteStart) == nil)
        for scalar in "q\n\u{1B}d夜".unicodeScalars { #expect(decoder.character(scalar) == nil) }
        #expect(decoder.functionKey(258) == nil)
        #expect(decoder.functionKey(InputDecoder.pasteEnd) == .pasted("q \u{FFFD}d夜"))
        #expect(decoder.character("q") == .key(.character("q")))
    }

    @Test(
        arguments: [
            ("\r", .enter), ("\n", .enter), ("\u{1B}", .escape), ("\u{7F}", .backspace),
            ("\u{C}", .control("l")), ("é", .character("é")), (" ", .character(" ")),
        ] as [(Unicode.Scalar, Key)]
    )
    func `characters are keys`(scalar: Unicode.Scalar, key: Key) {
        var decoder = InputDecoder()
        #expect(decoder.character(scalar) == .key(key))
    }

    @Test func `stray control characters and unknown keys are no events`() {
        var decoder = InputDecoder()
        #expect(decoder.character("\u{0}") == nil)
        #expect(decoder.character("\u{9B}") == nil)
        #expect(decoder.functionKey(0o777) == nil)
        #expect(decoder.functionKey(InputDecoder.pasteEnd) == nil)
    }
}
