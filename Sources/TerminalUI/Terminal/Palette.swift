internal import CCurses

/// Converts styles to attributes and colour pairs, for the number of colours of the terminal.
///
/// The background remains the terminal's own. Without colour (`NO_COLOR`, monochrome), only attributes and
/// symbols distinguish the styles.
struct Palette {
    private let colors: Int32
    private let choices: [Style: ColorChoice]

    /// Prepares the colour pairs; `choices` are the user's own. Needs `newterm` first, on the screen's
    /// thread.
    init(usesColor: Bool, choices: [Style: ColorChoice]) {
        self.choices = choices
        guard usesColor, has_colors(), start_color() == OK, use_default_colors() == OK else {
            colors = 0
            return
        }
        colors = curses_colors()
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
        case .index, nil: return Self.color(of: style, colors: colors)
        }
    }

    private static func color(of style: Style, colors: Int32) -> Int32? {
        let isRich = colors >= 256
        return switch style {
        case .normal, .title, .selected, .dim, .missing, .prompt, .head: nil
        case .marked: isRich ? 180 : COLOR_YELLOW
        case .playing: isRich ? 114 : COLOR_GREEN
        case .played: isRich ? 78 : COLOR_GREEN
        case .cached: isRich ? 67 : COLOR_BLUE
        case .inFlight: isRich ? 179 : COLOR_YELLOW
        case .error: isRich ? 203 : COLOR_RED
        case .notice: isRich ? 180 : COLOR_YELLOW
        case .soft: isRich ? 71 : COLOR_GREEN
        case .middling: isRich ? 179 : COLOR_YELLOW
        case .loud: isRich ? 203 : COLOR_RED
        }
    }
}
