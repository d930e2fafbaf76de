import Media
import System

/// Looks up in the background how much of each track is cached, for the snapshots.
///
/// A long queue is looked up in batches, without delaying the player. The result is replaced as a whole, so
/// that reading it costs the same for any length of the queue.
final class CachedWatch: Sendable {
    /// Tracks that are looked up in one call.
    static let batch = 500
    /// Publishing copies the whole result, so after the first batch, this many are published together.
    private static let batchesPerUpdate = 20

    private let cache: any CacheStatus
    private let changed: @Sendable () -> Void
    private let newest = Locked<(value: [Track.ID: Availability], revision: Int)>(([:], 0))
    private let seen = Locked(Set<Track.ID>())
    private let lookups = JobLine(priority: .utility)

    /// `changed` is called from any task when `result` has changed.
    init(cache: any CacheStatus, changed: @escaping @Sendable () -> Void) {
        self.cache = cache
        self.changed = changed
    }

    /// What was found, and the number of its changes so far.
    var result: (value: [Track.ID: Availability], revision: Int) { newest.withLock { $0 } }

    /// Looks up those of `tracks` that were not looked up yet. Never waits.
    func lookUp(newOf tracks: [Track]) {
        lookups.add { [self] in
            await lookUp(tracks) { id in seen.withLock { $0.insert(id).inserted } }
        }
    }

    /// Looks up `track` again, because more of it may be cached. Never waits.
    func lookUpAgain(_ track: Track) { lookups.add { [self] in await lookUp([track]) { _ in true } } }

    func stop() { lookups.cancel() }

    private func lookUp(_ tracks: [Track], where isWanted: (Track.ID) -> Bool) async {
        var fresh = result.value
        var isChanged = false
        for (number, start) in stride(from: 0, to: tracks.count, by: Self.batch).enumerated() {
            let page = tracks[start...].prefix(Self.batch)
                .filter { $0.location.url != nil && isWanted($0.id) }
            if !page.isEmpty {
                let found = await cache.availability(of: page.compactMap(\.location.url))
                guard !Task.isCancelled else { return }
                for (track, availability) in zip(page, found) where fresh[track.id] != availability {
                    fresh[track.id] = availability
                    isChanged = true
                }
            }
            let isLast = start + Self.batch >= tracks.count
            guard isChanged, isLast || number % Self.batchesPerUpdate == 0 else { continue }
            isChanged = false
            newest.withLock { $0 = (fresh, $0.revision + 1) }
            changed()
        }
    }
}
