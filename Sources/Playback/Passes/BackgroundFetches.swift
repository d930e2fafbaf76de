import Media
import System

/// Heard tracks that are fetched to their end behind the music's back.
///
/// The loader gives such bytes the lowest priority, so the music never waits for them. Used by the player's loop
/// alone, so it needs no lock.
final class BackgroundFetches {
    private struct Filling {
        let location: ResourceLocation
        let task: Task<Void, Never>
        let done: DoneMark
    }

    /// How often a filling is looked at: often enough that a complete one is soon let go of.
    static let interval = Duration.seconds(1)
    /// Looks without a new byte after which it is given up; the loader's own attempts last about as long.
    static let patience = 120

    private let clock: any MonotonicClock
    private let most: Int
    /// Hears what a filling counted when it ended by itself.
    private let ended: @Sendable (LoadReport) -> Void
    private var backgroundFetches: [Filling] = []

    init(clock: any MonotonicClock, most: Int, ended: @escaping @Sendable (LoadReport) -> Void) {
        self.clock = clock
        self.most = most
        self.ended = ended
    }

    /// Whether something of `report` is missing that could be fetched and kept.
    static func isWorthwhile(_ report: LoadReport) -> Bool {
        report.live == nil && report.isKept && !isComplete(report)
    }

    private static func isComplete(_ report: LoadReport) -> Bool {
        report.length.map { report.stored.covers(0..<$0) } ?? false
    }

    /// Takes over `resource`. Of more than there may be, the oldest is let go of as it is.
    func add(_ resource: TrackResource) {
        backgroundFetches.removeAll { $0.done.isSet }
        if backgroundFetches.count >= most { backgroundFetches.removeFirst().task.cancel() }
        let done = DoneMark()
        let filler = BackgroundFetch(resource: resource, clock: clock, done: done, ended: ended)
        let task = Task { await filler.run() }
        backgroundFetches.append(Filling(location: resource.track.location, task: task, done: done))
    }

    /// Ends what is filled at `location`, which is opened again; returns what to wait for before that.
    func end(at location: ResourceLocation) -> [Task<Void, Never>] {
        let same = backgroundFetches.filter { $0.location == location }
        backgroundFetches.removeAll { $0.location == location }
        for filling in same { filling.task.cancel() }
        return same.map(\.task)
    }

    /// Ends all at once; returns when every resource is closed, and its report was told.
    func close() async {
        let all = backgroundFetches
        backgroundFetches = []
        for filling in all { filling.task.cancel() }
        for filling in all { await filling.task.value }
    }
}

/// The work on one of them.
private struct BackgroundFetch: Sendable {
    let resource: TrackResource
    let clock: any MonotonicClock
    let done: DoneMark
    let ended: @Sendable (LoadReport) -> Void

    /// Fetches what can be fetched, until the task is cancelled, and closes the resource.
    func run() async {
        await fill()
        let report = resource.report
        await resource.close()
        done.set()
        ended(report)
    }

    /// Returns when all is there, nothing comes any more, or the task is cancelled.
    private func fill() async {
        guard let reader = resource.openReader else { return }
        reader.fill()
        var before = reader.report.fetchedBytes
        var idle = 0
        while idle < BackgroundFetches.patience,
            (try? await clock.sleep(for: BackgroundFetches.interval)) != nil
        {
            let report = reader.report
            guard BackgroundFetches.isWorthwhile(report) else { return }
            idle = report.fetchedBytes == before ? idle + 1 : 0
            before = report.fetchedBytes
        }
    }
}
