package import Media

/// The places of the tracks that what was typed means, found a slice at a time.
///
/// Pure: `look` examines at most `slice` tracks and returns, however long the queue is, so that keys are answered in
/// between.
package struct QueueFilter: Sendable {
    /// Some milliseconds of work.
    package static let slice = 2_000

    package let text: String
    private let matcher: TrackMatcher
    /// Places in the queue, in order, of the tracks examined so far.
    package private(set) var matches: [Int] = []
    /// How many tracks were examined, from the first on.
    package private(set) var examinedCount = 0
    private var revision: Int

    init(_ text: String, of player: PlayerSnapshot) {
        self.text = text
        matcher = TrackMatcher(text)
        revision = player.queueRevision
    }

    /// Whether there are tracks still to be examined.
    package func hasWork(in player: PlayerSnapshot) -> Bool {
        revision != player.queueRevision || examinedCount < player.tracks.count
    }

    /// Examines the next tracks; all anew when the queue is another.
    mutating func look(through player: PlayerSnapshot) {
        if revision != player.queueRevision {
            (revision, examinedCount, matches) = (player.queueRevision, 0, [])
        }
        let end = min(player.tracks.count, examinedCount + Self.slice)
        for place in examinedCount..<max(examinedCount, end) {
            let track = player.tracks[place]
            if matcher.matches(track, facts: player.learned[track.id]) { matches.append(place) }
        }
        examinedCount = max(examinedCount, end)
    }

    /// Lets go of a row whose track is being removed, before the queue is heard of again.
    mutating func forget(row: Int) {
        matches.remove(at: row)
        for index in matches.indices[row...] { matches[index] -= 1 }
    }

    /// The row of the track at `place`; nil while it is not among the matches.
    func row(of place: Int) -> Int? {
        var (low, high) = (0, matches.count)
        while low < high {
            let middle = (low + high) / 2
            if matches[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < matches.count && matches[low] == place ? low : nil
    }
}
