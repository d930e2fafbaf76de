internal import CCurses
internal import Glibc
package import Media
package import System

/// The terminal of the screen, and how it is used.
package struct TerminalConfiguration: Sendable {
    /// The terminal's type, as in `TERM`.
    package var term: String?
    /// The type that is tried if no description of `term` is installed, as over ssh from Kitty, Ghostty or
    /// Alacritty, which understand it.
    package var commonType = "xterm-256color"
    /// The locale that determines the character set; empty for the environment's.
    package var locale = ""
    /// `true` if colours may be used: `NO_COLOR` is unset or empty (no-color.org).
    package var usesColor: Bool
    /// `true` if the environment says that the terminal draws 24-bit colours (`COLORTERM`).
    package var saysExactColors: Bool
    /// The file for standard error while the screen is open; `nil` discards it.
    package var stderrPath: String?
    /// The descriptor to read keys from; `nil` for standard input or, if that is not a terminal (with `-` it
    /// is the playlist), the process's own terminal.
    package var input: Int32?
    /// The descriptor to draw the screen on.
    package var output: Int32 = STDOUT_FILENO
    /// `true` if the screen receives mouse presses and the wheel; otherwise the terminal selects text with
    /// them.
    package var usesMouse = true
    /// The theme at the start.
    package var theme = Theme.auto
    /// Reads the themes that the user can choose. Called on a thread that may block.
    package var listThemes: @Sendable () -> [ThemeChoice] = { Theme.plain.map { ThemeChoice($0) } }
    package var keyMap = KeyMap.standard
    /// The user's own colours.
    package var colors = ColorTable()
    /// The command lines of earlier sessions, oldest first.
    package var history: [String] = []
    /// Saves an entered line for later sessions; must not block.
    package var remember: @Sendable (String) -> Void = { _ in }
    /// The clock for the rate of redraws and the wait for quitting.
    package var clock: any MonotonicClock = SystemClock()
    private let isInTmux: Bool
    /// The longest wait for the player to quit.
    package var quitWait = Duration.seconds(3)

    /// `variable` returns a variable of the environment.
    package init(_ variable: (String) -> String?, stderrPath: String? = nil) {
        term = variable("TERM")
        usesColor = (variable("NO_COLOR") ?? "").isEmpty
        isInTmux = !(variable("TMUX") ?? "").isEmpty
        // GNU screen passes on the variable of the terminal around it, but not those colours.
        let isScreen = !isInTmux && (term ?? "").hasPrefix("screen")
        saysExactColors = !isScreen && ["truecolor", "24bit"].contains(variable("COLORTERM") ?? "")
        self.stderrPath = stderrPath
    }

    var modes: TerminalModes {
        var modes = TerminalModes(term: term, isInTmux: isInTmux, usesMouse: usesMouse)
        if !usesColor { modes.answersQuestions = false }
        return modes
    }

    /// `true` if a screen is possible: the output is a terminal of a known type that can place its cursor,
    /// and keys can be read. Otherwise lines are printed instead.
    ///
    /// Call it before the screen runs, never while it does: it replaces ncurses' current terminal.
    package var isUsable: Bool {
        guard isatty(output) == 1, let type, placesCursor(type) == true else { return false }
        guard let terminal = openInput() else { return false }
        if terminal.isOwned { close(terminal.descriptor) }
        return true
    }

    /// The type that ncurses is given: `term`, or else `commonType`; `nil` if neither is known, or `term` is
    /// empty.
    var type: String? {
        guard let term, !term.isEmpty else { return nil }
        return [term, commonType].first { placesCursor($0) != nil }
    }

    /// The sentence for a user whose terminal gets no screen because its type is not known; otherwise `nil`.
    package var typeProblem: SafeText? {
        guard isatty(output) == 1, type == nil else { return nil }
        guard let term, !term.isEmpty else {
            return "No screen: TERM is not set – set it to your terminal's type"
        }
        return "No screen: the terminal type " + SafeText(term)
            + " is unknown here – install ncurses-base or set TERM"
    }

    /// `true` if the description of `type` can place the cursor; `nil` if none is installed.
    private func placesCursor(_ type: String) -> Bool? {
        var status: Int32 = 0
        // Without a variable for the status, setupterm would end the process on failure. 1 is a printer.
        guard setupterm(type, output, &status) == OK else { return status == 1 ? false : nil }
        defer { curses_forget_terminal() }
        return tigetstr("cup").map { Int(bitPattern: $0) != -1 } ?? false
    }

    /// The descriptor to read keys from, which the caller closes if it is owned; `nil` if there is no
    /// terminal.
    func openInput() -> (descriptor: Int32, isOwned: Bool)? {
        if let input { return (input, false) }
        if isatty(STDIN_FILENO) == 1 { return (STDIN_FILENO, false) }
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return descriptor < 0 ? nil : (descriptor, true)
    }
}

extension Glyphs {
    /// Sets the character set of the process to that of `locale`, or of the environment if that is empty, and
    /// returns the symbols that it has.
    ///
    /// A UTF-8 locale that is named but not installed, as in containers and over ssh, is UTF-8 too.
    package static func ofLocale(_ locale: String = "") -> Glyphs {
        // Sets only the character set: with a decimal comma, other libraries would parse numbers differently.
        if setlocale(LC_CTYPE, locale) == nil {
            let names = locale.isEmpty ? ["LC_ALL", "LC_CTYPE", "LANG"].map(variable) : [locale]
            let name = names.first { !$0.isEmpty }?.lowercased() ?? ""
            setlocale(LC_CTYPE, name.contains("utf-8") || name.contains("utf8") ? "C.UTF-8" : "C")
        }
        let isUnicode = nl_langinfo(nl_item(CODESET)).map { String(cString: $0) == "UTF-8" } ?? false
        return isUnicode ? .unicode : .ascii
    }

    private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
}

/// The sequences for modes that terminal descriptions lack: paste marks, mouse reports, the title.
///
/// Pure. Paste marks are requested from every terminal, mouse reports and titles only from families that
/// support them.
struct TerminalModes: Sendable, Equatable {
    /// `true` if the terminal reports mouse presses and the wheel.
    let reportsMouse: Bool
    /// `true` if the terminal can save its title and restore it.
    let keepsTitle: Bool
    /// `true` if the terminal may be asked for its background.
    var answersQuestions: Bool

    /// `isInTmux` distinguishes tmux, which has a stack of titles, from GNU screen, which does not: both can
    /// have the type `screen`.
    init(term: String?, isInTmux: Bool, usesMouse: Bool) {
        let family = String((term ?? "").prefix { $0 != "-" })
        let stacks: Set = ["xterm", "tmux", "alacritty", "foot", "wezterm", "contour", "konsole", "vte"]
        keepsTitle = stacks.contains(family) || (family == "screen" && isInTmux)
        // The Linux console and real VTs report no mouse, and some print unknown sequences.
        reportsMouse = usesMouse && (keepsTitle || ["screen", "rxvt", "st"].contains(family))
        // Real VTs are like the console; the terminal of Emacs answers nothing.
        let isOld = family.hasPrefix("vt") && family.dropFirst(2).first?.isNumber == true
        answersQuestions = !isOld && !["", "linux", "dumb", "ansi", "eterm", "unknown"].contains(family)
    }

    /// Turns on paste marks (2004) presses and drags (1002) in decimal numbers (1006), and saves the title
    /// (XTWINOPS 22).
    var enter: String { modes + (keepsTitle ? "\u{1B}[22;2t" : "") }

    /// The modes that a process must turn on again after a stop; the title is still saved.
    var modes: String { "\u{1B}[?2004h" + (reportsMouse ? "\u{1B}[?1002h\u{1B}[?1006h" : "") }

    /// Reverses `enter`, in the opposite order.
    var leave: String {
        (keepsTitle ? "\u{1B}[23;2t" : "") + (reportsMouse ? "\u{1B}[?1006l\u{1B}[?1002l" : "")
            + "\u{1B}[?2004l"
    }

    /// Resets the terminal after a fault, including the modes that ncurses set, in a form that any terminal
    /// with a screen accepts: ends our modes, leaves the alternate screen, shows the cursor, ends colours.
    var abandon: String { leave + "\u{1B}[?1049l\u{1B}[?25h\u{1B}[0m\r" }

    /// Asks for the background (OSC 11), and after it for the device attributes (DA1), which every terminal
    /// reports: once those have come, no further report follows. `nil` if the terminal must not be asked.
    var question: String? { answersQuestions ? "\u{1B}]11;?\u{1B}\\\u{1B}[c" : nil }

    /// Sets the window's title (OSC 2), if it can be restored later. `title` contains no control characters.
    func title(_ title: String) -> String { keepsTitle ? "\u{1B}]2;\(title)\u{07}" : "" }
}
