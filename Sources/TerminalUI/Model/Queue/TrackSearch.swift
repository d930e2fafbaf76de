internal import Media

/// Looks for the nearest row that what was typed means, a slice at a time, round the end of the list.
///
/// Pure, and bounded as the filter is.
struct TrackSearch: Sendable {
    let text: String
    let isForward: Bool
    private let matcher: TrackMatcher
    /// The row that is examined first.
    private let start: Int
    private(set) var examinedCount = 0
    private(set) var found: Int?

    init(_ text: String, from start: Int, isForward: Bool) {
        self.text = text
        self.isForward = isForward
        self.start = start
        matcher = TrackMatcher(text)
    }

    /// Whether neither a row was found nor all were examined.
    func hasWork(rows: Int) -> Bool { found == nil && examinedCount < rows }

    /// Examines the next of `rows` rows; `place` tells the place in the queue that a row shows.
    mutating func look(through player: PlayerSnapshot, rows: Int, place: (Int) -> Int) {
        let end = min(rows, examinedCount + QueueFilter.slice)
        while found == nil, examinedCount < end {
            let step = isForward ? examinedCount : -examinedCount
            let row = ((start + step) % rows + rows) % rows
            let track = player.tracks[place(row)]
            if matcher.matches(track, facts: player.learned[track.id]) { found = row }
            examinedCount += 1
        }
    }
}
