internal import CCurses

/// The colour pairs of ncurses, each prepared when the first cell needs it.
///
/// Needs `newterm` first, on the screen's thread.
struct ColorPairs {
    /// The number of the terminal's colours, at most 256; 0 without colours.
    let colors: Int
    private var numbers: [Colors: Int16] = [:]
    /// `true` once a cell got no pair because the terminal has no more.
    private(set) var isFull = false

    private struct Colors: Hashable {
        var ink: ColorChoice
        var paper: ColorChoice
    }

    init(usesColor: Bool) {
        guard usesColor, has_colors(), start_color() == OK, use_default_colors() == OK else {
            colors = 0
            return
        }
        colors = min(256, Int(curses_colors()))
    }

    /// The values for `setcchar`; the terminal's own colours if there are no more pairs.
    mutating func values(for rendition: Rendition) -> (attributes: attr_t, pair: Int16) {
        var attributes: attr_t = 0
        if rendition.isBold { attributes |= curses_bold() }
        if rendition.isDim { attributes |= curses_dim() }
        if rendition.isReversed { attributes |= curses_reverse() }
        return (attributes, number(of: Colors(ink: rendition.ink, paper: rendition.paper)))
    }

    private mutating func number(of colors: Colors) -> Int16 {
        if colors == Colors(ink: .standard, paper: .standard) { return 0 }
        if let number = numbers[colors] { return number }
        guard let number = Int16(exactly: numbers.count + 1),
            init_pair(number, Self.number(of: colors.ink), Self.number(of: colors.paper)) == OK
        else {
            isFull = true
            return 0
        }
        numbers[colors] = number
        return number
    }

    private static func number(of color: ColorChoice) -> Int16 {
        switch color {
        case .index(let index): Int16(index)
        case .standard, .exact: -1
        }
    }

    /// Frees all pairs; every cell must be written again.
    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        isFull = false
    }
}
