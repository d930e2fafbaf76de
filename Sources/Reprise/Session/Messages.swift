import Glibc
import Media

/// What the program says on standard error: one line each.
enum Messages {
    private static let writer = LineWriter(descriptor: STDERR_FILENO, onReaderGone: {})

    /// `reprise: subject: cause`.
    static func show(_ error: MediaError) { show(error.safeText) }

    /// `reprise: ` and the refusal, and where to read on.
    static func show(_ error: UsageError) { show(error.message + " (see " + error.help + ")") }

    /// `reprise: ` and `sentence`.
    static func show(_ sentence: SafeText) { writer.write("reprise: \(sentence)") }

    /// A line of the program's own making, as it is.
    static func showLine(_ line: SafeText) { writer.write(line.string) }
}
