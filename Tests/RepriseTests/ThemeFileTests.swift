import Media
import TestSupport
import Testing

@testable import Reprise
@testable import TerminalUI

@Suite struct ThemeFileTests {
    private static let black = ScreenColor(0x000000)
    private static let white = ScreenColor(0xFFFFFF)

    /// What is drawn as a shape: on the background of a row, only the shape must be seen (WCAG 2, 1.4.11).
    private static let shapes: Set<Style> = [
        .played, .cached, .inFlight, .missing, .soft, .middling, .loud, .loudest,
    ]

    /// The colours of a cell as they are seen on a terminal with xterm's palette, whose own background and
    /// text are black and white, as fits the theme.
    private static func colors(
        _ style: Style,
        _ ground: Ground,
        in palette: Palette
    ) -> (ink: ScreenColor, paper: ScreenColor) {
        var frame = CellBuffer(columns: 1, rows: 1)
        frame.lay(ground, row: 0)
        frame.draw("x", column: 0, row: 0, style: style)
        let rendition = palette.rendition(of: Array(frame[row: 0])[0])
        func seen(_ choice: ColorChoice, _ standard: ScreenColor) -> ScreenColor {
            switch choice {
            case .standard: standard
            case .index(let index): ScreenColor(index: index)
            case .exact(let color): color
            }
        }
        let isLight = palette.base == .light
        let ink = seen(rendition.ink, isLight ? black : white)
        let paper = seen(rendition.paper, isLight ? white : black)
        return rendition.isReversed ? (paper, ink) : (ink, paper)
    }

    @Test(arguments: ThemeFiles.names, [8, 16, 88, 256, Palette.exactColors])
    func `every colour of text has a contrast of 4.5 to 1 on each background`(name: String, colors: Int)
        throws
    {
        let theme = try ThemeFiles.theme(named: name, in: nil)
        let terminals: [BaseTheme] =
            Palette(colors: colors, theme: theme).followsTerminal ? [.dark, .light] : [.dark]
        for terminal in terminals {
            let palette = Palette(colors: colors, theme: theme, terminal: terminal)
            let outside = palette.base == .light ? Self.white : Self.black
            for style in Style.allCases {
                let (ink, paper) = Self.colors(style, .plain, in: palette)
                #expect(ink.contrast(to: paper) >= 4.5, "\(style)")
                #expect(ink.contrast(to: outside) >= 4.5, "\(style) on black or white")
                for ground in [Ground.marked, .selected, .match] {
                    // What a search has found is drawn in one style.
                    if ground == .match, style != .prompt { continue }
                    let (ink, paper) = Self.colors(style, ground, in: palette)
                    let least = Self.shapes.contains(style) ? 3 : 4.5
                    #expect(ink.contrast(to: paper) >= least, "\(style) on \(ground)")
                }
            }
        }
    }

    @Test(arguments: ["midnight", "ember", "paper"])
    func `a theme of ours has each part, and four backgrounds that differ with 256 colours too`(name: String)
        throws
    {
        let theme = try ThemeFiles.theme(named: name, in: nil)
        for part in ColorTable.names { #expect(theme.colorText(of: part).hasPrefix("#"), "\(part)") }
        for colors in [256, Palette.exactColors] {
            let palette = Palette(colors: colors, theme: theme)
            let papers = Ground.allCases.map { Self.colors(.normal, $0, in: palette).paper }
            #expect(Set(papers).count == Ground.allCases.count)
        }
    }

    @Test func `the user's themes follow ours, by name, and a broken one has its reason`() throws {
        let temporary = try TemporaryFolder()
        let files = [
            "sea.toml": "[colors]\nbackground = \"#001122\"\nplaying = \"cyan\"\n",
            "bad.toml": "[colors]\nsky = \"blue\"\n", "keys.toml": "[keys]\nx = \"stop\"\n", "paper.toml": "",
            ".hidden.toml": "", "notes.txt": "",
        ]
        for (name, text) in files { _ = try temporary.write(Array(text.utf8), to: name) }
        let folder = temporary.path
        let all = ThemeFiles.all(in: folder)
        #expect(all.map(\.name) == ThemeFiles.names + ["bad", "keys", "sea"])
        let sea = all.last?.theme
        #expect(sea?.colorText(of: "background") == "#001122" && sea?.colorText(of: "playing") == "cyan")
        #expect(sea?.colorText(of: "error") == "bright-red (210)")
        let problems = all.compactMap { $0.theme == nil ? $0.problem.string : nil }
        #expect(
            problems == [
                "\(folder)/bad.toml:2: colors.sky is not a part of the screen (reprise config lists them)",
                "\(folder)/keys.toml has more than the table [colors]; move the rest to config.toml",
            ]
        )
        #expect(all.first { $0.name == "paper" }?.theme?.colorText(of: "background") == "#fbf7ee")
    }

    @Test(arguments: [
        ("pink", "; use auto, dark, light, mono, midnight, ember or paper, or write one in /none"),
        ("ligth", " – did you mean light?"), ("", "; use auto"), ("../sea", "; use auto"),
    ])
    func `an unknown theme is refused with what to do`(name: String, reason: String) {
        #expect { try ThemeFiles.theme(named: name, in: "/none") } throws: {
            "\($0)".hasPrefix("no theme has this name" + reason)
        }
    }
}
