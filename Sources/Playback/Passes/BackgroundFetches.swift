import Media
import Synchronization
import System

/// Fetches the rest of tracks that were heard in part, in the background.
///
/// The loader gives such bytes the lowest priority, so the music never waits for them. Used by the player's loop
/// alone, so it needs no lock.
final class BackgroundFetches {
    /// How often a fetch is checked: often enough that a complete resource is soon closed.
    static let interval = Duration.seconds(1)
    /// The number of checks without a new byte after which a fetch is given up; the loader's own attempts
    /// last about as long.
    static let mostIdleChecks = 120

    private let clock: any MonotonicClock
    private let most: Int
    /// Called with the report of a resource when its fetch has ended by itself.
    private let ended: @Sendable (LoadReport) -> Void
    private var fetches: [ResourceTask] = []

    init(clock: any MonotonicClock, most: Int, ended: @escaping @Sendable (LoadReport) -> Void) {
        self.clock = clock
        self.most = most
        self.ended = ended
    }

    /// `true` if bytes of the resource are missing that can be fetched and stored.
    static func isWorthwhile(_ report: LoadReport) -> Bool {
        report.live == nil && report.isCached && !isComplete(report)
    }

    private static func isComplete(_ report: LoadReport) -> Bool {
        report.length.map { report.stored.covers(0..<$0) } ?? false
    }

    /// Takes over `resource`. If there are too many fetches, the oldest one is cancelled.
    func add(_ resource: TrackResource) {
        fetches.removeAll(where: \.isDone)
        if fetches.count >= most { fetches.removeFirst().task.cancel() }
        fetches.append(
            ResourceTask(resource) { [clock, ended] in
                await Self.fetch(resource, clock)
                let report = resource.report
                await resource.close()
                ended(report)
            }
        )
    }

    /// Cancels the fetches at `location`, which is about to be opened again. Returns the tasks to await
    /// before that.
    func end(at location: ResourceLocation) -> [Task<Void, Never>] {
        let same = fetches.filter { $0.location == location }
        fetches.removeAll { $0.location == location }
        for fetch in same { fetch.task.cancel() }
        return same.map(\.task)
    }

    /// Cancels all; returns when every resource is closed and its report was sent.
    func close() async {
        let all = fetches
        fetches = []
        for fetch in all { fetch.task.cancel() }
        for fetch in all { await fetch.task.value }
    }

    /// Returns when all bytes are stored, none have arrived for a while, or the task is cancelled.
    private static func fetch(_ resource: TrackResource, _ clock: any MonotonicClock) async {
        guard let reader = resource.openReader else { return }
        reader.fill()
        var before = reader.report.fetchedBytes
        var idleChecks = 0
        while idleChecks < mostIdleChecks, (try? await clock.sleep(for: interval)) != nil {
            let report = reader.report
            guard isWorthwhile(report) else { return }
            idleChecks = report.fetchedBytes == before ? idleChecks + 1 : 0
            before = report.fetchedBytes
        }
    }
}

/// Work on a resource after its last pass: fetching its missing bytes, or closing it.
final class ResourceTask: Sendable {
    let location: ResourceLocation
    let task: Task<Void, Never>
    private let done: DoneMark

    init(_ resource: TrackResource, _ work: @escaping @Sendable () async -> Void) {
        let done = DoneMark()
        self.done = done
        location = resource.track.location
        task = Task {
            await work()
            done.value.store(true, ordering: .releasing)
        }
    }

    var isDone: Bool { done.value.load(ordering: .acquiring) }
}

/// Set once, when a task has finished.
private final class DoneMark: Sendable {
    let value = Atomic(false)
}
