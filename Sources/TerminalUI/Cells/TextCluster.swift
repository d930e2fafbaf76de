internal import CUtf8proc
internal import Media

/// What a reader takes for one character, reduced to what every terminal draws alike.
///
/// Terminals disagree on joined emoji and on variation selectors: some draw one picture of two
/// columns, others each part. A cluster is therefore drawn by its first character and the marks
/// on it, so that the columns after it stand where we think they do. The halves of a flag stay
/// two clusters of their own for the same reason.
struct TextCluster: Equatable {
    /// More marks than any language stacks; the rest is dropped (ncurses keeps no more either).
    static let mostMarks = 4

    /// One spacing character and the marks on it.
    let text: String
    /// Columns: 1 or 2.
    let width: Int

    /// Calls `body` with each cluster of `text` in order, until it returns false.
    static func forEach(in text: SafeText, _ body: (TextCluster) -> Bool) {
        var base: Unicode.Scalar?
        var marks: [Unicode.Scalar] = []
        var previous: Int32 = 0
        var state: Int32 = 0
        for scalar in text.string.unicodeScalars {
            let value = Int32(bitPattern: scalar.value)
            let breaks =
                base == nil || utf8proc_grapheme_break_stateful(previous, value, &state)
                || isRegionalIndicator(scalar)
            previous = value
            if breaks {
                if let base, !body(TextCluster(base, marks)) { return }
                base = scalar
                marks.removeAll(keepingCapacity: true)
            } else if isMark(scalar), marks.count < mostMarks {
                marks.append(scalar)
            }
        }
        if let base { _ = body(TextCluster(base, marks)) }
    }

    private init(_ base: Unicode.Scalar, _ marks: [Unicode.Scalar]) {
        let columns = Int(utf8proc_charwidth(Int32(bitPattern: base.value)))
        var scalars = String.UnicodeScalarView()
        // A mark without a character to stand on, or a character of no width, gets a place of its own.
        if columns < 1 { scalars.append(Self.isMark(base) ? "\u{25CC}" : "\u{FFFD}") }
        if columns >= 1 || Self.isMark(base) { scalars.append(base) }
        scalars.append(contentsOf: marks)
        text = String(scalars)
        width = Self.isRegionalIndicator(base) ? 1 : min(2, max(1, columns))
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch utf8proc_category(Int32(bitPattern: scalar.value)) {
        case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME:
            // A variation selector asks for two columns of some terminals only.
            !(0xFE00...0xFE0F).contains(scalar.value)
        default: false
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }
}
