internal import CCurses

/// Converts styles to attributes and colour pairs, for the number of colours of the terminal.
///
/// Only marked and selected rows and the open tab have a background of ours, and only with 256 colours, which
/// have soft ones; with fewer, the selected row and the tab are reversed. Without colour (`NO_COLOR`,
/// monochrome), only attributes and symbols distinguish the styles.
struct Palette {
    private let colors: Int32
    private let choices: [Style: ColorChoice]
    private var theme: Theme

    /// Prepares the colour pairs; `choices` are the user's own. Needs `newterm` first, on the screen's
    /// thread.
    init(usesColor: Bool, choices: [Style: ColorChoice], theme: Theme) {
        self.choices = choices
        self.theme = theme
        guard usesColor, has_colors(), start_color() == OK, use_default_colors() == OK else {
            colors = 0
            return
        }
        colors = curses_colors()
        preparePairs()
    }

    /// `true` if colours are used, so that the theme matters.
    var hasColors: Bool { colors >= 8 }

    /// Prepares the colour pairs again for `theme`; `false` if that is the present one.
    mutating func change(to theme: Theme) -> Bool {
        guard theme != self.theme else { return false }
        self.theme = theme
        preparePairs()
        return true
    }

    private func preparePairs() {
        for ground in Ground.allCases {
            for style in Style.allCases {
                let colors = (color(of: style) ?? -1, color(behind: ground) ?? -1)
                init_pair(Self.pair(style, ground), Int16(colors.0), Int16(colors.1))
            }
        }
    }

    private static func pair(_ style: Style, _ ground: Ground) -> Int16 {
        Int16(ground.rawValue) * Int16(Style.allCases.count) + Int16(style.rawValue) + 1
    }

    /// The values for `setcchar`.
    func rendition(of style: Style, on ground: Ground) -> (attributes: attr_t, pair: Int16) {
        let background = color(behind: ground)
        if ground == .selected, background == nil, style.isReversed { return (curses_reverse(), 0) }
        let hasPair = background != nil || color(of: style) != nil
        return (attributes(of: style), hasPair ? Self.pair(style, ground) : 0)
    }

    private func attributes(of style: Style) -> attr_t {
        switch style {
        case .normal, .selected, .notice, .played, .cached, .inFlight, .soft, .middling, .loud: 0
        case .title, .playing, .prompt, .marked, .heading, .head: curses_bold()
        case .error: colors > 0 ? 0 : curses_bold()
        // None of the sixteen colours is dim and readable in every theme, but the attribute is.
        case .dim, .missing: curses_dim()
        }
    }

    /// The user's choice if the terminal has that colour, else ours; `nil` for the terminal's foreground.
    private func color(of style: Style) -> Int32? {
        guard colors >= 8 else { return nil }
        switch choices[style] {
        case .standard: return nil
        case .index(let index) where index < colors: return Int32(index)
        case .index, nil: return theme.color(of: style, colors: Int(colors)).map { Int32($0) }
        }
    }

    /// The user's choice for the selected row, else ours; `nil` for the terminal's background.
    private func color(behind ground: Ground) -> Int32? {
        guard colors >= 8 else { return nil }
        if ground == .selected, let choice = choices[.selected] {
            switch choice {
            case .standard: return nil
            case .index(let index) where index < colors: return Int32(index)
            case .index: break
            }
        }
        return theme.color(behind: ground, colors: Int(colors)).map { Int32($0) }
    }
}

extension Style {
    /// `true` if it is reversed in a selected row without a background: everything but the map, which stays a
    /// line, and the matches of a text.
    fileprivate var isReversed: Bool {
        switch self {
        case .played, .cached, .inFlight, .missing, .prompt: false
        default: true
        }
    }
}
