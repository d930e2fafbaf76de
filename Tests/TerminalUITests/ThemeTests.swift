import Media
import Testing

@testable import TerminalUI

struct ThemeTests {
    private static let black = ScreenColor(red: 0, green: 0, blue: 0)
    private static let white = ScreenColor(red: 1, green: 1, blue: 1)

    /// A colour of xterm's default palette.
    private static func xterm(_ index: Int) -> ScreenColor {
        func color(_ red: Int, _ green: Int, _ blue: Int) -> ScreenColor {
            ScreenColor(red: Double(red) / 255, green: Double(green) / 255, blue: Double(blue) / 255)
        }
        let named = [
            (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205),
            (229, 229, 229), (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255),
            (255, 0, 255), (0, 255, 255), (255, 255, 255),
        ]
        if index < 16 { return color(named[index].0, named[index].1, named[index].2) }
        if index >= 232 {
            return color(8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10)
        }
        let steps = [0, 95, 135, 175, 215, 255]
        let cube = index - 16
        return color(steps[cube / 36], steps[cube / 6 % 6], steps[cube % 6])
    }

    private static func contrast(_ one: ScreenColor, _ other: ScreenColor) -> Double {
        let low = min(one.luminance, other.luminance)
        let high = max(one.luminance, other.luminance)
        return (high + 0.05) / (low + 0.05)
    }

    @Test(arguments: Theme.allCases, [8, 16, 88, 256])
    func `every colour of text has a contrast of 4.5 to 1 on its background`(theme: Theme, colors: Int) {
        let background = theme == .dark ? Self.black : Self.white
        for style in Style.allCases {
            guard let index = theme.color(of: style, colors: colors) else { continue }
            #expect(index < colors)
            #expect(Self.contrast(Self.xterm(index), background) >= 4.5, "\(style)")
        }
        #expect(theme.color(of: .playing, colors: 2) == nil)
    }

    @Test func `the contrast is that of WCAG`() {
        #expect(abs(Self.contrast(Self.black, Self.white) - 21) < 0.001)
        #expect(abs(Self.contrast(ScreenColor(red: 1, green: 0, blue: 0), Self.white) - 3.998) < 0.001)
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
}
