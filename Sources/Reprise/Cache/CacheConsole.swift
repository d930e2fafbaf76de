import Glibc
import Media
import System

/// The output and input of a command of `reprise cache`.
struct CacheConsole: Sendable {
    /// Writes a line to standard output.
    let write: @Sendable (String) -> Void
    /// Writes a message to standard error.
    let say: @Sendable (SafeText) -> Void
    /// Writes a line of progress to standard error.
    let note: @Sendable (SafeText) -> Void
    /// Asks a question on the terminal and returns the answer; `nil` without a terminal.
    let ask: @Sendable (String) -> String?
    /// Formats seconds since 1970.
    let time: @Sendable (Int64) -> String
    /// The current time in seconds since 1970.
    let now: @Sendable () -> Int64
    /// The style of standard output.
    let style: TextStyle
    /// Draws progress on standard error; `nil` if that is not a terminal.
    let painter: ProgressPainter?
    let clock: any MonotonicClock
}

extension CacheConsole {
    /// The terminal and streams of this process.
    init(clock: any MonotonicClock, showsProgress: Bool) {
        let output = LineWriter(descriptor: STDOUT_FILENO, onReaderGone: {})
        let painter = showsProgress ? ProgressPainter.ofStandardError(clock: clock) : nil
        // Both streams may be the terminal that shows the progress.
        let inOrder: @Sendable (() -> Void) -> Void = { write in
            if let painter { painter.above(write) } else { write() }
        }
        self.init(
            write: { line in inOrder { output.write(line) } },
            say: { message in inOrder { Messages.show(message) } },
            note: { line in inOrder { Messages.showLine(line) } },
            ask: Self.asked,
            time: { CalendarTime.text(secondsSince1970: $0) },
            now: { Int64(Glibc.time(nil)) },
            style: TextStyle(descriptor: STDOUT_FILENO),
            painter: painter,
            clock: clock
        )
    }

    private static func asked(_ question: String) -> String? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        try? WholeFile.write(question.utf8, to: STDERR_FILENO)
        return readLine() ?? ""
    }
}
