import Media
import System

/// Writes the events of a session, one line each, to standard output or error.
///
/// A thread of its own writes the lines, so a reader that does not read (a stopped pager) never delays the
/// music. The queue of waiting lines then grows by about one a second.
final class EventReporter: Sendable {
    /// The time that a session ended by a signal waits for a reader that does not read, and before that for its keys.
    static let writeLimit = Duration.milliseconds(300)
    /// The most commands of a script whose events are unwritten.
    static let mostUnanswered = 1_000

    private let style: Presentation
    private let clock: any MonotonicClock
    private let writer: LineWriter
    private let queue: WriteQueue
    // Held while an event is submitted, so that times never go back.
    private let narrator = Locked(PlainNarrator())
    private let unanswered = Monitor(0)

    /// `style` is any presentation but the screen. `clock` counts from the start of the process.
    /// `onReaderGone` is called once, from the writing thread, when writing has failed for good.
    init(
        style: Presentation,
        clock: any MonotonicClock,
        descriptor: Int32,
        onReaderGone: @escaping @Sendable () -> Void
    ) {
        self.style = style
        self.clock = clock
        writer = LineWriter(descriptor: descriptor, onReaderGone: onReaderGone)
        queue = WriteQueue(name: "events", clock: clock, limit: Self.writeLimit, isReady: true)
    }

    /// Submits `event` with the current time, from any thread; returns before it is written. Does nothing
    /// after `finish`.
    func report(_ event: PlayerEvent) {
        narrator.withLock { narrator in
            if style == .plain {
                if let sentence = narrator.line(for: event) { say(sentence) }
                return
            }
            let line = EventLine(event, at: clock.now)
            queue.submit { [style, writer] in writer.write(style == .json ? line.json : line.words) }
        }
    }

    /// Submits a line in order with the events. Does nothing after `finish`.
    func say(_ line: SafeText) { inOrder { [writer] in writer.write(line.string) } }

    /// Announces a command, whose events will follow. Blocks the calling thread while the lines before
    /// `mostUnanswered` earlier commands are unwritten, so that a script can't fill the memory with answers that
    /// nobody reads.
    func takeCommand() {
        unanswered.withLock(when: { $0 < Self.mostUnanswered }) { $0 += 1 }
        inOrder { [self] in unanswered.withLock { $0 -= 1 } }
    }

    /// Runs `write`, which writes to standard error, in order with the events. Does nothing after `finish`.
    func inOrder(_ write: @escaping @Sendable () -> Void) { queue.submit(write) }

    /// From now on `finish` waits no longer than `writeLimit`, even if it already waits.
    func limitWait() { queue.limitWait() }

    /// Returns as soon as all lines are written, or the limit has passed; later lines are dropped.
    func finish() async { await queue.finish() }
}
