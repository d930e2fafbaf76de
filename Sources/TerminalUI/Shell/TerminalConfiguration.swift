internal import CCurses
internal import Glibc
import Media
package import System

/// Which terminal the screen drives, and how.
package struct TerminalConfiguration: Sendable {
    /// The terminal's type, as in `TERM`.
    package var term: String?
    /// The locale that decides the character set; empty for the environment's.
    package var locale = ""
    /// Whether colours may be used (`NO_COLOR`, no-color.org).
    package var usesColor: Bool
    /// Where standard error goes while the screen is up; nil for nowhere.
    package var stderrPath: String?
    /// The descriptor that keys come from; nil for standard input, or the process's own terminal
    /// where standard input is none (with `-` it is the playlist).
    package var input: Int32?
    /// The descriptor that the screen is drawn on.
    package var output: Int32 = STDOUT_FILENO
    /// Whether presses and the wheel are for the screen; without it the terminal selects text by itself.
    package var usesMouse = true
    package var keyMap = KeyMap.standard
    /// The listener's own colours.
    package var colors: [Style: ColorChoice] = [:]
    /// The lines that were entered behind `:` in earlier sessions, oldest first.
    package var history: [String] = []
    /// Takes a line that was entered, to be kept for later sessions; must not wait.
    package var remember: @Sendable (String) -> Void = { _ in }
    /// What bounds the redraws and the patience.
    package var clock: any MonotonicClock = SystemClock()
    private let isInTmux: Bool
    /// How long the screen stays for a player that was told to quit.
    package var quitPatience = Duration.seconds(3)

    package init(environment: [String: String], stderrPath: String? = nil) {
        term = environment["TERM"]
        usesColor = (environment["NO_COLOR"] ?? "").isEmpty
        isInTmux = !(environment["TMUX"] ?? "").isEmpty
        self.stderrPath = stderrPath
    }

    var modes: TerminalModes { TerminalModes(term: term, isInTmux: isInTmux, usesMouse: usesMouse) }

    /// Whether a screen can be had: standard output is a terminal of a known type that can place its
    /// cursor, and keys can be read. Where not, lines are printed instead.
    ///
    /// To be asked on the thread that will run the screen, before it does.
    package var isUsable: Bool {
        guard let term, !term.isEmpty, isatty(output) == 1 else { return false }
        var status: Int32 = 0
        // With a place for the status, setupterm reports failure instead of ending the process.
        guard setupterm(term, output, &status) == OK else { return false }
        defer { curses_forget_terminal() }
        guard let sequence = tigetstr("cup"), Int(bitPattern: sequence) != -1 else { return false }
        guard let terminal = openInput() else { return false }
        if terminal.isOwned { close(terminal.descriptor) }
        return true
    }

    /// The descriptor for keys; the caller closes it when it is owned. nil where there is no terminal.
    func openInput() -> (descriptor: Int32, isOwned: Bool)? {
        if let input { return (input, false) }
        if isatty(STDIN_FILENO) == 1 { return (STDIN_FILENO, false) }
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        return descriptor < 0 ? nil : (descriptor, true)
    }
}
