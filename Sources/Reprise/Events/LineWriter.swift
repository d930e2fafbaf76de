import Glibc
import Media
import Synchronization
import System

/// Writes lines to a descriptor with one `write` each: up to `PIPE_BUF` bytes, a line is not mixed with those of other
/// writers of the same pipe.
final class LineWriter: Sendable {
    private let descriptor: Int32
    private let onReaderGone: @Sendable () -> Void
    private let isReaderGone = Atomic(false)

    init(descriptor: Int32, onReaderGone: @escaping @Sendable () -> Void) {
        self.descriptor = descriptor
        self.onReaderGone = onReaderGone
    }

    /// Writes `line` and a line break; blocks while the reader does not read.
    ///
    /// The first error calls `onReaderGone`; all later lines are dropped. SIGPIPE must be ignored.
    func write(_ line: String) {
        guard !isReaderGone.load(ordering: .relaxed) else { return }
        var rest = Array(line.utf8)[...]
        rest.append(UInt8(ascii: "\n"))
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { bytes in
                retryingInterrupted { Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another program that shares the descriptor has made it non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&ready, 1, -1)
            } else {
                // A pipe without a reader, a full disk, a closed descriptor: later lines would fail too.
                let wasGone = isReaderGone.exchange(true, ordering: .relaxed)
                if !wasGone { onReaderGone() }
                return
            }
        }
    }
}

/// Messages on standard error, one line each.
enum Messages {
    private static let writer = LineWriter(descriptor: STDERR_FILENO, onReaderGone: {})

    /// `reprise: SUBJECT: CAUSE`.
    static func show(_ error: MediaError) { show(error.safeText) }

    /// `reprise: REFUSAL (see reprise --help)`.
    static func show(_ error: UsageError) { show(error.message + " (see " + error.help + ")") }

    /// `reprise: SENTENCE`.
    static func show(_ sentence: SafeText) { writer.write("reprise: \(sentence)") }

    /// Writes the line unchanged.
    static func showLine(_ line: SafeText) { writer.write(line.string) }
}
