internal import CUtf8proc

/// One user-perceived character, reduced to the parts that all terminals draw in the same way.
///
/// Terminals disagree on joined emoji and on variation selectors: some draw one glyph of two columns, others
/// draw each part. So only the first character of a cluster and its combining marks are drawn, which keeps
/// the columns after it in place. For the same reason the two halves of a flag are separate clusters.
package struct TextCluster: Equatable {
    /// The most combining marks, more than any language uses; further ones are dropped (ncurses has the same
    /// limit).
    static let mostMarks = 4

    /// One spacing character and its combining marks.
    package let text: String
    /// Columns: 1 or 2.
    package let width: Int

    /// Calls `body` with each cluster of `text` in order, until it returns `false`.
    package static func forEach(in text: SafeText, _ body: (TextCluster) -> Bool) {
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
        // A mark without a base character, or a character without a width, gets a column of its own.
        if columns < 1 { scalars.append(Self.isMark(base) ? "\u{25CC}" : "\u{FFFD}") }
        if columns >= 1 || Self.isMark(base) { scalars.append(base) }
        scalars.append(contentsOf: marks)
        text = String(scalars)
        width = Self.isRegionalIndicator(base) ? 1 : min(2, max(1, columns))
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch utf8proc_category(Int32(bitPattern: scalar.value)) {
        case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME:
            // A variation selector changes the width on some terminals only.
            !(0xFE00...0xFE0F).contains(scalar.value)
        default: false
        }
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }
}

extension SafeText {
    /// `true` if each byte is a character of one column. Most text is, and looking up its properties would take a third
    /// of the time of a drawing.
    private var isPrintableASCII: Bool { string.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// The number of columns that the text takes on a screen.
    package var columns: Int {
        if isPrintableASCII { return string.utf8.count }
        var columns = 0
        TextCluster.forEach(in: self) { cluster in
            columns += cluster.width
            return true
        }
        return columns
    }

    /// The text in at most `limit` columns, with `ellipsis` (one column) at its end if it was truncated.
    ///
    /// A wide character is never split, so the result may be one column short. Empty for a limit of 0 or
    /// less.
    package func cut(toColumns limit: Int, ellipsis: SafeText = "…") -> SafeText {
        guard limit > 0 else { return "" }
        if isPrintableASCII, string.utf8.count <= limit { return self }
        var columns = 0
        var whole = ""
        var beforeEllipsis = ""
        TextCluster.forEach(in: self) { cluster in
            columns += cluster.width
            if columns < limit { beforeEllipsis += cluster.text }
            if columns <= limit { whole += cluster.text }
            return columns <= limit
        }
        return columns <= limit ? SafeText(whole) : SafeText(beforeEllipsis) + ellipsis
    }

    /// The text in lines of at most `limit` columns (at least 1), broken at blanks if possible; at least one
    /// line.
    package func wrapped(toColumns limit: Int) -> [SafeText] {
        var lines: [String] = []
        var (line, columns) = ("", 0)
        for word in string.split(separator: " ").map({ SafeText($0) }) {
            let width = word.columns
            if columns > 0, columns + 1 + width > limit {
                lines.append(line)
                (line, columns) = ("", 0)
            }
            if columns > 0 { (line, columns) = (line + " ", columns + 1) }
            // A word longer than a line is broken anywhere.
            TextCluster.forEach(in: word) { cluster in
                if columns + cluster.width > limit, columns > 0 {
                    lines.append(line)
                    (line, columns) = ("", 0)
                }
                line += cluster.text
                columns += cluster.width
                return true
            }
        }
        if columns > 0 || lines.isEmpty { lines.append(line) }
        return lines.map { SafeText($0) }
    }
}
