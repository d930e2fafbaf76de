import Media
import Testing

@testable import TerminalUI

struct ThemeTests {
    @Test func `the contrast is that of WCAG`() {
        let white = ScreenColor(0xFFFFFF)
        #expect(abs(ScreenColor(0x000000).contrast(to: white) - 21) < 0.001)
        #expect(abs(ScreenColor(0xFF0000).contrast(to: white) - 3.998) < 0.001)
    }

    @Test(arguments: [
        ("rgb:ffff/ffff/ffff", BaseTheme.light), ("rgb:0000/0000/0000", .dark), ("rgb:fd/f6/e3", .light),
        ("rgb:0/2b/36", .dark), ("rgba:f/f/f/8", .light), ("rgb:1c1c/1c1c/1c1c", .dark),
    ])
    func `the background chooses dark or light colours`(report: String, base: BaseTheme) throws {
        let background = try #require(ScreenColor(parsing: report))
        #expect(BaseTheme(on: background) == base)
        let own = Self.theme(["background": .exact(background)])
        #expect(Palette(colors: 256, theme: own).base == base)
        #expect(Palette(colors: 256, theme: .auto, terminal: base).base == base)
        #expect(Palette(colors: 256, theme: .mono, terminal: base).base == .mono)
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

    @Test func `nothing is asked without colours, and if the theme has the background`() {
        // Every terminal answers the question behind it, which shows that no other answer will come.
        let question = TerminalConfiguration { ["TERM": "xterm"][$0] }.modes.question
        #expect(question?.hasSuffix("\u{1B}[c") == true)
        #expect(TerminalConfiguration { ["TERM": "xterm", "NO_COLOR": "1"][$0] }.modes.question == nil)
        #expect(Palette(colors: 256, theme: .auto).followsTerminal)
        #expect(!Palette(colors: 0, theme: .auto).followsTerminal)
        for theme in [Theme.dark, .light, .mono] {
            #expect(!Palette(colors: 256, theme: theme).followsTerminal)
        }
        #expect(!Palette(colors: 256, theme: Self.night).followsTerminal)
        #expect(Palette(colors: 16, theme: Self.night).followsTerminal)
    }

    private static func theme(_ colors: [String: ColorChoice]) -> Theme {
        var table = ColorTable()
        for (name, color) in colors { _ = table.set(color, for: name) }
        return Theme("own", colors: table)
    }

    private static let night = theme([
        "background": .exact(ScreenColor(0x101820)), "playing": .exact(ScreenColor(0x33CC33)),
        "dim": .exact(ScreenColor(0xA0A0A0)), "error": .index(1),
    ])

    private static func rendition(_ style: Style, _ ground: Ground = .plain, in palette: Palette) -> Rendition
    {
        var frame = CellBuffer(columns: 1, rows: 1)
        frame.lay(ground, row: 0)
        frame.draw("x", column: 0, row: 0, style: style)
        return palette.rendition(of: frame[column: 0, row: 0])
    }

    @Test func `the user's colours come before those of the theme, and what it leaves open is its base's`() {
        var own = ColorTable()
        _ = own.set(.index(208), for: "playing")
        let mine = Palette(colors: Palette.exactColors, own: own, theme: Self.night)
        #expect(Self.rendition(.playing, in: mine).ink == .index(208))
        let night = Palette(colors: Palette.exactColors, theme: Self.night, terminal: .light)
        #expect(Self.rendition(.playing, in: night).ink == .exact(ScreenColor(0x33CC33)))
        #expect(Self.rendition(.heading, in: night).ink == .index(182), "of the dark ones")
        #expect(Self.rendition(.heading, .selected, in: night).paper == .index(237))
    }

    @Test func `text without a colour is readable on the theme's background, whatever the terminal's is`() {
        let night = Palette(colors: Palette.exactColors, theme: Self.night, terminal: .light)
        #expect(Self.rendition(.normal, in: night).ink == .exact(ScreenColor(0xFFFFFF)))
        let page = Self.theme(["background": .index(15)])
        #expect(Self.rendition(.normal, in: Palette(colors: 16, theme: page)).ink == .index(0))
        #expect(Self.rendition(.normal, .match, in: Palette(colors: 16, theme: page)).paper == .index(15))
    }

    @Test func `with fewer than 256 colours a theme has only its named ones`() {
        let few = Palette(colors: 16, theme: Self.night, terminal: .light)
        #expect(few.base == .light)
        #expect(
            Self.rendition(.playing, in: few)
                == Self.rendition(.playing, in: Palette(colors: 16, theme: .light))
        )
        #expect(Self.rendition(.error, in: few).ink == .index(1))
        #expect(Self.rendition(.playing, in: Palette(colors: 256, theme: Self.night)).ink == .index(77))
    }

    @Test func `text with a dim colour of its own is not dimmed once more`() {
        #expect(!Self.rendition(.dim, in: Palette(colors: 256, theme: Self.night)).isDim)
        #expect(Self.rendition(.missing, in: Palette(colors: 16, theme: Self.night)).isDim)
        #expect(Self.rendition(.dim, in: Palette(colors: 16)).isDim)
    }

    @Test func `there are two greys, one on the background of a row, and with few colours an attribute`() {
        for theme in [Theme.dark, .light, Self.night] {
            let palette = Palette(colors: Palette.exactColors, theme: theme)
            let greys = [Style.dim, .faint].map { Self.rendition($0, in: palette) }
            #expect(greys[0].ink != greys[1].ink && !greys[1].isDim)
            for ground in [Ground.selected, .marked] {
                let onRow = [Style.dim, .faint].map { Self.rendition($0, ground, in: palette) }
                #expect(onRow[0] == onRow[1] && onRow[0].ink == greys[0].ink)
            }
        }
        #expect(Self.rendition(.faint, in: Palette(colors: 16)).isDim)
    }

    @Test func `amber is on its way, so neither headings nor marks have its colour`() {
        for theme in [Theme.dark, .light] {
            let palette = Palette(colors: 256, theme: theme)
            let amber = Self.rendition(.inFlight, in: palette).ink
            for style in [Style.heading, .marked] { #expect(Self.rendition(style, in: palette).ink != amber) }
            let rows = [Ground.marked, .selected].map { Self.rendition(.normal, $0, in: palette).paper }
            #expect(Set(rows).count == 1)
        }
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
