import Glibc
import Media
import System

/// The cache as the screen looks at it and changes it: one thing after the other, beside the screen.
///
/// Nothing of it runs, and nothing is read, before the first call.
final class CacheShelf: KeptShelf {
    private enum Errand {
        case look
        case evict(KeptEntry.ID)
        case setPinned(KeptEntry.ID, Bool)
    }

    private struct State {
        var report = KeptReport()
        var observer: (@Sendable () -> Void)?
        /// Whether a look is waited for that has not begun: a second one would show the same.
        var isLookWaiting = false
        /// Whether somebody sees what is shown.
        var isWatched = false
        /// Whether the cache is another one than at the last look.
        var isStale = false
        /// When the last look was asked for.
        var lookedAt = Duration.zero
    }

    /// Often enough to see music come, and one reading of a long index a second at most.
    static let pace = Duration.seconds(1)

    private let state = Locked(State())
    private let clock: any MonotonicClock
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let errands: AsyncStream<Errand>.Continuation
    private let waiting: AsyncStream<Errand>
    private let list: @Sendable () async throws -> [CacheListing]
    private let drop: @Sendable (Int64) async throws -> DropReport
    private let setPinnedNumber: @Sendable (Int64, Bool) async throws -> Void

    init(
        clock: any MonotonicClock,
        list: @escaping @Sendable () async throws -> [CacheListing],
        drop: @escaping @Sendable (Int64) async throws -> DropReport,
        setPinned: @escaping @Sendable (Int64, Bool) async throws -> Void
    ) {
        self.clock = clock
        (self.list, self.drop, setPinnedNumber) = (list, drop, setPinned)
        (waiting, errands) = AsyncStream.makeStream(of: Errand.self)
        (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var report: KeptReport { state.withLock { $0.report } }

    /// Looks anew. Asked while a look is under way, it is done once more afterwards, and once only.
    func look() {
        let isNew = state.withLock { state in
            defer { state.isLookWaiting = true }
            (state.isStale, state.lookedAt) = (false, clock.now)
            return !state.isLookWaiting
        }
        if isNew { errands.yield(.look) }
    }

    func watch(_ isWatched: Bool) {
        state.withLock { $0.isWatched = isWatched }
        if isWatched { look() }
    }

    /// Takes note that the cache is another one now. Never waits; from any thread.
    func cacheChanged() {
        let isWatched = state.withLock { state in
            state.isStale = true
            return state.isWatched
        }
        // Who begins to watch looks anyway.
        if isWatched { changed.yield() }
    }

    func evict(_ entry: KeptEntry.ID) { errands.yield(.evict(entry)) }

    func setPinned(_ entry: KeptEntry.ID, _ isPinned: Bool) { errands.yield(.setPinned(entry, isPinned)) }

    func observe(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.observer = observer } }

    /// Does what is asked for, until the task is cancelled. One task calls this.
    func run() async {
        async let following: Void = follow()
        await runErrands()
        await following
    }

    /// Looks again after changes, while somebody sees it.
    private func follow() async {
        for await _ in changes {
            while let due = nextLook() {
                if due <= clock.now {
                    look()
                } else if (try? await clock.sleep(until: due)) == nil {
                    return
                }
            }
        }
    }

    /// When to look again; nil while nobody would see anything new.
    private func nextLook() -> Duration? {
        state.withLock { $0.isWatched && $0.isStale ? $0.lookedAt + Self.pace : nil }
    }

    private func runErrands() async {
        for await errand in waiting {
            var problem: SafeText?
            do {
                problem = try await perform(errand)
            } catch {
                problem = (error as? MediaError)?.safeText ?? SafeText("the cache: \(error)")
            }
            await show(problem)
        }
    }

    /// Returns why it was not done, where that is no error of the cache.
    private func perform(_ errand: Errand) async throws -> SafeText? {
        switch errand {
        case .look:
            state.withLock { $0.isLookWaiting = false }
            return nil
        case .evict(let entry):
            let report = try await drop(entry.value)
            if report.openEntries > 0 {
                return "it is being played, here or by another player; it was not dropped"
            }
            return report.pinnedEntries > 0 ? "it is pinned; it was not dropped" : nil
        case .setPinned(let entry, let isPinned):
            try await setPinnedNumber(entry.value, isPinned)
            return nil
        }
    }

    private func show(_ problem: SafeText?) async {
        var problem = problem
        var entries: [KeptEntry]?
        do {
            let now = Int64(time(nil))
            entries = try await list().map { Self.entry($0, now: now) }
        } catch {
            problem = problem ?? (error as? MediaError)?.safeText ?? SafeText("the cache: \(error)")
        }
        let observer = state.withLock { state in
            state.report.revision += 1
            // Counted from its end, a look that takes long leaves time between.
            state.lookedAt = clock.now
            state.report.entries = entries ?? state.report.entries
            state.report.problem = problem
            return state.observer
        }
        observer?()
    }

    private static func entry(_ listing: CacheListing, now: Int64) -> KeptEntry {
        KeptEntry(
            id: KeptEntry.ID(listing.number),
            source: listing.source,
            title: listing.title,
            artist: listing.artist,
            length: listing.length,
            stored: listing.stored,
            isPinned: listing.isPinned,
            age: .seconds(max(0, now &- listing.lastPlayed))
        )
    }
}
