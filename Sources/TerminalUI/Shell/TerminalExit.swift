package import Media

/// Why the screen has ended; the caller decides what the process makes of it.
package enum TerminalExit: Sendable, Equatable {
    /// The player is over by itself.
    case over
    /// The listener quit.
    case quit
    /// A signal (SIGINT, SIGTERM, SIGHUP) or the terminal's end, which counts as SIGHUP.
    case signal(Int32)
    /// There is no screen to be had, with the reason; the terminal was not touched.
    case unusable(SafeText)
}
