/// Chooses attributes and colours for cells, for the number of colours of the terminal. Pure.
///
/// The user's colours come first, then those of the theme, then those of its base. A base has a background
/// only for marked and selected rows, matches and the open tab, and only with 256 colours, which have soft
/// ones; with fewer, the selected row and the tab are reversed.
/// Without colour (`NO_COLOR`, monochrome), only attributes and symbols distinguish the styles. The
/// terminal's own palette is never redefined: other programs use it too.
struct Palette: Sendable, Equatable {
    /// More colours than a palette has: then each is named by its red, green and blue.
    static let exactColors = 1 << 24

    /// The number of the terminal's colours that may be used, 0 for none.
    private let most: Int
    private let own: ColorTable
    private let theme: Theme
    let base: BaseTheme
    /// The colour of text that has none: the terminal's own, unless the theme has a background.
    private let text: ColorChoice

    /// `colors` is the number of the terminal's colours; fewer than 8 are not used. `own` has the user's.
    /// `terminal` fits the terminal's background.
    init(
        colors: Int,
        own: ColorTable = ColorTable(),
        theme: Theme = .dark,
        terminal: BaseTheme = .dark
    ) {
        most = colors >= 8 ? colors : 0
        self.own = own
        self.theme = theme
        let paper = theme.background(colors: most)
        base = theme.base ?? paper.map { BaseTheme(on: $0) } ?? terminal
        text = paper == nil ? .standard : ColorChoice.exact(base.ink).drawable(with: most) ?? .standard
    }

    /// This palette with another theme, or for another background of the terminal.
    func showing(_ theme: Theme, terminal: BaseTheme) -> Palette {
        Palette(colors: most, own: own, theme: theme, terminal: terminal)
    }

    /// The number of colours that are used, 0 for none.
    var colors: Int { base == .mono ? 0 : most }

    /// `true` if the terminal's background decides how this looks.
    var followsTerminal: Bool {
        most > 0 && theme.base == nil && theme.background(colors: most) == nil
    }

    func rendition(of cell: Cell) -> Rendition {
        var rendition = Rendition()
        rendition.paper = color(behind: cell)
        let chosen = chosenColor(of: cell)
        rendition.ink = chosen ?? color(of: cell)
        if cell.ground == .selected, rendition.paper == .standard, cell.style.isReversed {
            return Rendition(isReversed: true)
        }
        switch cell.style {
        case .normal, .notice, .played, .cached, .inFlight, .soft, .middling, .loud, .loudest: break
        case .title, .playing, .prompt, .marked, .heading, .head: rendition.isBold = true
        case .error: rendition.isBold = colors == 0
        // None of the sixteen colours is dim and readable on every background, but the attribute is.
        // On a background that is not the terminal's own it would be too faint.
        case .dim where cell.ground == .selected, .faint where cell.ground == .selected: break
        // A colour that was chosen for it, or a grey, is dim already.
        case .dim, .faint, .missing: rendition.isDim = chosen == nil && colors < 256
        }
        return rendition
    }

    /// The colour that the user, the view or the theme has for the cell; `nil` if none has.
    private func chosenColor(of cell: Cell) -> ColorChoice? {
        guard colors > 0 else { return nil }
        let choice = cell.ink.map { ColorChoice.exact($0) } ?? own.inks[cell.style]
        return choice?.drawable(with: colors) ?? theme.color(of: style(of: cell), colors: colors)
    }

    private func color(of cell: Cell) -> ColorChoice {
        base.color(of: style(of: cell), colors: colors).map { .index($0) } ?? text
    }

    /// On the background of a row the fainter grey would be too faint.
    private func style(of cell: Cell) -> Style {
        cell.style == .faint && (cell.ground == .selected || cell.ground == .marked) ? .dim : cell.style
    }

    private func color(behind cell: Cell) -> ColorChoice {
        guard colors > 0 else { return .standard }
        return cell.paper.map { ColorChoice.exact($0) }?.drawable(with: colors) ?? color(behind: cell.ground)
    }

    private func color(behind ground: Ground) -> ColorChoice {
        let choice =
            own.papers[ground]?.drawable(with: colors) ?? theme.color(behind: ground, colors: colors)
            ?? base.color(behind: ground, colors: colors).map { .index($0) }
        return choice ?? (ground == .marked || ground == .match ? color(behind: .plain) : .standard)
    }
}

/// How a terminal draws a cell: the colours are ones that it has.
struct Rendition: Sendable, Equatable {
    var isBold = false
    var isDim = false
    var isReversed = false
    var ink = ColorChoice.standard
    var paper = ColorChoice.standard
}

extension Style {
    /// `true` if it is reversed in a selected row without a background: everything but the map, which stays a
    /// line, the matches of a text and the sign of the row.
    fileprivate var isReversed: Bool {
        switch self {
        case .played, .cached, .inFlight, .missing, .prompt, .head: false
        default: true
        }
    }
}
