import Media

/// Which track is downloaded ahead next, and how long the cached music lasts. Pure.
///
/// The current track comes first, then those that follow it in playing order, until the goal is reached.
struct AheadPlan: Sendable, Equatable {
    /// The most tracks that are looked at: days of music, some milliseconds of one processor.
    static let most = 10_000

    /// `nil` once the goal is reached.
    private(set) var next: Track?
    /// `true` if the current track is whole.
    private(set) var hasCurrent: Bool
    /// How long the whole tracks after the current one play, up to the first that is not whole.
    private(set) var time = Duration.zero
    /// `true` if a length in `time` is an estimate, or unknown, which counts as 0.
    private(set) var isEstimate = false

    /// `upcoming` are the tracks after the current one, `isSettled` is `true` for those that need not or
    /// can't be downloaded, and `isWhole` for those of which all is here.
    init(
        _ goal: AheadGoal,
        current: Track?,
        upcoming: some Sequence<Track>,
        facts: LearnedFacts,
        isSettled: (Track) -> Bool,
        isWhole: (Track) -> Bool
    ) {
        hasCurrent = current.map(isWhole) ?? false
        if let current, !isSettled(current) { next = current }
        var isUnbroken = true
        var length = Duration.zero
        for (count, track) in upcoming.prefix(Self.most).enumerated() {
            let isWanted = next == nil && !goal.isReached(by: length, count)
            guard isUnbroken || isWanted else { break }
            if isWanted, !isSettled(track) { next = track }
            let facts = facts[track.id]
            let duration = facts?.duration ?? track.duration ?? .zero
            length += duration
            isUnbroken = isUnbroken && isWhole(track)
            guard isUnbroken else { continue }
            time += duration
            if facts?.isExact != true { isEstimate = true }
        }
    }
}
