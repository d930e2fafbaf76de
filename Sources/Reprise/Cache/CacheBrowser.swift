import Cache
import Glibc
import Media
import System

/// The cache for the screen's cache view: lists, evicts and pins in the background, one job after another.
///
/// Reads nothing before the first call.
final class CacheBrowser: CacheControl {
    private enum Job {
        case read
        case evict(CachedItem.ID)
        case setPinned(CachedItem.ID, Bool)
    }

    private struct State {
        var report = CacheContents()
        /// `true` if a reading is queued but has not begun: a second one would have the same result.
        var isReadWaiting = false
        /// `true` if the view is visible.
        var isWatched = false
        /// `true` if the cache has changed since the last reading.
        var isStale = false
        /// The time of the last reading.
        var readAt = Duration.zero
    }

    /// The shortest interval between readings: short enough to follow downloads, but long enough that reading
    /// a large index does not take all the time.
    static let pace = Duration.seconds(1)

    private let state = Locked(State())
    private let observers = Observers<Void>()
    private let clock: any MonotonicClock
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let jobs: AsyncStream<Job>.Continuation
    private let waiting: AsyncStream<Job>
    private let list: @Sendable () async throws -> [CachedItem]
    private let drop: @Sendable (CachedItem.ID) async throws -> CacheRemoval
    private let pin: @Sendable (CachedItem.ID, Bool) async throws -> Void

    init(
        clock: any MonotonicClock,
        budget: Int64? = nil,
        list: @escaping @Sendable () async throws -> [CachedItem],
        drop: @escaping @Sendable (CachedItem.ID) async throws -> CacheRemoval,
        pin: @escaping @Sendable (CachedItem.ID, Bool) async throws -> Void
    ) {
        self.clock = clock
        state.withLock { $0.report.budget = budget }
        self.list = list
        self.drop = drop
        self.pin = pin
        (waiting, jobs) = AsyncStream.makeStream(of: Job.self)
        (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var report: CacheContents { state.withLock { $0.report } }

    /// Reads the list again. During a reading, any number of calls cause one more.
    func read() {
        let isNew = state.withLock { state in
            defer { state.isReadWaiting = true }
            state.isStale = false
            state.readAt = clock.now
            return !state.isReadWaiting
        }
        if isNew { jobs.yield(.read) }
    }

    func watch(_ isWatched: Bool) {
        state.withLock { $0.isWatched = isWatched }
        if isWatched { read() }
    }

    /// Must be called after each change of the cache. Never waits; may be called from any thread.
    func cacheChanged() {
        let isWatched = state.withLock { state in
            state.isStale = true
            return state.isWatched
        }
        // While the view is hidden nothing is read: `watch` reads the list once it is shown.
        if isWatched { changed.yield() }
    }

    func evict(_ entry: CachedItem.ID) { jobs.yield(.evict(entry)) }

    func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool) { jobs.yield(.setPinned(entry, isPinned)) }

    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation { observers.add { observer() } }

    /// Runs the jobs until the task is cancelled. Only one task calls this.
    func run() async {
        async let following: Void = follow()
        await runJobs()
        await following
    }

    /// Reads the list again after changes, while the view is visible.
    private func follow() async {
        for await _ in changes {
            while let due = nextRead() {
                if due <= clock.now {
                    read()
                } else if (try? await clock.sleep(until: due)) == nil {
                    return
                }
            }
        }
    }

    /// The time of the next reading; `nil` while none is needed.
    private func nextRead() -> Duration? {
        state.withLock { $0.isWatched && $0.isStale ? $0.readAt + Self.pace : nil }
    }

    private func runJobs() async {
        for await job in waiting {
            var problem: SafeText?
            do {
                problem = try await perform(job)
            } catch {
                problem = (error as? MediaError)?.safeText ?? SafeText("cache: \(error)")
            }
            await show(problem)
        }
    }

    /// Returns the reason if the cache refused the job; throws if the job failed.
    private func perform(_ job: Job) async throws -> SafeText? {
        switch job {
        case .read:
            state.withLock { $0.isReadWaiting = false }
            return nil
        case .evict(let entry):
            let report = try await drop(entry)
            if report.entriesInUse > 0 {
                return "Not deleted: it is being played, here or by another player"
            }
            return report.entriesPinned > 0 ? "Not deleted: it is pinned" : nil
        case .setPinned(let entry, let isPinned):
            try await pin(entry, isPinned)
            return nil
        }
    }

    private func show(_ problem: SafeText?) async {
        var problem = problem
        var entries: [CachedItem]?
        do {
            entries = try await list()
        } catch {
            problem = problem ?? (error as? MediaError)?.safeText ?? SafeText("cache: \(error)")
        }
        state.withLock { state in
            state.report.revision += 1
            // The interval counts from the end of a reading, so that there is time between long ones.
            state.readAt = clock.now
            if let entries {
                state.report.entries = entries
                state.report.listCount = entries.count(where: \.isList)
                state.report.time = Int64(time(nil))
            }
            state.report.problem = problem
        }
        observers.send(())
    }
}
