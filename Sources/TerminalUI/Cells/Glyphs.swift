package import Media

/// The signs that are more than letters, in two sets: for UTF-8 locales and for all others.
package struct Glyphs: Sendable, Equatable {
    package var playing: SafeText
    package var paused: SafeText
    package var stopped: SafeText
    package var waiting: SafeText
    package var failed: SafeText
    package var dash: SafeText
    /// Marks the cut end of a text; one column.
    package var ellipsis: SafeText
    /// Follows a word for what is still under way.
    package var more: SafeText
    package var cursor: SafeText
    /// A track that the next command is about.
    package var mark: SafeText
    /// Music that is here, whole.
    package var whole: SafeText
    package var pin: SafeText
    /// Where in the bar the music is.
    package var head: SafeText
    package var isUnicode: Bool

    /// Signs of the old PC character set, which the Linux console has too.
    package static let unicode = Glyphs(
        playing: "▶",
        paused: "‖",
        stopped: "■",
        waiting: "◌",
        failed: "✗",
        dash: "–",
        ellipsis: "…",
        more: "…",
        cursor: "▏",
        mark: "•",
        whole: "●",
        pin: "♦",
        head: "▌",
        isUnicode: true
    )

    package static let ascii = Glyphs(
        playing: ">",
        paused: "|",
        stopped: "#",
        waiting: "o",
        failed: "x",
        dash: "-",
        ellipsis: "~",
        more: "...",
        cursor: "_",
        mark: "+",
        whole: "all",
        pin: "P",
        head: "|",
        isUnicode: false
    )

    /// The sign of a bar's part; each set tells all four apart without colour.
    package func bar(_ part: BarPart) -> SafeText {
        switch part {
        case .played: isUnicode ? "█" : "="
        case .cached: isUnicode ? "▄" : "-"
        case .inFlight: isUnicode ? "▒" : "+"
        case .missing: isUnicode ? "·" : "."
        }
    }
}
