/// The colours of the text: for a terminal's background of one brightness, or none.
package enum Theme: String, Sendable, CaseIterable {
    case dark
    case light
    /// No colours, on any background.
    case mono

    /// The theme on a background: the one whose text, black or white, has the higher contrast (WCAG 2).
    package init(on background: ScreenColor) { self = background.luminance > 0.179 ? .light : .dark }

    /// The colour of `style` on a terminal with `colors` colours; `nil` for the terminal's foreground.
    ///
    /// With xterm's palette each has a contrast of at least 4.5 : 1, on black or on white. That leaves few of
    /// the first sixteen: on white only red, blue and magenta.
    package func color(of style: Style, colors: Int) -> Int? {
        guard colors >= 8, self != .mono else { return nil }
        let choice: (rich: (dark: Int, light: Int), plain: (dark: Int, light: Int))
        switch style {
        case .normal, .title, .dim, .missing, .prompt, .head: return nil
        case .marked, .heading, .notice: choice = ((180, 94), (Self.yellow, Self.magenta))
        case .playing: choice = ((114, 28), (Self.green, Self.blue))
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
            choice = ((203, 124), (Self.brightRed, Self.red))
        }
        let pair = colors >= 256 ? choice.rich : choice.plain
        return self == .dark ? pair.dark : pair.light
    }

    /// The soft background of a cell; `nil` for the terminal's own, which is the only one with fewer than 256
    /// colours.
    package func color(behind ground: Ground, colors: Int) -> Int? {
        guard colors >= 256, self != .mono else { return nil }
        switch ground {
        case .plain: return nil
        case .marked: return self == .dark ? 235 : 255
        case .selected: return self == .dark ? 237 : 254
        case .match: return self == .dark ? 58 : 229
        }
    }

    /// The colour of the part called `name` in the configuration, by its name of the first sixteen and by its
    /// number of 256, as `green (114)`; `default` for the terminal's own.
    package func colorText(of name: String) -> String {
        if let ground = Ground.allCases.first(where: { $0.name == name }) {
            return color(behind: ground, colors: 256).map { "\($0)" } ?? "default"
        }
        guard let style = Style.allCases.first(where: { $0.name == name }),
            let rich = color(of: style, colors: 256)
        else { return "default" }
        return color(of: style, colors: 16).map { "\(ColorChoice.name(of: $0)) (\(rich))" } ?? "\(rich)"
    }

    private static let red = 1
    private static let green = 2
    private static let yellow = 3
    private static let blue = 4
    private static let magenta = 5
    private static let cyan = 6
    private static let brightRed = 9
}
