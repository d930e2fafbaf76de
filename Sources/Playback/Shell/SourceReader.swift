import Media
import System

/// Reads sources, and passes their tracks on in parts.
///
/// A thin shell: `ReadingOrder` decides. One task steps it, so that parts are delivered in order.
final class SourceReader: Sendable {
    /// The state of the reading, which only its task has.
    private struct Reading {
        var order: ReadingOrder
        var tasks: [Int: Task<Void, Never>] = [:]
        var timer: (due: Duration, task: Task<Void, Never>)?
    }

    private typealias Change = @Sendable (inout Reading) -> Void

    private let resolver: any TrackResolver
    private let clock: any MonotonicClock
    private let changes: AsyncStream<Change>.Continuation
    private let unread = Locked(0)
    private let hasEnded = OneShot<Void>()

    /// `deliver` is called in order, from one task; it must not block.
    init(
        resolver: any TrackResolver,
        clock: any MonotonicClock,
        order: ReadingOrder,
        deliver: @escaping @Sendable (ReadingOrder.Output) -> Void
    ) {
        self.resolver = resolver
        self.clock = clock
        let (stream, changes) = AsyncStream.makeStream(of: Change.self)
        self.changes = changes
        Task { [self] in
            var reading = Reading(order: order)
            for await change in stream {
                change(&reading)
                for output in reading.order.outputs(at: clock.now) { deliver(output) }
                for (number, source, isForeign) in reading.order.begin(at: clock.now) {
                    reading.tasks[number] = read(source, isForeign: isForeign, number)
                }
                let due = reading.order.due(after: clock.now)
                guard due != reading.timer?.due else { continue }
                reading.timer?.task.cancel()
                reading.timer = due.map { due in (due, wake(at: due)) }
            }
            reading.timer?.task.cancel()
            for task in reading.tasks.values { task.cancel() }
            for task in reading.tasks.values { await task.value }
            hasEnded.give(())
        }
    }

    /// A task that resolves `source`, and passes its parts and its end on, also when it is cancelled.
    private func read(_ source: String, isForeign: Bool, _ number: Int) -> Task<Void, Never> {
        Task {
            var problem: MediaError?
            do {
                try await resolver.resolve(source, isForeign: isForeign) { part in
                    changes.yield { $0.order.found(number, part) }
                }
            } catch {
                if !Task.isCancelled {
                    problem = MediaError(describing: error, of: ReadingOrder.name(of: source))
                }
            }
            changes.yield { [self, problem] reading in
                reading.order.ended(number, problem)
                reading.tasks[number] = nil
                unread.withLock { $0 -= 1 }
            }
        }
    }

    private func wake(at time: Duration) -> Task<Void, Never> {
        Task { [clock, changes] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            changes.yield { if $0.timer?.due == time { $0.timer = nil } }
        }
    }

    /// The number of sources that are not read yet.
    var count: Int { unread.withLock { $0 } }

    /// Reads `sources`, whose tracks follow those of earlier sources. `areForeign` is `true` if another
    /// program named them. Never waits.
    func read(_ sources: [String], areForeign: Bool = false) {
        unread.withLock { $0 += sources.count }
        changes.yield { reading in
            for source in sources { reading.order.add(source, isForeign: areForeign) }
        }
    }

    /// Stops waiting for the first sources that are not read yet, so that the tracks read behind them play.
    func passOver() { changes.yield { $0.order.passOver() } }

    /// Stops reading the present sources, after two seconds at the latest, and delivers the tracks that were
    /// read of them. Sources added later are read.
    func stop() {
        changes.yield { [self] reading in
            let leftOut = reading.order.stop(at: clock.now)
            unread.withLock { $0 -= leftOut }
            for task in reading.tasks.values { task.cancel() }
        }
    }

    /// Cancels all reading: no more tracks are needed. Call it only once.
    ///
    /// Returns when the lists that were being read are closed, since the cache keeps the empty entry of a
    /// list that is left open. Returns after 1 s at the latest: reading a file of a network folder that does
    /// not answer cannot be cancelled.
    func end() async {
        changes.finish()
        let timer = Task {
            try? await clock.sleep(until: clock.now + .seconds(1))
            hasEnded.give(())
        }
        await hasEnded.wait(ifCancelled: ())
        timer.cancel()
    }
}
