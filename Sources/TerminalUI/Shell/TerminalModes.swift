/// What a terminal is told that terminal descriptions know nothing of: paste marks, mouse reports, the title.
///
/// Pure. A terminal that does not know a mode ignores it; where that is not sure, nothing is sent.
struct TerminalModes: Sendable, Equatable {
    /// Whether presses and the wheel are reported.
    let reportsMouse: Bool
    /// Whether there is a title that can be put aside and brought back.
    let keepsTitle: Bool

    /// `isInTmux` tells tmux, which has a stack of titles, from GNU screen, which has none; both may call
    /// themselves `screen`.
    init(term: String?, isInTmux: Bool, usesMouse: Bool) {
        let family = String((term ?? "").prefix { $0 != "-" })
        let stacks: Set = ["xterm", "tmux", "alacritty", "foot", "wezterm", "contour", "konsole", "vte"]
        keepsTitle = stacks.contains(family) || (family == "screen" && isInTmux)
        // The Linux console and real VTs have none, and some print what they do not know.
        reportsMouse = usesMouse && (keepsTitle || ["screen", "rxvt", "st"].contains(family))
    }

    /// Begins: paste marks (2004), presses (1000) as decimal numbers (1006), the title put aside (XTWINOPS 22).
    var enter: String { modes + (keepsTitle ? "\u{1B}[22;2t" : "") }

    /// What of it a stopped process must ask for again; the title is still aside.
    var modes: String { "\u{1B}[?2004h" + (reportsMouse ? "\u{1B}[?1000h\u{1B}[?1006h" : "") }

    /// Ends all of it, in the opposite order.
    var leave: String {
        (keepsTitle ? "\u{1B}[23;2t" : "") + (reportsMouse ? "\u{1B}[?1006l\u{1B}[?1000l" : "")
            + "\u{1B}[?2004l"
    }

    /// What a fault sends: all that ncurses would have, too, in a form that any terminal with a screen
    /// takes. Ends our modes, leaves the alternate screen, shows the cursor, ends the keypad's mode and colours.
    var abandon: String { leave + "\u{1B}[?1049l\u{1B}[?25h\u{1B}[?1l\u{1B}>\u{1B}[0m\r" }

    /// Sets the window's title (OSC 2); nothing where it could not be brought back. `title` holds no control.
    func title(_ title: String) -> String { keepsTitle ? "\u{1B}]2;\(title)\u{07}" : "" }
}
