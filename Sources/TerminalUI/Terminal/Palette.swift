internal import CCurses

/// Converts styles to attributes and colour pairs, for the number of colours of the terminal.
///
/// The background remains the terminal's own. Without colour (`NO_COLOR`, monochrome), only attributes and
/// symbols distinguish the styles.
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
        for style in Style.allCases {
            if let color = color(of: style) {
                init_pair(Int16(style.rawValue) + 1, Int16(color), -1)
            }
        }
    }

    /// The values for `setcchar`.
    func rendition(of style: Style) -> (attributes: attr_t, pair: Int16) {
        let hasPair = color(of: style) != nil
        return (attributes(of: style), hasPair ? Int16(style.rawValue) + 1 : 0)
    }

    private func attributes(of style: Style) -> attr_t {
        switch style {
        case .normal, .notice, .played, .cached, .inFlight, .soft, .middling, .loud: 0
        case .title, .playing, .prompt, .marked, .head: curses_bold()
        case .selected: curses_reverse()
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
}
