import Glibc
import Media
import System

/// Writes the events of a session, a line each, to standard output or error, and what is said beside them.
///
/// Lines are written on a thread of their own: a reader that does not read (a stopped pager) never
/// holds up the music. What waits for it grows by about a line a second.
final class EventReporter: Sendable {
    enum Style: Sendable {
        case json
        case words
        /// For people.
        case sentences
    }

    private struct State {
        var narrator = PlainNarrator()
        var isFinished = false
        var isHurried = false
        /// `finish`, while it waits.
        var waiter: CheckedContinuation<Void, Never>?
        var limit: Task<Void, Never>?
    }

    /// How long a session that a signal ends waits for a reader that does not read.
    static let lastPatience = Duration.seconds(1)

    private let style: Style
    private let clock: any MonotonicClock
    private let writer: LineWriter
    private let thread = WorkThread(name: "events", isReady: true)
    // Held while a line is handed over, so that times never go back and none follows `finish`.
    private let state = Locked(State())

    /// `clock` counts from the start of the process. `onReaderGone` is called once, from the writing
    /// thread, when nobody reads any more: nothing that is played then is wanted.
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

    /// Writes `event` with the time of now, later but in order; from any thread, never waits.
    /// After `finish` it does nothing.
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

    /// Writes a line of the program's own making, in its order among the events. After `finish` it does nothing.
    func say(_ line: SafeText) { inOrder { [writer] in writer.write(line.string) } }

    /// Runs `write`, which says something on standard error, in its order among the events. After `finish`
    /// it does nothing.
    func inOrder(_ write: @escaping @Sendable () -> Void) {
        state.withLock { state in
            if !state.isFinished { thread.submit(write) }
        }
    }

    /// From now on `finish` waits no longer than `lastPatience`, also when it waits already.
    func hurry() {
        state.withLock { state in
            guard !state.isHurried else { return }
            state.isHurried = true
            if state.waiter != nil { state.limit = makeLimit() }
        }
    }

    /// Returns when all that was reported is written, or a hurry is over; the reporter takes no more.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                guard !state.isFinished else { return false }
                state.isFinished = true
                state.waiter = continuation
                if state.isHurried { state.limit = makeLimit() }
                thread.submit { [self] in endWait() }
                thread.stop()
                return true
            }
            if !isFirst { continuation.resume() }
        }
    }

    private func makeLimit() -> Task<Void, Never> {
        Task { [clock, self] in
            guard (try? await clock.sleep(for: Self.lastPatience)) != nil else { return }
            endWait()
        }
    }

    private func endWait() {
        let (waiter, limit) = state.withLock { state in
            defer { (state.waiter, state.limit) = (nil, nil) }
            return (state.waiter, state.limit)
        }
        limit?.cancel()
        waiter?.resume()
    }
}
