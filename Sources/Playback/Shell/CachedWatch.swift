import Media
import System

/// Looks up in the background how much of each track is cached, for the snapshots.
///
/// A long queue is looked up in batches, without delaying the player. The result is replaced as a whole, so that reading
/// it costs the same for any length of the queue.
final class CachedWatch: Sendable {
    private struct State {
        /// Tracks to look up, as slices, so that a long queue is not copied.
        var waiting: [ArraySlice<Track>] = []
        /// Tracks to look up again.
        var again: [Track] = []
        var result: [Track.ID: Availability] = [:]
        var isBusy = false
        var isStopped = false
        var task: Task<Void, Never>?

        /// Removes and returns the next tracks to look up, at most `count`; `nil` if there are none.
        mutating func nextPage(of count: Int) -> ArraySlice<Track>? {
            guard let first = waiting.first else { return nil }
            let page = first.prefix(count)
            waiting[0] = first.dropFirst(count)
            if waiting[0].isEmpty { waiting.removeFirst() }
            return page
        }
    }

    /// Tracks that are looked up in one call.
    static let batch = 500

    private let cache: any CacheStatus
    private let changed: @Sendable () -> Void
    private let state = Locked(State())
    /// Tracks that were looked up. Used only by the task, of which there is one at a time.
    private let seen = Locked(Set<Track.ID>())

    /// `changed` is called from any task when `value` has changed.
    init(cache: any CacheStatus, changed: @escaping @Sendable () -> Void) {
        self.cache = cache
        self.changed = changed
    }

    var value: [Track.ID: Availability] { state.withLock { $0.result } }

    /// Looks up those of `tracks` that were not looked up yet. Never waits.
    func lookUp(newOf tracks: [Track]) {
        schedule { $0.waiting.append(tracks[...]) }
    }

    /// Looks up `track` again, because more of it may be cached. Never waits.
    func lookUpAgain(_ track: Track) {
        guard track.location.url != nil else { return }
        schedule { $0.again.append(track) }
    }

    /// Cancels the lookups.
    func stop() {
        let task = state.withLock { state in
            state.isStopped = true
            return state.task
        }
        task?.cancel()
    }

    private func schedule(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard !state.isBusy, !state.isStopped else { return }
            state.isBusy = true
            state.task = Task(priority: .utility) { await self.lookUpAll() }
        }
    }

    private func lookUpAll() async {
        var result = state.withLock { $0.result }
        var batchCount = 0
        var isChanged = false
        while let tracks = nextBatch() {
            let found = await cache.availability(of: tracks.compactMap(\.location.url))
            guard !Task.isCancelled else { return }
            for (track, availability) in zip(tracks, found) where result[track.id] != availability {
                result[track.id] = availability
                isChanged = true
            }
            batchCount += 1
            // Publishing copies the whole result, so the results of several batches are published together.
            guard isChanged, batchCount == 1 || batchCount % 20 == 0 else { continue }
            isChanged = false
            publish(result)
        }
        if isChanged { publish(result) }
        finishOrContinue()
    }

    private func publish(_ result: [Track.ID: Availability]) {
        state.withLock { $0.result = result }
        changed()
    }

    /// Ends the task, or starts another one if tracks were added after the last batch.
    private func finishOrContinue() {
        state.withLock { state in
            state.isBusy = false
            state.task = nil
            guard !state.waiting.isEmpty || !state.again.isEmpty, !state.isStopped else { return }
            state.isBusy = true
            state.task = Task(priority: .utility) { await self.lookUpAll() }
        }
    }

    /// The next web tracks to look up; `nil` if there are none.
    private func nextBatch() -> [Track]? {
        let again = state.withLock { state in
            defer { state.again = [] }
            return state.again
        }
        if !again.isEmpty { return again }
        while let page = state.withLock({ $0.nextPage(of: Self.batch) }) {
            let new = seen.withLock { seen in
                page.filter { $0.location.url != nil && seen.insert($0.id).inserted }
            }
            if !new.isEmpty { return new }
        }
        return nil
    }
}

extension ResourceLocation {
    /// `nil` for a local file.
    var url: WebURL? {
        if case .web(let url) = self { url } else { nil }
    }
}
