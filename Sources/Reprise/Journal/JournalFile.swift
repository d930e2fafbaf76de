import Glibc
import Media
import System

/// Writes what the loaders ask for and decide to a file, one JSON object per line (see `JournalLine`).
///
/// Lines are written on a thread of their own, so a slow disk never holds up a loader. When the disk takes no more,
/// the rest is dropped: the music matters more than its journal.
final class JournalFile: RequestJournal {
    private let descriptor: Int32
    private let writer: LineWriter
    private let thread = WorkThread(name: "journal")
    // Held while a line is handed over, so that none follows `finish`.
    private let isFinished = Locked(false)

    /// How long the end of the program waits for a disk that takes nothing.
    static let lastPatience = Duration.seconds(2)

    /// Opens `path` to append to it; a new file is for its owner alone (0600), since hosts and paths in it tell what
    /// was listened to. Throws a sentence for who named it.
    init(path: String) throws(UsageError) {
        guard !path.isEmpty else { throw UsageError("--journal needs a file") }
        // Not waiting, or a pipe without a reader would hold up the start for ever.
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw UsageError("--journal \(path) cannot be written (\(SystemError.reason()))")
        }
        writer = LineWriter(descriptor: descriptor, onReaderGone: {})
    }

    func record(_ record: JournalRecord) {
        isFinished.withLock { isFinished in
            guard !isFinished else { return }
            thread.submit { [writer] in writer.write(JournalLine(record).json) }
        }
    }

    /// Returns when all that was recorded is written, or the disk has taken nothing for `lastPatience`. What is
    /// recorded afterwards is dropped.
    func finish(clock: any MonotonicClock) async {
        let isFirst = isFinished.withLock { isFinished in
            defer { isFinished = true }
            return !isFinished
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            let waiter = LateBound<CheckedContinuation<Void, Never>>()
            waiter.value = continuation
            let limit = Task {
                try? await clock.sleep(for: Self.lastPatience)
                waiter.take()?.resume()
            }
            thread.submit { [descriptor] in
                close(descriptor)
                limit.cancel()
                waiter.take()?.resume()
            }
            thread.stop()
        }
    }
}
