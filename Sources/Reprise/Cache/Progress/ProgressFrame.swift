/// The lines at the foot of a terminal that are drawn over and over: pure.
///
/// Text for the terminal comes out (ECMA-48: CUU, ED); no line may be as wide as it, for it would wrap.
struct ProgressFrame: Sendable, Equatable {
    private(set) var shownLines: [String] = []

    /// Draws `lines` in place of those that are there; nothing where they are the same.
    mutating func draw(_ lines: [String]) -> String {
        guard lines != shownLines else { return "" }
        let text = erased + lines.map { $0 + "\n" }.joined()
        shownLines = lines
        return text
    }

    /// Takes the lines away, so that what is written next stands in their place.
    mutating func erase() -> String {
        defer { shownLines = [] }
        return erased
    }

    /// Up to the first line, and everything from there on cleared.
    private var erased: String {
        shownLines.isEmpty ? "" : "\u{1B}[\(shownLines.count)A\r\u{1B}[J"
    }
}
