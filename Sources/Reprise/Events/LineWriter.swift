import Glibc
import Media
import Synchronization
import System

/// Writes lines to a descriptor with one `write` each: up to `PIPE_BUF` bytes, a line is not mixed with those
/// of other writers of the same pipe. A longer line takes several writes.
final class LineWriter: Sendable {
    /// The text of a line, which is written in pieces.
    struct Line: TextOutputStream {
        /// The default capacity of a pipe.
        private static let pieceByteCount = 64 * 1024

        fileprivate let writer: LineWriter
        fileprivate var bytes: [UInt8] = []

        mutating func write(_ text: String) {
            bytes += text.utf8
            guard bytes.count >= Self.pieceByteCount else { return }
            writer.write(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
    }

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
    func write(_ line: String) { write { $0.write(line) } }

    /// Like `write(_:)` above, for a line that `make` writes piece by piece, so that a long line is never in
    /// memory as a whole.
    func write(_ make: (inout Line) -> Void) {
        guard !isReaderGone.load(ordering: .relaxed) else { return }
        var line = Line(writer: self)
        make(&line)
        line.bytes.append(UInt8(ascii: "\n"))
        write(line.bytes)
    }

    private func write(_ bytes: [UInt8]) {
        guard !isReaderGone.load(ordering: .relaxed) else { return }
        do {
            try WholeFile.write(bytes, to: descriptor)
        } catch {
            // A pipe without a reader, a full disk, a closed descriptor: later lines would fail too.
            let wasGone = isReaderGone.exchange(true, ordering: .relaxed)
            if !wasGone { onReaderGone() }
        }
    }
}

/// Runs jobs that write, in order, on a thread of its own, so that a slow reader or disk never delays the
/// callers.
final class WriteQueue: Sendable {
    private struct State {
        var isFinished = false
        var isLimited: Bool
        var limit: Task<Void, Never>?
    }

    private let clock: any MonotonicClock
    private let limit: Duration
    private let thread: WorkThread
    private let written = OneShot<Void>()
    // Held while a job is submitted, so that none follows `finish`.
    private let state: Locked<State>

    /// `limit` is the longest time that `finish` waits, if `isLimited` or after `limitWait`. The thread
    /// starts with the first job, or at once if `isReady`.
    init(
        name: String,
        clock: any MonotonicClock,
        limit: Duration,
        isLimited: Bool = false,
        isReady: Bool = false
    ) {
        self.clock = clock
        self.limit = limit
        thread = WorkThread(name: name, isReady: isReady)
        state = Locked(State(isLimited: isLimited))
    }

    /// Submits `job`, from any thread. Does nothing after `finish`.
    func submit(_ job: @escaping @Sendable () -> Void) {
        state.withLock { if !$0.isFinished { thread.submit(job) } }
    }

    /// Limits the time that `finish` waits, even if it already waits.
    func limitWait() {
        state.withLock { state in
            guard !state.isLimited else { return }
            state.isLimited = true
            if state.isFinished { state.limit = makeLimit() }
        }
    }

    /// Returns as soon as all jobs and `last` have run, or the limit has passed; later jobs are dropped.
    func finish(_ last: @escaping @Sendable () -> Void = {}) async {
        let isFirst = state.withLock { state in
            guard !state.isFinished else { return false }
            state.isFinished = true
            if state.isLimited { state.limit = makeLimit() }
            thread.submit { [written] in
                last()
                written.give(())
            }
            thread.stop()
            return true
        }
        guard isFirst else { return }
        await written.wait(ifCancelled: ())
        state.withLock { $0.limit }?.cancel()
    }

    private func makeLimit() -> Task<Void, Never> {
        Task { [clock, limit, written] in
            guard (try? await clock.sleep(for: limit)) != nil else { return }
            written.give(())
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

    static func showLine(_ line: SafeText) { writer.write(line.string) }
}
