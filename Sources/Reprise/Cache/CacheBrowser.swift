import Cache
import Glibc
import Media
import Playback
import System

/// The cache for the screen's cache view: lists, evicts and pins in the background, one job after another.
///
/// Reads nothing before the first call.
final class CacheBrowser: CacheControl {
    private struct State {
        var report = CacheContents()
        /// `true` if a reading is queued but has not begun: a second one would have the same result.
        var isReadWaiting = false
        /// `true` if the view is visible.
        var isWatched = false
        /// `true` if the cache has changed since the last reading.
        var isStale = false
        /// `true` while `follow` runs.
        var isFollowing = false
        /// The time of the last reading.
        var readAt = Duration.zero
    }

    /// The shortest interval between readings: short enough to follow downloads, but long enough that reading
    /// a large index does not take all the time.
    static let pace = Duration.seconds(1)

    private let state = Locked(State())
    private let observers = Observers<Void>()
    private let jobs = JobLine()
    private let cache: any CacheAdministration
    private let clock: any MonotonicClock

    init(_ cache: any CacheAdministration, clock: any MonotonicClock, budget: Int64? = nil) {
        self.cache = cache
        self.clock = clock
        state.withLock { $0.report.budget = budget }
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
        guard isNew else { return }
        add { [self] in
            state.withLock { $0.isReadWaiting = false }
            return nil
        }
    }

    func watch(_ isWatched: Bool) {
        state.withLock { $0.isWatched = isWatched }
        if isWatched { read() }
    }

    /// Must be called after each change of the cache. Never waits; may be called from any thread.
    func cacheChanged() {
        let begins = state.withLock { state in
            state.isStale = true
            // While the view is hidden nothing is read: `watch` reads the list once it is shown.
            guard state.isWatched, !state.isFollowing else { return false }
            state.isFollowing = true
            return true
        }
        if begins { Task { await follow() } }
    }

    func evict(_ entry: CachedItem.ID) {
        add { [cache] in
            let report = try await cache.evict([entry], includingPinned: false)
            if report.entriesInUse > 0 {
                return "Not deleted: it is being played, here or by another player"
            }
            return report.entriesPinned > 0 ? "Not deleted: it is pinned" : nil
        }
    }

    func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool) {
        add { [cache] in
            try await cache.setPinned(entry, isPinned)
            return nil
        }
    }

    func observe(_ observer: @escaping @Sendable () -> Void) -> Observation { observers.add { observer() } }

    /// Reads the list again, once that is due, while the view is visible and there are changes.
    private func follow() async {
        while let due = nextRead() {
            if due > clock.now { try? await clock.sleep(until: due) } else { read() }
        }
    }

    /// The time of the next reading; `nil` if none is needed.
    private func nextRead() -> Duration? {
        state.withLock { state in
            state.isFollowing = state.isWatched && state.isStale
            return state.isFollowing ? state.readAt + Self.pace : nil
        }
    }

    /// Runs `job`, which returns the reason if the cache refused it, after the jobs before it; then reads the
    /// list.
    private func add(_ job: @escaping @Sendable () async throws -> SafeText?) {
        jobs.add { [self] in
            var problem: SafeText?
            var entries: [CachedItem]?
            let savings = try? await cache.savings()
            do { problem = try await job() } catch { problem = Self.text(of: error) }
            do { entries = try await cache.list() } catch { problem = problem ?? Self.text(of: error) }
            show(entries, savings, problem)
        }
    }

    private static func text(of error: any Error) -> SafeText {
        (error as? MediaError)?.safeText ?? SafeText("cache: \(error)")
    }

    private func show(_ entries: [CachedItem]?, _ savings: Savings?, _ problem: SafeText?) {
        state.withLock { state in
            state.report.revision += 1
            // The interval counts from the end of a reading, so that there is time between long ones.
            state.readAt = clock.now
            if let entries {
                state.report.entries = entries
                state.report.listCount = entries.count(where: \.isList)
                state.report.time = Int64(time(nil))
            }
            if let savings { state.report.savings = savings }
            state.report.problem = problem
        }
        observers.send(())
    }
}
