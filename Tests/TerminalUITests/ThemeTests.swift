import Media
import Testing

@testable import TerminalUI

struct ThemeTests {
    private static let black = ScreenColor(0x000000)
    private static let white = ScreenColor(0xFFFFFF)

    @Test(arguments: Theme.allCases, [8, 16, 88, 256])
    func `every colour of text has a contrast of 4.5 to 1 on its background`(theme: Theme, colors: Int) {
        let background = theme == .dark ? Self.black : Self.white
        for style in Style.allCases {
            guard let index = theme.color(of: style, colors: colors) else { continue }
            #expect(index < colors)
            #expect(ScreenColor(index: index).contrast(to: background) >= 4.5, "\(style)")
        }
        #expect(theme.color(of: .playing, colors: 2) == nil)
    }

    @Test func `the contrast is that of WCAG`() {
        #expect(abs(Self.black.contrast(to: Self.white) - 21) < 0.001)
        #expect(abs(ScreenColor(0xFF0000).contrast(to: Self.white) - 3.998) < 0.001)
    }

    @Test(arguments: [
        ("rgb:ffff/ffff/ffff", Theme.light), ("rgb:0000/0000/0000", .dark), ("rgb:fd/f6/e3", .light),
        ("rgb:0/2b/36", .dark), ("rgba:f/f/f/8", .light), ("rgb:1c1c/1c1c/1c1c", .dark),
    ])
    func `the background chooses the theme`(report: String, theme: Theme) throws {
        #expect(Theme(on: try #require(ScreenColor(parsing: report))) == theme)
    }

    @Test(arguments: [
        "", "rgb:", "rgb:1/2", "rgb:1//2", "rgb:12345/1/1", "rgb:g/0/0", "#ffffff", "rgb:-1/0/0",
    ])
    func `broken reports are no colours`(report: String) { #expect(ScreenColor(parsing: report) == nil) }

    @Test(arguments: [
        ("xterm-256color", true), ("tmux-256color", true), ("screen", true), ("foot", true), ("vte", true),
        ("linux", false), ("dumb", false), ("vt220", false), ("ansi", false), (nil, false),
    ])
    func `only terminals that can answer are asked`(term: String?, isAsked: Bool) {
        let modes = TerminalModes(term: term, isInTmux: false, usesMouse: true)
        #expect((modes.question != nil) == isAsked)
    }

    @Test func `nothing is asked without colours, and if the user has set the theme`() {
        // Every terminal answers the question behind it, which shows that no other answer will come.
        let question = TerminalConfiguration { ["TERM": "xterm"][$0] }.modes.question
        #expect(question?.hasSuffix("\u{1B}[c") == true)
        #expect(TerminalConfiguration { ["TERM": "xterm", "NO_COLOR": "1"][$0] }.modes.question == nil)
        var set = TerminalConfiguration { ["TERM": "xterm"][$0] }
        set.theme = .light
        #expect(set.modes.question == nil)
    }

    @Test func `every part of the screen has a name, and a colour if the user sets one`() {
        var own = ColorTable()
        #expect(ColorTable.names.count == Set(ColorTable.names).count)
        let exact = ColorChoice.exact(ScreenColor(0x123456))
        let set = (ColorTable.names + ["sky"]).filter { own.set(exact, for: $0) }
        #expect(set == ColorTable.names)
        var frame = CellBuffer(columns: 1, rows: 1)
        for ground in Ground.allCases {
            for style in Style.allCases {
                frame.lay(ground, row: 0)
                frame.draw("x", column: 0, row: 0, style: style)
                let cell = frame[column: 0, row: 0]
                let shown = Palette(colors: Palette.exactColors, own: own).rendition(of: cell)
                #expect(shown.ink == exact && shown.paper == exact && !shown.isReversed)
                let mono = Palette(colors: Palette.exactColors, own: own, theme: .mono).rendition(of: cell)
                #expect(mono.ink == .standard && mono.paper == .standard)
                #expect(mono == Palette(colors: 0).rendition(of: cell), "as without colours")
            }
        }
    }
}
