@testable import TerminalUI
import Testing

struct KeyDecoderTests {
    /// The events of `text`, and of the end of the input.
    private func events(_ text: String) -> [UIEvent] {
        var decoder = KeyDecoder()
        return decoder.events(text.utf8) + decoder.flush()
    }

    @Test(
        arguments: [
            ("q \t", ["q", " ", .tab]), ("\u{1B}", [.escape]), ("\u{1B}\u{1B}", [.escape, .escape]),
            ("\u{1B}[A\u{1B}OB", [.up, .down]), ("\u{1B}[5~\u{1B}[3~", [.pageUp, .delete]),
            ("\u{1B}[1;5C", [.right]),
            ("\u{1B}OP\u{1B}[15~\u{1B}[[E", [.function(1), .function(5), .function(5)]),
            ("\r\n\u{7F}", [.enter, .enter, .backspace]), ("é桜", ["é", "桜"]), ("\u{1B}[99~x", ["x"]),
            ("\u{1B}[", []), ("\u{1}\u{C}", [.control("a"), .control("l")]), ("\u{0}\u{9B}", []),
            ("\u{1B}[201~", []),
        ] as [(String, [Key])]
    )
    func `bytes of any terminal are keys`(typed: String, keys: [Key]) {
        #expect(events(typed) == keys.map { .key($0) })
    }

    @Test(
        arguments: [
            ("0;5;3M", .press, 4, 2), ("4;1;1M", .press, 0, 0), ("64;80;24M", .wheelUp, 79, 23),
            ("65;300;200M", .wheelDown, 299, 199), ("32;5;3M", .drag, 4, 2), ("0;5;3m", .release, 4, 2),
        ] as [(String, MouseEvent.Kind, Int, Int)]
    )
    func `the mouse's reports are events`(report: String, kind: MouseEvent.Kind, column: Int, row: Int) {
        let event = MouseEvent(kind, column: column, row: row)
        #expect(events("\u{1B}[<" + report + "q") == [.mouse(event), .key("q")])
    }

    @Test(arguments: [
        "[<2;5;3M", "[<2;5;3m", "[<32;5;3m", "[<64;5;3m", "[<34;5;3M", "[<35;5;3M", "[<0;0;3M", "[<0;5M",
        "[<0;5;3;1M", "[<;;M", "[<0;5;x", "[M q!",
    ])
    func `other reports of the mouse, old and broken ones, are no events and no keys`(report: String) {
        #expect(events("\u{1B}" + report + "q") == [.key("q")])
    }

    @Test func `a sequence, a character and a paste are one event wherever they are split`() {
        let bytes = Array("j\u{1B}[200~:volume 50\nqd\u{1B}[A\né\u{1B}[201~k\u{1B}[5~夜\u{1B}[<0;5;3M".utf8)
        let whole: [UIEvent] = [
            .key("j"), .pasted(":volume 50\nqd\u{1B}[A\né"), .key("k"), .key(.pageUp), .key("夜"),
            .mouse(MouseEvent(.press, column: 4, row: 2)),
        ]
        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            let first = decoder.events(bytes[..<cut])
            let second = decoder.events(bytes[cut...])
            #expect(first + second == whole && !decoder.isIncomplete, "cut after \(cut) bytes")
        }
    }

    @Test(arguments: ["\u{1B}\\", "\u{7}"])
    func `the terminal's replies are no keys wherever they are split, even after the time-out`(end: String) {
        let background = UIEvent.background(ScreenColor(0xFFFF00))
        let bytes = Array("j\u{1B}]11;rgb:ffff/ffff/0000\(end)\u{1B}[?62;4ck".utf8)
        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            decoder.awaitsReply = true
            var events = decoder.events(bytes[..<cut])
            if decoder.isIncomplete { events += decoder.flush() }
            events += decoder.events(bytes[cut...])
            // An escape alone may be the key; the rest of the reply is still no key.
            #expect(events.filter { $0 != .key(.escape) } == [.key("j"), background, .key("k")], "\(cut)")
            #expect(!decoder.awaitsReply && !decoder.isIncomplete)
        }
    }

    /// The answers to XTVERSION, XTGETTCAP, DECRQSS and kitty's question for graphics.
    @Test(arguments: [
        "P>|XTerm(390)", "P>|kitty(0.35.2)", "P>|foot(1.16.2)", "P>|WezTerm 20240203-110809-5046fc22",
        "P>|iTerm2 3.5.0", "P>|Konsole 23.08.1", "P1+r524742=38", "P0+r", "P1$r0m", "P!|00000000",
        "_Gi=31;OK", "_Gi=31;ENOTSUPPORTED:bad", "Pqd", "_qd", "^qd", "Xqd",
    ])
    func `what terminals answer runs no keys, cut anywhere, late, or doubled`(reply: String) {
        let whole = "\u{1B}" + reply + "\u{1B}\\"
        let bytes = Array("j\(whole)\(whole)k".utf8)
        // Forms that no terminal is known to send are held only while a reply is awaited.
        let states = reply.hasSuffix("qd") ? [true] : [true, false]
        for (cut, isAwaited) in (0...bytes.count).flatMap({ cut in states.map { (cut, $0) } }) {
            var decoder = KeyDecoder()
            decoder.awaitsReply = isAwaited
            var events = decoder.events(bytes[..<cut])
            // Unasked, a reply that stops after its second byte and goes on late is not known from a key.
            if isAwaited, decoder.isIncomplete { events += decoder.flush() }
            events += decoder.events(bytes[cut...])
            #expect(events.filter { $0 != .key(.escape) } == [.key("j"), .key("k")], "\(cut)")
            #expect(isAwaited || !events.contains(.key(.escape)), "\(cut)")
        }
    }

    @Test(arguments: [
        "Xab\u{1B}\\", "^ab\u{1B}\\", "Pab\u{1B}\\", "_ab\u{1B}\\", "]52;c;abc\u{7}", "]11;?\u{7}",
        "]11;rgb:1/2\u{7}",
        "]4;1;rgb:0/0/0\u{1B}\\", "[?1;2c",
        "]11;rgb:0/0\u{1B}\\",
    ])
    func `other reports are no events and no keys`(report: String) {
        #expect(events("\u{1B}" + report + "q") == [.key("q")])
    }

    @Test(
        arguments: [
            "x", "q", "C", "P", "X", "_", "^", "é", "夜", "\r", "\u{7F}", "\u{3}", "]", "\u{1B}[A", "\u{1B}OB",
            "\u{1B}[5~",
        ]
    )
    func `Alt with a key is not Escape and the key`(key: String) {
        #expect(events("j\u{1B}" + key + "k") == [.key("j"), .key("k")])
        #expect(events("\u{1B}" + key) == [])
    }

    @Test(arguments: ["x", "q", ":", "é", "\r", "\u{3}", "1"])
    func `a key that comes after Escape, however soon, is a key`(key: String) {
        var decoder = KeyDecoder()
        let first = decoder.events("\u{1B}".utf8)
        #expect(first.isEmpty && decoder.isIncomplete)
        #expect(decoder.events(key.utf8) == [.key(.escape)] + events(key))
    }

    @Test func `an endless report is cut`() {
        var decoder = KeyDecoder()
        _ = decoder.events(("\u{1B}]11;" + String(repeating: "1", count: 300)).utf8)
        #expect(decoder.events("q".utf8).last == .key("q"))
    }

    @Test func `an endless sequence and an endless paste are cut`() {
        var decoder = KeyDecoder()
        _ = decoder.events(("\u{1B}[" + String(repeating: "1", count: 100)).utf8)
        #expect(!decoder.isIncomplete)
        _ = decoder.events("\u{1B}[200~".utf8)
        for _ in 0..<11 { #expect(decoder.events(String(repeating: "x", count: 100_000).utf8).isEmpty) }
        let longest = String(repeating: "x", count: 1 << 20)
        #expect(decoder.events("\u{1B}[201~".utf8) == [.pasted(longest)])
    }
}
