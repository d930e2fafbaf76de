import Glibc
import Media
import System

/// Writes the events of a session, one line each, to standard output or error.
///
/// A thread of its own writes the lines, so a reader that does not read (a stopped pager) never delays the
/// music. The queue of waiting lines then grows by about one a second.
final class EventReporter: Sendable {
    enum Style: Sendable {
        case json
        case words
        /// Sentences for people.
        case sentences
    }

    private struct State {
        var narrator = PlainNarrator()
        var isFinished = false
        var isLimited = false
        var limit: Task<Void, Never>?
    }

    /// The time that a session ended by a signal waits for a reader that does not read.
    static let writeLimit = Duration.seconds(1)

    private let style: Style
    private let clock: any MonotonicClock
    private let writer: LineWriter
    private let thread = WorkThread(name: "events", isReady: true)
    private let written = OneShot<Void>()
    // Held while a line is submitted, so that times never go back and no line follows `finish`.
    private let state = Locked(State())

    /// `clock` counts from the start of the process. `onReaderGone` is called once, from the writing thread,
    /// when writing has failed for good.
    init(
        style: Style,
        clock: any MonotonicClock,
        descriptor: Int32,
        onReaderGone: @escaping @Sendable () -> Void
    ) {
        self.style = style
        self.clock = clock
        writer = LineWriter(descriptor: descriptor, onReaderGone: onReaderGone)
    }

    /// Submits `event` with the current time, from any thread; returns before it is written. Does nothing after
    /// `finish`.
    func report(_ event: PlayerEvent) {
        state.withLock { state in
            guard !state.isFinished else { return }
            if style == .sentences {
                guard let sentence = state.narrator.line(for: event) else { return }
                return thread.submit { [writer] in writer.write(sentence.string) }
            }
            let line = EventLine(event, at: clock.now)
            thread.submit { [style, writer] in writer.write(style == .json ? line.json : line.words) }
        }
    }

    /// Submits a line in order with the events. Does nothing after `finish`.
    func say(_ line: SafeText) { inOrder { [writer] in writer.write(line.string) } }

    /// Runs `write`, which writes to standard error, in order with the events. Does nothing after `finish`.
    func inOrder(_ write: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if !state.isFinished { thread.submit(write) }
        }
    }

    /// From now on `finish` waits no longer than `writeLimit`, even if it already waits.
    func limitWait() {
        state.withLock { state in
            guard !state.isLimited else { return }
            state.isLimited = true
            if state.isFinished { state.limit = makeLimit() }
        }
    }

    /// Returns as soon as all lines are written, or the limit has passed; later lines are dropped.
    func finish() async {
        let isFirst = state.withLock { state in
            guard !state.isFinished else { return false }
            state.isFinished = true
            if state.isLimited { state.limit = makeLimit() }
            thread.submit { [written] in written.give(()) }
            thread.stop()
            return true
        }
        guard isFirst else { return }
        await written.wait(ifCancelled: ())
        state.withLock { $0.limit }?.cancel()
    }

    private func makeLimit() -> Task<Void, Never> {
        Task { [clock, written] in
            guard (try? await clock.sleep(for: Self.writeLimit)) != nil else { return }
            written.give(())
        }
    }
}
