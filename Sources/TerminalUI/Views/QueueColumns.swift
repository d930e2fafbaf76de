internal import Media

/// Where the parts of a row stand, for a window's width and the rows in view. Pure.
///
/// A narrow window keeps the title and lets go of the rest: how far it plays, the artist's own column, what is here
/// of it, the duration.
struct QueueColumns: Equatable {
    /// From so many columns on artists have a column of their own.
    static let leastForArtist = 100
    static let leastForKept = 48
    static let leastForPlaysTo = 72
    static let leastForTitle = 12

    let number: Range<Int>
    let title: Range<Int>
    var artist: Range<Int>?
    var playsTo: Range<Int>?
    var pin: Int?
    /// Right-aligned, as is the duration.
    var kept: Range<Int>?
    var duration: Range<Int>?

    init(columns: Int, count: Int, rows: [QueueRow]) {
        number = 2..<2 + String(max(1, count)).count
        var end = columns
        let start = number.upperBound + 1
        let widest = rows.map(\.duration.columns).max() ?? 0
        if widest > 0, end - widest - 2 - start >= Self.leastForTitle {
            duration = end - widest..<end
            end -= widest + 2
        }
        let isAnyKept = rows.contains { !$0.kept.isEmpty || $0.isPinned }
        if isAnyKept, columns >= Self.leastForKept {
            kept = end - 4..<end
            pin = end - 6
            end -= 8
            let longest = rows.map(\.playsTo.columns).max() ?? 0
            if longest > 0, columns >= Self.leastForPlaysTo {
                playsTo = end - longest..<end
                end -= longest + 2
            }
        }
        if columns >= Self.leastForArtist, rows.contains(where: { !$0.artist.isEmpty }) {
            let room = end - start
            let titleEnd = start + room * 3 / 5
            title = start..<titleEnd
            artist = titleEnd + 2..<end
        } else {
            title = start..<max(start, end)
        }
    }
}
