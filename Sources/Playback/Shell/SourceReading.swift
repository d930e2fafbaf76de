import Media
import System

/// Reads sources, and passes their tracks on in parts.
///
/// A thin shell: `ReadingOrder` decides. One task steps it, so that parts are delivered in order.
final class SourceReading: Sendable {
    private enum Input: Sendable {
        case sources([String])
        case found(Int, ResolvedTracks)
        case ended(Int, MediaError?)
        case passOver
        case stop
        case timeIsUp(Duration)
    }

    private let resolver: any TrackResolver
    private let clock: any MonotonicClock
    private let deliver: @Sendable (ReadingOrder.Output) -> Void
    private let inputs: AsyncStream<Input>.Continuation
    private let unread = Locked(0)

    /// `deliver` is called in order, from one task; it must not block.
    init(
        resolver: any TrackResolver,
        clock: any MonotonicClock,
        order: ReadingOrder,
        deliver: @escaping @Sendable (ReadingOrder.Output) -> Void
    ) {
        self.resolver = resolver
        self.clock = clock
        self.deliver = deliver
        let (stream, inputs) = AsyncStream.makeStream(of: Input.self)
        self.inputs = inputs
        Task { await run(order, stream) }
    }

    private func run(_ order: ReadingOrder, _ stream: AsyncStream<Input>) async {
        var order = order
        var tasks: [Int: Task<Void, Never>] = [:]
        var timer: (due: Duration, task: Task<Void, Never>)?
        for await input in stream {
            switch input {
            case .sources(let sources): for source in sources { order.add(source) }
            case .found(let number, let part): order.found(number, part)
            case .ended(let number, let problem):
                order.ended(number, problem)
                tasks[number] = nil
                unread.withLock { $0 -= 1 }
            case .passOver: order.passOver()
            case .stop:
                let leftOut = order.stop(at: clock.now)
                unread.withLock { $0 -= leftOut }
                for task in tasks.values { task.cancel() }
            case .timeIsUp(let due): if timer?.due == due { timer = nil }
            }
            for output in order.take(at: clock.now) { deliver(output) }
            for (number, source) in order.begin(at: clock.now) { tasks[number] = read(source, number) }
            let due = order.due(after: clock.now)
            guard due != timer?.due else { continue }
            timer?.task.cancel()
            timer = due.map { due in (due, wake(at: due)) }
        }
        timer?.task.cancel()
        for task in tasks.values { task.cancel() }
    }

    /// A task that resolves `source`, and sends its parts and its end, also when it is cancelled.
    private func read(_ source: String, _ number: Int) -> Task<Void, Never> {
        Task { [resolver, inputs] in
            var problem: MediaError?
            do {
                try await resolver.resolve(source) { inputs.yield(.found(number, $0)) }
            } catch {
                if !Task.isCancelled {
                    problem = MediaError(describing: error, of: ReadingOrder.name(of: source))
                }
            }
            inputs.yield(.ended(number, problem))
        }
    }

    private func wake(at time: Duration) -> Task<Void, Never> {
        Task { [clock, inputs] in
            guard (try? await clock.sleep(until: time)) != nil else { return }
            inputs.yield(.timeIsUp(time))
        }
    }

    /// The number of sources that are not read yet.
    var count: Int { unread.withLock { $0 } }

    /// Reads `sources`, whose tracks follow those of earlier sources. Never waits.
    func read(_ sources: [String]) {
        unread.withLock { $0 += sources.count }
        inputs.yield(.sources(sources))
    }

    /// Stops waiting for the first sources that are not read yet, so that the tracks read behind them play.
    func passOver() { inputs.yield(.passOver) }

    /// Stops reading the present sources, after two seconds at the latest, and delivers the tracks that were
    /// read of them. Sources added later are read.
    func stop() { inputs.yield(.stop) }

    /// Cancels all reading: no more tracks are needed.
    func end() { inputs.finish() }
}
