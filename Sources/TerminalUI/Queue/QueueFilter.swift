package import Media

/// The tracks that match a text, found slice by slice.
///
/// Pure. `examine` takes at most `slice` tracks at a time, so that keys can be handled in between, however
/// long the queue is.
package struct QueueFilter: Sendable {
    /// The tracks of one slice: a few milliseconds of work.
    package static let slice = 2_000

    package let text: String
    let matcher: TrackMatcher
    /// Positions in the queue, in order, of the matches found so far.
    package private(set) var matches: [Int] = []
    /// The matches found so far by a repeated examination, which begins when more tags are known. They
    /// replace `matches` at its end; `nil` while there is none.
    private var renewed: [Int]?
    /// The number of tracks examined, from the first one on.
    package private(set) var examinedCount = 0
    private var revision: Int
    /// The revision of the known tags when the examination began.
    private var learnedRevision: Int

    init(_ text: String, of player: PlayerSnapshot) {
        self.text = text
        matcher = TrackMatcher(text)
        revision = player.queueRevision
        learnedRevision = player.learned.revision
    }

    /// `true` if some tracks were not examined yet, or have new tags.
    package func hasWork(in player: PlayerSnapshot) -> Bool {
        revision != player.queueRevision || examinedCount < player.tracks.count
            || learnedRevision != player.learned.revision
    }

    /// Examines the next tracks. A changed queue is examined again from its beginning. If only more tags are
    /// known, it is examined again too, and the present matches are shown until that is done.
    ///
    /// Returns `true` if other matches have replaced the shown ones.
    @discardableResult
    mutating func examine(_ player: PlayerSnapshot) -> Bool {
        if revision != player.queueRevision {
            revision = player.queueRevision
            learnedRevision = player.learned.revision
            examinedCount = 0
            matches = []
            renewed = nil
        } else if learnedRevision != player.learned.revision, examinedCount >= player.tracks.count {
            learnedRevision = player.learned.revision
            examinedCount = 0
            renewed = []
        }
        let end = min(player.tracks.count, examinedCount + Self.slice)
        for place in examinedCount..<max(examinedCount, end) {
            guard matcher.matches(player, at: place) else { continue }
            if renewed == nil { matches.append(place) } else { renewed?.append(place) }
        }
        examinedCount = max(examinedCount, end)
        guard examinedCount >= player.tracks.count, let all = renewed.take() else { return false }
        matches = all
        return true
    }

    /// Drops a row whose track is being removed, before the next snapshot shows the removal.
    mutating func forget(row: Int) {
        matches.remove(at: row)
        for index in matches.indices[row...] { matches[index] -= 1 }
    }

    /// The row of the track at `place`; `nil` if it does not match or was not examined yet.
    func row(of place: Int) -> Int? { matches.firstIndex(of: place) }
}
