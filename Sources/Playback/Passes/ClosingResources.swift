import Media
import System

/// Closes resources after their last pass, some after fetching their missing bytes, in the background.
///
/// Committing waits for the disk, and a fetch for the network. Only reopening the same resource, or shutting
/// down, waits for them. The loader gives background fetches the lowest priority, so the music never waits
/// for their bytes.
final class ClosingResources: Sendable {
    /// How often a fetch is checked: often enough that a complete resource is soon closed.
    static let interval = Duration.seconds(1)
    /// The number of checks without a new byte after which a fetch is given up; the loader's own attempts
    /// last about as long.
    static let mostIdleChecks = 120

    private struct Closing {
        let number: Int
        let location: ResourceLocation
        /// `true` for a background fetch that was not cancelled.
        var isFetching: Bool
        let task: Task<Void, Never>
    }

    private struct State {
        var lastNumber = 0
        /// The oldest first.
        var closings: [Closing] = []
    }

    private let clock: any MonotonicClock
    private let mostFetches: Int
    private let progressed: @Sendable (Track) -> Void
    private let state = Locked(State())

    /// `progressed` is called after each check of a fetch, and once a resource is closed: only then is all of
    /// it committed, so that the cache has its final ranges.
    init(clock: any MonotonicClock, mostFetches: Int, progressed: @escaping @Sendable (Track) -> Void) {
        self.clock = clock
        self.mostFetches = mostFetches
        self.progressed = progressed
    }

    func close(_ resource: TrackResource) { add(resource, isFetching: false) { await resource.close() } }

    /// Fetches the missing bytes of `resource`, closes it and calls `ended` with its report. If there are too
    /// many fetches, the oldest one is cancelled.
    func fetchRest(of resource: TrackResource, ended: @escaping @Sendable (LoadReport) -> Void) {
        state.withLock { state in
            let fetches = state.closings.indices.filter { state.closings[$0].isFetching }
            guard fetches.count >= mostFetches, let oldest = fetches.first else { return }
            state.closings[oldest].isFetching = false
            state.closings[oldest].task.cancel()
        }
        add(resource, isFetching: true) { [clock, progressed] in
            if let reader = resource.openReader {
                await Self.fillGaps(through: reader, clock) { progressed(resource.track) }
            }
            let report = resource.report
            await resource.close()
            ended(report)
        }
    }

    private func add(
        _ resource: TrackResource,
        isFetching: Bool,
        _ work: @escaping @Sendable () async -> Void
    ) {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task {
                await work()
                self.progressed(resource.track)
                self.state.withLock { $0.closings.removeAll { $0.number == number } }
            }
            let location = resource.track.location
            state.closings.append(
                Closing(number: number, location: location, isFetching: isFetching, task: task)
            )
        }
    }

    /// Cancels the fetch at `location`, which is about to be opened again. Returns the tasks to await before
    /// that.
    func end(at location: ResourceLocation) -> [Task<Void, Never>] { end { $0.location == location } }

    /// Cancels all fetches; returns when every resource is closed and every report was sent.
    func finish() async {
        for task in end(where: { _ in true }) { await task.value }
    }

    private func end(where isMeant: (Closing) -> Bool) -> [Task<Void, Never>] {
        state.withLock { state in
            for index in state.closings.indices where isMeant(state.closings[index]) {
                guard state.closings[index].isFetching else { continue }
                state.closings[index].isFetching = false
                state.closings[index].task.cancel()
            }
            return state.closings.filter(isMeant).map(\.task)
        }
    }

    /// Fetches the missing bytes. Returns when all are stored, none have arrived for a while, or the task is
    /// cancelled.
    ///
    /// `checked` is called about once a second.
    static func fillGaps(
        through reader: any ResourceReader,
        _ clock: any MonotonicClock,
        checked: () -> Void = {}
    ) async {
        reader.fill()
        var before = reader.report.fetchedBytes
        var idleChecks = 0
        while idleChecks < mostIdleChecks, (try? await clock.sleep(for: interval)) != nil {
            let report = reader.report
            checked()
            guard report.isMissingBytes else { return }
            idleChecks = report.fetchedBytes == before ? idleChecks + 1 : 0
            before = report.fetchedBytes
        }
    }
}

extension LoadReport {
    /// `true` if bytes that can be fetched and stored are missing, or may be missing because the length is
    /// unknown.
    var isMissingBytes: Bool { live == nil && isCached && !(length.map { stored.covers(0..<$0) } ?? false) }
}
