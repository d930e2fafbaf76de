internal import CUtf8proc

/// One user-perceived character, with all of its code points and the columns that they take one by one.
///
/// Many terminals (xterm, VTE, Alacritty) draw code point by code point, with the columns of `wcwidth`.
/// Others join emoji, in fewer columns. So a cluster gets the columns of all its code points, which is room
/// enough on both. The two halves of a flag are separate clusters, of one column each.
package struct TextCluster: Equatable {
    /// The most combining marks, and the most characters with columns after the first one; more than any
    /// language uses. Further marks are dropped; further characters begin a cluster of their own.
    static let mostParts = 8

    /// The first character, and what combines with it, in composed form (NFC) unless the first one is ASCII.
    package let text: String
    /// Columns: 1 or 2 for a single character; more for Indic syllables and joined emoji.
    package let width: Int

    /// Calls `body` with each cluster of `text` in order, until it returns `false`.
    package static func forEach(in text: SafeText, _ body: (TextCluster) -> Bool) {
        var scalars: [Unicode.Scalar] = []
        var marks = 0
        var parts = 0
        var previous: Int32 = 0
        var state: Int32 = 0
        for scalar in text.string.unicodeScalars {
            let value = Int32(bitPattern: scalar.value)
            let breaks =
                utf8proc_grapheme_break_stateful(previous, value, &state) || isRegionalIndicator(scalar)
            previous = value
            let isMark = columns(of: scalar) == 0
            if scalars.isEmpty || breaks || (!isMark && parts == mostParts) {
                if !scalars.isEmpty, !body(TextCluster(scalars)) { return }
                // Keeps its memory: nearly every cluster is one character, and a screen has thousands.
                scalars.removeAll(keepingCapacity: true)
                scalars.append(scalar)
                marks = 0
                parts = 0
            } else if !isMark {
                scalars.append(scalar)
                parts += 1
            } else if marks < mostParts, !isEmojiStyle(scalar) {
                scalars.append(scalar)
                marks += 1
            }
        }
        if !scalars.isEmpty { _ = body(TextCluster(scalars)) }
    }

    private init(_ scalars: [Unicode.Scalar]) {
        if scalars.count == 1, case let columns = Self.columns(of: scalars[0]), columns > 0 {
            text = String(scalars[0])
            width = columns
            return
        }
        var scalars = scalars
        // A mark without a base character, or a character without a width, gets a column of its own.
        if let base = scalars.first, Self.columns(of: base) == 0 {
            scalars.replaceSubrange(0..<1, with: Self.combines(base) ? ["\u{25CC}", base] : ["\u{FFFD}"])
        }
        if scalars.count > 1, scalars[0].value >= 0x80 { scalars = Self.composed(scalars) }
        text = String(String.UnicodeScalarView(scalars))
        width = scalars.reduce(0) { $0 + Self.columns(of: $1) }
    }

    /// The canonical composition of `scalars`: not every terminal joins Korean jamo to syllables.
    private static func composed(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
        var codes = scalars.map { Int32(bitPattern: $0.value) }
        let count = utf8proc_normalize_utf32(&codes, codes.count, UTF8PROC_COMPOSE)
        return count < 0 ? scalars : codes.prefix(count).compactMap { Unicode.Scalar(UInt32(bitPattern: $0)) }
    }

    /// 0 for marks and for characters that are not drawn.
    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if isConjoiningJamo(scalar) { return 0 }
        let columns = Int(utf8proc_charwidth(Int32(bitPattern: scalar.value)))
        // The library counts none for spacing marks. The exceptions are the Korean tone marks.
        let isSpacing = utf8proc_category(Int32(bitPattern: scalar.value)) == UTF8PROC_CATEGORY_MC
        return isSpacing && !(0x302E...0x302F).contains(scalar.value) ? 1 : max(0, min(2, columns))
    }

    /// `true` if the scalar is drawn on the character before it.
    private static func combines(_ scalar: Unicode.Scalar) -> Bool {
        switch utf8proc_category(Int32(bitPattern: scalar.value)) {
        case UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME: !isEmojiStyle(scalar)
        default: false
        }
    }

    /// `true` for the vowels and final consonants of Korean syllables.
    private static func isConjoiningJamo(_ scalar: Unicode.Scalar) -> Bool {
        (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value)
    }

    /// `true` for the variation selectors that change the width of emoji, on some terminals only.
    private static func isEmojiStyle(_ scalar: Unicode.Scalar) -> Bool {
        (0xFE0E...0xFE0F).contains(scalar.value)
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }
}

extension SafeText {
    /// `true` if each byte is a character of one column. Most text is, and looking up its properties would
    /// take a third of the time of a drawing.
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
        var line = ""
        var columns = 0
        for word in string.split(separator: " ").map({ SafeText($0) }) {
            let width = word.columns
            if columns > 0, columns + 1 + width > limit {
                lines.append(line)
                line = ""
                columns = 0
            }
            if columns > 0 {
                line += " "
                columns += 1
            }
            // A word longer than a line is broken anywhere.
            TextCluster.forEach(in: word) { cluster in
                if columns + cluster.width > limit, columns > 0 {
                    lines.append(line)
                    line = ""
                    columns = 0
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
