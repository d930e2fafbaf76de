import Glibc
import Media
import System
@testable import TerminalUI
import TestSupport
import Testing

/// The screen on a pseudo-terminal. One at a time, since ncurses and signal handlers belong to the process.
///
/// Keys, paste, sizes, signals and faults are proven with the real program, in `Tests/EndToEndTests/Screen`.
@Suite(.serialized)
struct TerminalScreenTests {
    @Test func `the first frame is drawn at once and the terminal is restored at the end`() async throws {
        let before = try #require(PseudoTerminal(columns: 80, rows: 24)).modes
        let screen = try await RunningScreen()
        #expect(screen.terminal.modes != before)
        for part in ["夜の音楽 – 東京アンサンブル", "\u{1B}[?1049h", "\u{1B}[?2004h"] {
            #expect(screen.terminal.text.contains(part))
        }
        try await screen.quit()
        #expect(screen.player.commands == [.quit])
        #expect(screen.terminal.modes == before)
        for reset in ["\u{1B}[?1049l", "\u{1B}[?2004l", "\u{1B}[?25h"] { try await screen.drawn(reset) }
    }

    @Test func `a lone escape is a key, and a sequence in two parts is one key`() async throws {
        let screen = try await RunningScreen()
        screen.terminal.type("?")
        try await screen.drawn("play/pause")
        // Nothing else is a reason to draw.
        screen.terminal.clear()
        screen.terminal.type("\u{1B}")
        try await wait(for: "the help to go") { !screen.terminal.bytes.isEmpty }
        // On a loaded machine the parts can be so far apart that they are two keys.
        for _ in 0..<100 where !screen.player.commands.contains(.seek(.by(.seconds(5)))) {
            screen.terminal.type("\u{1B}")
            screen.terminal.type("OC")
            let count = screen.player.commands.count
            screen.terminal.type("+")
            try await wait(for: "the volume") {
                screen.player.commands.dropFirst(count).contains(.changeVolume(by: 5))
            }
        }
        #expect(screen.player.commands.contains(.seek(.by(.seconds(5)))))
        try await screen.quit()
    }

    @Test func `a theme is chosen on the screen, and the terminal asked only by one that needs it`()
        async throws
    {
        let screen = try await RunningScreen(theme: .dark)
        try await screen.drawn("38;5;114m")
        screen.terminal.type(":theme light\r")
        try await screen.drawn("38;5;22m")
        #expect(!screen.terminal.text.contains("]11;?"))
        screen.terminal.type(":theme auto\r")
        try await screen.drawn("]11;?")
        try await screen.drawn("Theme auto")
        screen.terminal.clear()
        screen.terminal.type("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\")
        try await screen.drawn("38;5;22m")
        screen.terminal.type("\u{1B}[?62c")
        try await screen.quit()
    }

    @Test func `nothing is written while nothing changes`() async throws {
        let screen = try await RunningScreen()
        try await screen.replaceMessage()
        let reads = screen.player.snapshotReads
        screen.player.publish { _ in }
        try await wait(for: "the snapshot to be read") { screen.player.snapshotReads > reads }
        for count in 3...4 { try await screen.press("m", sending: count) }
        #expect(screen.terminal.bytes.isEmpty)
        try await screen.quit()
    }

    @Test func `a second later only the clock's cells are written`() async throws {
        let screen = try await RunningScreen()
        try await screen.replaceMessage()
        screen.player.publish { player in
            player.heard.insert(player.position..<player.position + .seconds(1))
            player.position += .seconds(1)
        }
        try await wait(for: "the next second") { !screen.terminal.bytes.isEmpty }
        let reads = screen.player.snapshotReads
        screen.player.publish { _ in }
        try await wait(for: "the frame behind it") { screen.player.snapshotReads > reads }
        let written = screen.terminal.text
        #expect(written.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "") == "3", "of ~31:02 now ~31:03")
        #expect(written.utf8.count < 30)
        try await screen.quit()
    }

    @Test func `the screen waits a limited time for the player, or not at all if asked twice`() async throws {
        let stuck = { FakePlayer(sampleSnapshot(), isOverAfterQuit: false) }
        try await RunningScreen(player: stuck(), quitWait: .milliseconds(20)).quit()
        let long = try await RunningScreen(player: stuck())
        long.terminal.type("q")
        try await long.drawn("Quitting…")
        try await long.quit()
    }

    @Test func `a player that is over ends the screen`() async throws {
        let screen = try await RunningScreen()
        screen.player.publish { $0.isOver = true }
        #expect(try await screen.exit() == .over)
    }

    @Test func `another locale gets ASCII and NO_COLOR no colour`() async throws {
        let environment = ["TERM": "xterm-256color", "NO_COLOR": "1"]
        let screen = try await RunningScreen(environment: environment, locale: "C")
        // The first key replaces the message by hints, of which the answer then changes these cells.
        try await screen.press("m", sending: 1)
        screen.terminal.type("d")
        try await screen.drawn("track - u")
        #expect(screen.terminal.bytes.allSatisfy { $0 < 0x80 })
        #expect(!screen.terminal.text.contains("[38;5;"))
        try await screen.quit()
    }

    @Test(
        arguments: [
            (["TERM": "xterm-256color", "COLORTERM": "truecolor"], "38;2;18;171;52m"),
            (["TERM": "xterm-256color", "COLORTERM": "24bit"], "38;2;18;171;52m"),
            (["TERM": "tmux-256color", "COLORTERM": "truecolor", "TMUX": "/tmp/x"], "38;2;18;171;52m"),
            (["TERM": "xterm-256color", "COLORTERM": "yes"], "38;5;35m"),
            (["TERM": "screen-256color", "COLORTERM": "truecolor"], "38;5;35m"),
            (["TERM": "xterm", "COLORTERM": ""], "[32m"),
            (["TERM": "vt100", "COLORTERM": "truecolor"], nil),
            (["TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"], nil),
        ] as [([String: String], String?)]
    )
    func `exact colours are drawn if the terminal has them, else the nearest`(
        environment: [String: String],
        color: String?
    ) async throws {
        var own = ColorTable()
        _ = own.set(.exact(ScreenColor(0x12AB34)), for: "playing")
        let screen = try await RunningScreen(environment: environment, colors: own)
        let sets = screen.terminal.text.matches(of: /\u{1B}\[[0-9;]*[34]8;[0-9;]*m|\u{1B}\[[0-9;]*3[0-7]m/)
        #expect(sets.isEmpty == (color == nil))
        if let color { #expect(sets.contains { $0.output.hasSuffix(color) }) }
        // The next frames are drawn over the first one.
        screen.terminal.type("2")
        try await screen.drawn("pause")
        try await screen.quit()
        #expect(screen.terminal.text.hasSuffix("\u{1B}[0m"))
    }

    @Test func `a terminal without a type is refused and left unchanged`() async throws {
        let screen = try await RunningScreen(drawing: nil, environment: [:])
        #expect(try await screen.exit() == .unusable)
        #expect(screen.terminal.bytes.isEmpty)
    }

    @Test(arguments: [
        ("xterm", true), ("vt100", true), ("dumb", false), (nil, false), ("", false),
        // Types that are not installed here.
        ("xterm-kitty", true), ("xterm-ghostty", true), ("alacritty", true), ("wezterm", true),
        ("foot-extra", true), ("no-such-terminal", true),
    ])
    func `a screen needs a terminal that can place its cursor`(name: String?, isUsable: Bool) throws {
        let terminal = try #require(PseudoTerminal(columns: 80, rows: 24))
        var configuration = TerminalConfiguration { $0 == "TERM" ? name : nil }
        configuration.input = terminal.slave
        configuration.output = terminal.slave
        #expect(configuration.isUsable == isUsable)
        configuration.output = -1
        #expect(!configuration.isUsable)
    }

    @Test(arguments: ["xterm-kitty", "xterm-ghostty", "alacritty", "wezterm", "foot", "st-256color", ""])
    func `a terminal that is not known, nor the common type, is named`(name: String) throws {
        let terminal = try #require(PseudoTerminal(columns: 80, rows: 24))
        var configuration = TerminalConfiguration { ["TERM": name][$0] }
        configuration.input = terminal.slave
        configuration.output = terminal.slave
        #expect((configuration.typeProblem == nil) == !name.isEmpty)
        configuration.commonType = "no-such-either"
        #expect(!configuration.isUsable)
        let problem = try #require(configuration.typeProblem)
        #expect(problem.string.contains(name.isEmpty ? "TERM is not set" : name))
    }

    @Test(arguments: ["xterm-kitty", "xterm-ghostty", "alacritty"])
    func `a terminal without a description gets a screen`(name: String) async throws {
        let screen = try await RunningScreen(environment: ["TERM": name])
        try await screen.quit()
        try await screen.drawn("\u{1B}[?1049l")
    }

    @Test(arguments: ["xx_XX.UTF-8", "xx_XX.utf8", "de_XX.UTF-8@euro", "en_XX.UTF8", "C.xx_utf-8"])
    func `a UTF-8 locale that is not installed is UTF-8`(locale: String) async throws {
        setlocale(LC_CTYPE, "C")
        let screen = try await RunningScreen(locale: locale)
        try await screen.drawn("夜の音楽")
        try await screen.quit()
        #expect(Glyphs.ofLocale("xx_XX.ISO-8859-1") == .ascii)
    }

    @Test func `Ctrl-S is a key and stops no output`() async throws {
        let screen = try await RunningScreen()
        screen.terminal.type("\u{13}")
        try await screen.drawn("Ctrl-S is not bound")
        try await screen.quit()
    }

    @Test func `a word typed after a refused key is ignored until a second has passed`() async throws {
        let clock = TestClock()
        let screen = try await RunningScreen(clock: clock)
        screen.terminal.type("4")
        try await screen.drawn("No network requests yet")
        screen.terminal.type("fmm")
        try await screen.drawn("Can't filter this view")
        clock.advance(by: .seconds(1))
        try await screen.press("+", sending: 1)
        #expect(screen.player.commands == [.changeVolume(by: 5)])
        try await screen.quit()
    }

    @Test(
        arguments: [
            ("दुनिया", false), ("กำลังใจ", false), ("\u{1112}\u{1161}\u{11AB}", false), ("ﾊﾞﾝﾄﾞ", false),
            ("মা", false),
            ("👍🏽", true), ("👩‍🚀", true), ("❤\u{200D}🔥", true),
            ("x\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}", true),
        ] as [(String, Bool)]
    )
    func `a terminal gets all code points, and is told where it is after those it may join`(
        text: String,
        movesCursor: Bool
    ) async throws {
        let snapshot = sampleSnapshot { $0.messages = [message(1, SafeText("<" + text + ">"))] }
        let screen = try await RunningScreen(player: FakePlayer(snapshot))
        let drawn = text == "\u{1112}\u{1161}\u{11AB}" ? "한" : text
        try await wait(for: "the text") {
            let sequence = /\u{1B}(\[[0-9;?]*[A-Za-z]|\(B)/.matchingSemantics(.unicodeScalar)
            let plain = screen.terminal.text.replacing(sequence, with: "")
            // Scalar by scalar: as characters, a text can be equal to its parts in another order.
            return Array(plain.unicodeScalars).contains(Array(drawn.unicodeScalars))
        }
        // Rows and columns count from 1, and the margin is one column.
        let move = "\u{1B}[12;\(SafeText("<" + text).columns + 2)H"
        if movesCursor { try await screen.drawn(move) }
        try await screen.quit()
    }
}
