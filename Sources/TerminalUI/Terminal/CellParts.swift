internal import CCurses
internal import Glibc

/// The text of a cell as characters with columns, each with its marks, for which the C library counts the
/// same columns as we do. ncurses and most terminals ask it too.
///
/// Its table can be older than ours or, in other locales, smaller. A character with another width there is
/// replaced by its ASCII form or a question mark.
struct CellParts {
    private(set) var parts: [[wchar_t]] = []
    private let width: Int

    init(of cell: Cell, isUnicode: Bool) {
        width = cell.width
        var columns = 0
        for character in cell.text.unicodeScalars.map({ wchar_t($0.value) }) {
            let width = isUnicode || character < 0x7F ? max(0, Int(wcwidth(character))) : 0
            if width == 0, let last = parts.indices.last {
                if isUnicode { parts[last].append(character) }
            } else {
                parts.append([character])
                columns += width
            }
        }
        guard columns != cell.width else { return }
        let question = parts.first.flatMap { Self.asciiForms[$0[0]] } ?? 0x3F
        parts = [[question]] + Self.blanks(cell.width - 1)
    }

    /// `true` if all terminals draw the parts in the cell's columns. Some join emoji: wide characters after
    /// the first.
    var isCertain: Bool { parts.count == 1 || parts.count == width }

    var text: String {
        String(String.UnicodeScalarView(parts.joined().compactMap { Unicode.Scalar(UInt32($0)) }))
    }

    /// Blanks over all columns of the cell.
    var blanks: [[wchar_t]] { Self.blanks(width) }

    private static func blanks(_ count: Int) -> [[wchar_t]] { Array(repeating: [0x20], count: count) }

    /// The ASCII forms of symbols in our own messages.
    private static let asciiForms: [wchar_t: wchar_t] = [0x2013: 0x2D, 0xB7: 0x2D, 0x2026: 0x7E]
}
