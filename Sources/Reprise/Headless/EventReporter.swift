import Glibc
import Media

/// Writes the events of a session, a line each, to standard output or error.
///
/// Lines are written on a thread of their own: a reader that does not read (a stopped pager) never
/// holds up the music. What waits for it grows by about a line a second.
final class EventReporter: Sendable {
    enum Style: Sendable {
        case json
        case words
    }

    private struct State {
        var isFinished = false
    }

    private let style: Style
    private let clock: any MonotonicClock
    private let writer: LineWriter
    private let thread = WorkThread(name: "events")
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
            let line = EventLine(event, at: clock.now)
            thread.submit { [style, writer] in
                switch style {
                case .json: writer.write(line.json)
                case .words: writer.write(line.words)
                }
            }
        }
    }

    /// Returns when all that was reported is written; the reporter takes no more.
    func finish() async {
        let isFirst = state.withLock { state in
            defer { state.isFinished = true }
            return !state.isFinished
        }
        guard isFirst else { return }
        await thread.run {}
        thread.stop()
    }
}
