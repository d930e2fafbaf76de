package import Media

/// The symbols of the screen, in two sets.
package enum Glyphs: Sendable {
    /// For UTF-8 locales: block elements and other symbols that take one column.
    case unicode
    /// For all other locales.
    case ascii

    package var isUnicode: Bool { self == .unicode }

    package var playing: SafeText { pick("▶", ">") }
    package var paused: SafeText { pick("‖", "|") }
    package var stopped: SafeText { pick("■", "#") }
    package var waiting: SafeText { pick("◌", "o") }
    package var failed: SafeText { pick("✗", "x") }
    /// The symbol before an episode that was played.
    package var heard: SafeText { pick("✓", "v") }
    package var dash: SafeText { pick("–", "-") }
    /// The separator between two parts of a line.
    package var dot: SafeText { pick("·", "-") }
    /// The mark at the end of a truncated text; one column.
    package var ellipsis: SafeText { pick("…", "~") }
    /// The mark after a word for something unfinished.
    package var more: SafeText { pick("…", "...") }
    package var cursor: SafeText { pick("▏", "_") }
    /// The symbol before a marked track.
    package var mark: SafeText { pick("•", "+") }
    /// The left edge of the selected row among marked ones.
    var edge: SafeText { pick("▎", "|") }
    /// The symbol before the name of a folded group.
    var folded: SafeText { pick("▸", "+") }
    /// The line after the name of a group.
    var rule: SafeText { pick("─", "-") }
    /// The scroll bar, and the part of it that stands for the rows in view.
    var scrollTrack: SafeText { pick("│", "|") }
    var scrollThumb: SafeText { pick("┃", "#") }
    package var pin: SafeText { pick("♦", "P") }
    /// The symbol in the bar at the current position.
    package var head: SafeText { pick("▌", "|") }
    /// The symbol in the bar where a chapter begins.
    package var tick: SafeText { pick("│", ":") }
    /// The same above a waveform.
    var chapter: SafeText { pick("▾", ":") }
    /// The symbol before the number of downloaded bytes.
    package var download: SafeText { pick("↓", "net") }
    /// The symbol before a download that receives bytes.
    var receiving: SafeText { pick("↓", ">") }
    /// The sign before a number of equal things.
    var times: SafeText { pick("×", "x") }
    /// A cell of the bar that shows the volume.
    func volume(isFilled: Bool) -> SafeText { isFilled ? pick("▮", "#") : pick("▯", "-") }
    /// A filled column of a level meter, and the mark of its peak.
    var meter: SafeText { pick("▄", "=") }
    var peak: SafeText { pick("▌", "|") }

    /// The symbol of a part of the bar; in each set, the four differ without colour.
    package func bar(_ part: BarPart) -> SafeText {
        switch part {
        case .played: pick("█", "=")
        case .cached: pick("▄", "-")
        case .inFlight: pick("▒", "+")
        case .missing: pick("·", ".")
        }
    }

    /// The symbol of a part of a track in a map of its ranges: a line, which no background hides.
    func map(_ part: BarPart) -> SafeText {
        switch part {
        case .played, .cached: pick("━", "#")
        case .inFlight: pick("╍", "+")
        case .missing: pick("┈", ".")
        }
    }

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
        let signs: [StaticString] =
            isUnicode
            ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : [".", ".", ":", ":", "+", "+", "#", "#"]
        return SafeText(stringLiteral: signs[min(8, max(1, eighths)) - 1])
    }

    func connection(isOnline: Bool) -> SafeText {
        isOnline ? pick("●", "*") + " online" : pick("○", "o") + " offline"
    }

    /// The parts with dots between them.
    func joined(_ parts: [SafeText]) -> SafeText {
        guard let first = parts.first else { return "" }
        return parts.dropFirst().reduce(first) { $0 + " " + dot + " " + $1 }
    }

    private func pick(_ unicode: StaticString, _ ascii: StaticString) -> SafeText {
        SafeText(stringLiteral: isUnicode ? unicode : ascii)
    }
}
