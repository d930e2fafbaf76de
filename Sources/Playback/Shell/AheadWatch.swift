import Media

/// Lets the downloads go ahead of the music, as `AheadPlan` says, and knows how long the music goes on
/// without the network.
///
/// Each update costs nothing unless something has changed on which the plan depends.
struct AheadWatch {
    /// The plan depends on these alone.
    private struct Situation: Equatable {
        struct Order: Equatable {
            let goal: AheadGoal
            let queue: Int
            let order: Int
            let count: Int
        }

        let order: Order
        let current: Int?
        let facts: Int
        let availability: Int
        let downloads: Int
        let mayBegin: Bool
    }

    private let cached: CachedWatch
    private let downloads: BackgroundDownloads
    private var last: (situation: Situation, plan: AheadPlan)?

    init(cached: CachedWatch, downloads: BackgroundDownloads) {
        self.cached = cached
        self.downloads = downloads
    }

    /// Tries again what could not be downloaded, as if the goal were new.
    mutating func restart() {
        downloads.goAhead(nil)
        downloads.restartAhead()
        last = nil
    }

    /// `isIdle` is `true` if nothing waits for a track: only then another download may begin.
    mutating func update(to state: PlayerState, isIdle: Bool) {
        guard let goal = state.aheadGoal else { return }
        let queue = state.queue
        let (known, revision) = cached.result
        let situation = Situation(
            order: .init(
                goal: goal,
                queue: queue.revision,
                order: queue.orderRevision,
                count: queue.tracks.count
            ),
            current: queue.current,
            facts: state.announcer.facts.revision,
            availability: revision,
            downloads: downloads.revision,
            mayBegin: isIdle && !state.connectivity.isOffline
        )
        guard situation != last?.situation else { return }
        if situation.order != last?.situation.order {
            let tracks = queue.upcoming.prefix(AheadPlan.most)
            let current = queue.currentTrack.map { [$0] } ?? []
            downloads.spare((current + tracks).compactMap(\.location.url))
        }
        let settled = downloads.settledAhead
        let live = state.lane.current.flatMap { $0.isLive ? $0.track.id : nil }
        let plan = AheadPlan(
            goal,
            current: queue.currentTrack,
            upcoming: queue.upcoming,
            facts: state.announcer.facts,
            isSettled: { $0.location.url == nil || $0.id == live || settled.contains($0.location) },
            isWhole: { $0.location.url == nil || known[$0.id]?.isComplete == true }
        )
        last = (situation, plan)
        if situation.mayBegin { downloads.goAhead(plan.next) }
    }

    /// `nil` if nothing is downloaded ahead, or if the current track is not whole.
    func offlineTime(in state: PlayerState, at now: Duration) -> OfflineTime? {
        guard let plan = last?.plan, plan.hasCurrent, let duration = state.duration else { return nil }
        let left = max(.zero, duration - state.position) + plan.time
        let isExact = !plan.isEstimate && state.lane.current?.info?.isDurationExact == true
        return OfflineTime(left: left, end: now + left, isEstimate: !isExact)
    }
}
