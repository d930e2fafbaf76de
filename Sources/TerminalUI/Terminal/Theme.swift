package import Media

/// A named set of colours, above those of a base.
package struct Theme: Sendable, Equatable {
    package let name: String
    /// The base; `nil` if the theme's own background decides, or else the terminal's.
    let base: BaseTheme?
    let colors: ColorTable

    /// A theme with colours of its own. What it leaves open has the colour of its base.
    package init(_ name: String, colors: ColorTable) {
        self.name = name
        self.colors = colors
        base = nil
    }

    private init(_ base: BaseTheme) {
        name = base.rawValue
        colors = ColorTable()
        self.base = base
    }

    /// Dark or light, like the terminal's background.
    package static let auto = Theme("auto", colors: ColorTable())
    package static let dark = Theme(.dark)
    package static let light = Theme(.light)
    package static let mono = Theme(.mono)
    /// The themes without a file.
    package static let plain = [auto, dark, light, mono]

    /// The theme's own background; `nil` for the terminal's.
    func background(colors: Int) -> ScreenColor? {
        switch color(behind: .plain, colors: colors) {
        case .exact(let color): color
        case .index(let index): ScreenColor(index: index)
        case .standard, nil: nil
        }
    }

    /// The theme's own colour of a text; `nil` if the base has it.
    func color(of style: Style, colors: Int) -> ColorChoice? { Self.shown(self.colors.inks[style], colors) }

    /// The theme's own colour of a background; `nil` if the base has it.
    func color(behind ground: Ground, colors: Int) -> ColorChoice? {
        Self.shown(self.colors.papers[ground], colors)
    }

    /// Of the first sixteen colours the nearest ones could be unreadable on each other, so with fewer than
    /// 256 a theme has none of its exact colours.
    private static func shown(_ choice: ColorChoice?, _ colors: Int) -> ColorChoice? {
        if case .exact = choice, colors < 256 { return nil }
        return choice?.drawable(with: colors)
    }

    /// The colour of the part called `name` in the configuration: `#rrggbb`, its name of the first sixteen
    /// and its number of 256, as `green (114)`, or `default` for the terminal's own.
    package func colorText(of name: String) -> String {
        let style = Style.allCases.first { $0.name == name }
        let ground = Ground.allCases.first { $0.name == name }
        let own = style.flatMap { colors.inks[$0] } ?? ground.flatMap { colors.papers[$0] }
        let palette = Palette(colors: Palette.exactColors, theme: self)
        return own?.text ?? palette.base.colorText(style, ground)
    }
}

/// A theme as the user can choose it.
package struct ThemeChoice: Sendable, Equatable {
    package let name: String
    /// `nil` if its file is broken.
    package let theme: Theme?
    /// The sentence for the user about a broken file.
    package let problem: SafeText

    package init(_ theme: Theme) {
        name = theme.name
        self.theme = theme
        problem = ""
    }

    package init(_ name: String, problem: SafeText) {
        self.name = name
        self.problem = problem
        theme = nil
    }
}

/// The colours of the text for a background of one brightness, or none.
enum BaseTheme: String, Sendable, CaseIterable {
    case dark
    case light
    /// No colours, on any background.
    case mono

    /// The base on a background: the one whose text, black or white, has the higher contrast (WCAG 2).
    init(on background: ScreenColor) { self = background.luminance > 0.179 ? .light : .dark }

    /// The colour of text on a background of ours.
    var ink: ScreenColor { ScreenColor(self == .light ? 0x000000 : 0xFFFFFF) }

    /// The colour of `style` on a terminal with `colors` colours; `nil` for the terminal's foreground.
    ///
    /// With xterm's palette each has a contrast of at least 4.5 : 1 on black or on white, and those of words
    /// have it on the backgrounds of rows too. That leaves few of the first sixteen: on white only red, blue
    /// and magenta.
    func color(of style: Style, colors: Int) -> Int? {
        guard colors >= 8, self != .mono else { return nil }
        let choice: (rich: (dark: Int, light: Int), plain: (dark: Int, light: Int))
        switch style {
        case .normal, .title, .prompt, .head: return nil
        case .dim, .faint, .missing:
            // None of the first sixteen colours is grey and readable on every background.
            guard colors >= 256 else { return nil }
            let grey = style == .dim ? (248, 240) : style == .faint ? (244, 243) : (245, 243)
            return self == .dark ? grey.0 : grey.1
        case .marked, .heading: choice = ((182, 53), (Self.white, Self.magenta))
        case .notice: choice = ((180, 94), (Self.yellow, Self.magenta))
        case .playing: choice = ((114, 22), (Self.green, Self.blue))
        case .played: choice = ((78, 28), (Self.green, Self.magenta))
        case .cached: choice = ((67, 25), (Self.cyan, Self.blue))
        case .inFlight: choice = ((179, 94), (Self.yellow, Self.red))
        case .soft: choice = ((71, 28), (Self.green, Self.blue))
        case .middling: choice = ((73, 23), (Self.cyan, Self.blue))
        case .loud: choice = ((68, 25), (Self.cyan, Self.magenta))
        case .loudest: choice = ((140, 91), (Self.yellow, Self.magenta))
        case .error:
            // Only the bright red is readable on black.
            if self == .dark, colors < 16 { return nil }
            choice = ((210, 124), (Self.brightRed, Self.red))
        }
        let pair = colors >= 256 ? choice.rich : choice.plain
        return self == .dark ? pair.dark : pair.light
    }

    /// The soft background of a cell; `nil` for the terminal's own, which is the only one with fewer than 256
    /// colours.
    func color(behind ground: Ground, colors: Int) -> Int? {
        guard colors >= 256, self != .mono else { return nil }
        switch ground {
        case .plain: return nil
        case .marked, .selected: return self == .dark ? 237 : 254
        case .match: return self == .dark ? 58 : 229
        }
    }

    /// The colour of a part, for people.
    fileprivate func colorText(_ style: Style?, _ ground: Ground?) -> String {
        let rich =
            style.flatMap { color(of: $0, colors: 256) } ?? ground.flatMap { color(behind: $0, colors: 256) }
        guard let rich else { return "default" }
        let plain = style.flatMap { color(of: $0, colors: 16) }
        return plain.map { "\(ColorChoice.name(of: $0)) (\(rich))" } ?? "\(rich)"
    }

    private static let red = 1
    private static let green = 2
    private static let yellow = 3
    private static let blue = 4
    private static let magenta = 5
    private static let cyan = 6
    private static let white = 7
    private static let brightRed = 9
}
