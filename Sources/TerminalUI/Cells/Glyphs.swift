package import Media

/// The symbols of the screen, in two sets: for UTF-8 locales and for all others.
package struct Glyphs: Sendable, Equatable {
    package var playing: SafeText
    package var paused: SafeText
    package var stopped: SafeText
    package var waiting: SafeText
    package var failed: SafeText
    package var dash: SafeText
    /// The separator between two parts of a line.
    package var dot: SafeText
    /// The mark at the end of a truncated text; one column.
    package var ellipsis: SafeText
    /// The mark after a word for something unfinished.
    package var more: SafeText
    package var cursor: SafeText
    /// The symbol before a marked track.
    package var mark: SafeText
    /// The symbol for a track that is cached completely.
    package var whole: SafeText
    package var pin: SafeText
    /// The symbol in the bar at the current position.
    package var head: SafeText
    /// The symbol before the number of downloaded bytes.
    package var download: SafeText
    package var isUnicode: Bool

    /// Symbols of the old PC character set, which the Linux console has too.
    package static let unicode = Glyphs(
        playing: "▶",
        paused: "‖",
        stopped: "■",
        waiting: "◌",
        failed: "✗",
        dash: "–",
        dot: "·",
        ellipsis: "…",
        more: "…",
        cursor: "▏",
        mark: "•",
        whole: "●",
        pin: "♦",
        head: "▌",
        download: "↓",
        isUnicode: true
    )

    package static let ascii = Glyphs(
        playing: ">",
        paused: "|",
        stopped: "#",
        waiting: "o",
        failed: "x",
        dash: "-",
        dot: "-",
        ellipsis: "~",
        more: "...",
        cursor: "_",
        mark: "+",
        whole: "all",
        pin: "P",
        head: "|",
        download: "net",
        isUnicode: false
    )

    /// The symbol of a part of the bar; in each set, the four differ without colour.
    package func bar(_ part: BarPart) -> SafeText {
        switch part {
        case .played: isUnicode ? "█" : "="
        case .cached: isUnicode ? "▄" : "-"
        case .inFlight: isUnicode ? "▒" : "+"
        case .missing: isUnicode ? "·" : "."
        }
    }

    /// The symbol of the player's state.
    func sign(of state: PlayerSnapshot.State) -> SafeText {
        switch state {
        case .playing: playing
        case .paused: paused
        case .stopped, .ended: stopped
        case .opening, .buffering: waiting
        }
    }

    /// The word for the player's state; words for waiting end in `more`.
    func word(for state: PlayerSnapshot.State) -> SafeText {
        switch state {
        case .stopped: "Stopped"
        case .opening: "Opening" + more
        case .playing: "Playing"
        case .paused: "Paused"
        case .buffering: "Buffering" + more
        case .ended: "Ended"
        }
    }

    /// A column filled from below, 1...8 eighths high.
    func level(_ eighths: Int) -> SafeText {
        let signs: [SafeText] =
            isUnicode
            ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [".", ".", ":", ":", "+", "+", "#", "#"]
        return signs[min(8, max(1, eighths)) - 1]
    }

    /// A filled column of a level meter, and the mark of its peak.
    var meter: SafeText { isUnicode ? "▄" : "=" }
    var peak: SafeText { isUnicode ? "▌" : "|" }
}
