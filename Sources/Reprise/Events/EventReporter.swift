import Media
import System

/// Writes the events of a session, one line each, to standard output or error.
///
/// A thread of its own writes the lines, so a reader that does not read (a stopped pager) never delays the
/// music. The queue of waiting lines then grows by about one a second.
final class EventReporter: Sendable {
    /// After a signal, the longest time that a session waits for the thread that reads keys, and then for a
    /// reader that does not read.
    static let writeLimit = Duration.milliseconds(300)
    /// The most commands of a script whose events are unwritten.
    static let mostUnanswered = 1_000
    /// The most `list` commands of a script whose events are unwritten: each may hold a long queue of its
    /// own.
    static let mostLists = 4

    private struct Unanswered {
        var commands = 0
        var lists = 0
    }

    private let style: Presentation
    private let clock: any MonotonicClock
    private let writer: LineWriter
    private let queue: WriteQueue
    // Held while an event is submitted, so that times never go back.
    private let narrator = Locked(PlainNarrator())
    private let unanswered = Monitor(Unanswered())

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
            // Lines are made on the thread that writes them, since those of a long queue take their time.
            if case .list(let player) = event {
                queue.submit { [self, now = clock.now] in
                    if style == .plain {
                        for line in PlainNarrator.lines(of: player) { writer.write(line.string) }
                    } else {
                        write(EventLine(event, at: now))
                    }
                    // A list that was asked for by a key was not counted.
                    unanswered.withLock { $0.lists = max(0, $0.lists - 1) }
                }
            } else if style == .plain {
                if let sentence = narrator.line(for: event) { say(sentence) }
            } else {
                queue.submit { [self, now = clock.now] in write(EventLine(event, at: now)) }
            }
        }
    }

    private func write(_ line: EventLine) {
        writer.write { style == .json ? line.writeJSON(to: &$0) : line.writeWords(to: &$0) }
    }

    /// Submits a line in order with the events. Does nothing after `finish`.
    func say(_ line: SafeText) { inOrder { [writer] in writer.write(line.string) } }

    /// Announces a command, or with `nil` a refusal; its events will follow. Blocks the calling thread while
    /// the lines before `mostUnanswered` earlier commands are unwritten, or those of `mostLists` lists, so
    /// that a script can't fill the memory with answers that nobody reads.
    func announce(_ command: PlayerCommand?) {
        let isList = command == .list
        let hasRoom: (Unanswered) -> Bool = {
            $0.commands < Self.mostUnanswered && (!isList || $0.lists < Self.mostLists)
        }
        unanswered.withLock(when: hasRoom) { unanswered in
            unanswered.commands += 1
            if isList { unanswered.lists += 1 }
        }
        inOrder { [self] in unanswered.withLock { $0.commands -= 1 } }
    }

    /// Runs `write`, which writes to standard error, in order with the events. Does nothing after `finish`.
    func inOrder(_ write: @escaping @Sendable () -> Void) { queue.submit(write) }

    /// From now on `finish` waits no longer than `writeLimit`, even if it already waits.
    func limitWait() { queue.limitWait() }

    /// Returns as soon as all lines are written, or the limit has passed; later lines are dropped.
    func finish() async { await queue.finish() }
}
