package import Media

/// The queue as the screen shows it: which rows there are, which is selected, which are marked. Pure.
///
/// A row is not a place: with a filter there are fewer rows than tracks.
package struct QueueViewState: Sendable {
    package internal(set) var list = ListPosition()
    package internal(set) var filter: QueueFilter?
    /// The search that is under way, or the last one, for `search-next`.
    var search: TrackSearch?
    /// The tracks that the next removing or moving is about, instead of the selected one.
    package internal(set) var marks: Set<Track.ID> = []
    /// Where the marked tracks are since they were moved last, while nothing else was done: the snapshot may not show
    /// it yet.
    var movedGroup: Range<Int>?
    /// The row to select again when the filter has found so many.
    var awaitedRow: Int?
    private var height = 0

    /// The place in the queue that a row shows.
    package func place(ofRow row: Int) -> Int { filter?.matches[row] ?? row }

    /// The place of the selected track; nil in an empty list, and while the filter has not come to it.
    package var selectedPlace: Int? {
        list.count > 0 && awaitedRow == nil ? place(ofRow: list.selected) : nil
    }

    package func hasWork(in player: PlayerSnapshot) -> Bool {
        filter?.hasWork(in: player) == true || search?.hasWork(rows: list.count) == true
    }

    /// Takes the new snapshot in place of the one `before`.
    mutating func show(_ player: PlayerSnapshot, before: PlayerSnapshot) {
        // The selection stays with what is heard for as long as it was there.
        let follows = before.tracks.isEmpty || (selectedPlace == before.currentIndex && filter == nil)
        if player.queueRevision != before.queueRevision {
            search = nil
            forgetMarks(of: player, before: before)
            if filter != nil {
                awaitedRow = awaitedRow ?? list.selected
                filter?.look(through: player)
            }
        }
        fit(to: player)
        if follows, filter == nil, let current = player.currentIndex { list.select(current) }
    }

    mutating func resize(height: Int, player: PlayerSnapshot) {
        self.height = height
        fit(to: player)
    }

    /// Does one slice of what is to be done.
    mutating func work(in player: PlayerSnapshot) {
        if filter?.hasWork(in: player) == true {
            filter?.look(through: player)
            fit(to: player)
        } else if search?.hasWork(rows: list.count) == true {
            let matches = filter?.matches
            search?.look(through: player, rows: list.count) { matches?[$0] ?? $0 }
            if let found = search?.found { list.select(found) }
        }
    }

    /// Shows only what `text` means, the first of it selected; all for a text of blanks.
    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        guard text != (filter?.text ?? "") else { return }
        let place = selectedPlace
        awaitedRow = nil
        search = nil
        guard text.contains(where: { !$0.isWhitespace }) else {
            filter = nil
            fit(to: player)
            if let place { list.select(place) }
            return
        }
        filter = QueueFilter(text, of: player)
        filter?.look(through: player)
        fit(to: player)
        list.select(0)
    }

    /// Selects the nearest row that `text` means, from `row` on.
    mutating func find(_ text: String, from row: Int, isForward: Bool, in player: PlayerSnapshot) {
        guard list.count > 0 else { return }
        search = TrackSearch(text, from: row, isForward: isForward)
        work(in: player)
    }

    /// Selects the track at `place`, which the filter must not hide.
    mutating func select(place: Int, in player: PlayerSnapshot) {
        if let filter, let row = filter.row(of: place) {
            list.select(row)
        } else {
            setFilter("", in: player)
            list.select(place)
        }
        awaitedRow = nil
    }

    private mutating func fit(to player: PlayerSnapshot) {
        list.resize(count: filter?.matches.count ?? player.tracks.count, height: height)
        guard let row = awaitedRow else { return }
        if row < list.count || filter?.hasWork(in: player) != true {
            list.select(row)
            awaitedRow = nil
        }
    }

    /// Marks of tracks that are gone would come back with them.
    private mutating func forgetMarks(of player: PlayerSnapshot, before: PlayerSnapshot) {
        guard !marks.isEmpty, player.tracks.count < before.tracks.count else { return }
        marks.formIntersection(player.tracks.lazy.map(\.id))
    }
}
