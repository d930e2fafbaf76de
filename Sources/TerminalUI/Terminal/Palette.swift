/// Chooses attributes and colours for cells, for the number of colours of the terminal. Pure.
///
/// Unless the user chose others, only marked and selected rows and the open tab have a background of ours,
/// and only with 256 colours, which have soft ones; with fewer, the selected row and the tab are reversed.
/// Without colour (`NO_COLOR`, monochrome), only attributes and symbols distinguish the styles. The
/// terminal's own palette is never redefined: other programs use it too.
struct Palette: Sendable, Equatable {
    /// More colours than a palette has: then each is named by its red, green and blue.
    static let exactColors = 1 << 24

    /// The number of the terminal's colours that may be used, 0 for none.
    private let most: Int
    private let own: ColorTable
    var theme: Theme

    /// `colors` is the number of the terminal's colours; fewer than 8 are not used. `own` has the user's.
    init(colors: Int, own: ColorTable = ColorTable(), theme: Theme = .dark) {
        most = colors >= 8 ? colors : 0
        self.own = own
        self.theme = theme
    }

    /// The number of colours that are used, 0 for none.
    var colors: Int { theme == .mono ? 0 : most }

    /// `true` if colours are used, so that the theme matters.
    var hasColors: Bool { colors > 0 }

    func rendition(of cell: Cell) -> Rendition {
        var rendition = Rendition()
        rendition.paper = color(behind: cell)
        if cell.ground == .selected, rendition.paper == .standard, cell.style.isReversed {
            rendition.isReversed = true
            return rendition
        }
        switch cell.style {
        case .normal, .notice, .played, .cached, .inFlight, .soft, .middling, .loud, .loudest: break
        case .title, .playing, .prompt, .marked, .heading, .head: rendition.isBold = true
        case .error: rendition.isBold = !hasColors
        // None of the sixteen colours is dim and readable in every theme, but the attribute is.
        // On a background that is not the terminal's own it would be too faint.
        case .dim where cell.ground == .selected: break
        case .dim, .missing: rendition.isDim = true
        }
        rendition.ink = color(of: cell)
        return rendition
    }

    private func color(of cell: Cell) -> ColorChoice {
        guard hasColors else { return .standard }
        let choice = cell.ink.map { ColorChoice.exact($0) } ?? own.inks[cell.style]
        return choice?.drawable(with: colors)
            ?? theme.color(of: cell.style, colors: colors).map { .index($0) } ?? .standard
    }

    private func color(behind cell: Cell) -> ColorChoice {
        guard hasColors else { return .standard }
        let choice = cell.paper.map { ColorChoice.exact($0) } ?? own.papers[cell.ground]
        return choice?.drawable(with: colors)
            ?? theme.color(behind: cell.ground, colors: colors).map { .index($0) } ?? .standard
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
    /// line, and the matches of a text.
    fileprivate var isReversed: Bool {
        switch self {
        case .played, .cached, .inFlight, .missing, .prompt: false
        default: true
        }
    }
}
