package import Media

/// The queue on the screen: its rows, the selected one, the filter, the search and the marks. Pure.
///
/// With a filter there are fewer rows than tracks, so a row number is not a position in the queue.
package struct QueueViewState: Sendable {
    /// The most tracks pinned at once, so that a mistake does not fill the disk.
    private static let mostPinned = 1_000

    package internal(set) var list = ListPosition()
    package private(set) var filter: QueueFilter?
    /// The running search, or the last one, which `findNext` repeats.
    package private(set) var search: TrackSearch?
    /// The tracks that the next command acts on, instead of the selected one.
    package private(set) var marks: Set<Track.ID> = []
    /// The positions of the marked tracks after the last move; `nil` after any other command.
    ///
    /// The next move starts from here, since the snapshot may not show the last one yet.
    private var movedGroup: Range<Int>?
    /// The row to select once the filter has found enough rows.
    private var awaitedRow: Int?

    /// The position in the queue of the track shown in a row.
    package func place(ofRow row: Int) -> Int { filter?.matches[row] ?? row }

    /// The position of the selected track; `nil` if the list is empty or the filter has not reached it yet.
    package var selectedPlace: Int? {
        list.count > 0 && awaitedRow == nil ? place(ofRow: list.selected) : nil
    }

    /// `true` if `work` has more tracks to examine.
    package func hasWork(in player: PlayerSnapshot) -> Bool {
        filter?.hasWork(in: player) == true || search?.hasWork(rows: list.count) == true
    }

    /// Replaces the snapshot `before` by `player`.
    mutating func show(_ player: PlayerSnapshot, before: PlayerSnapshot) {
        // The selection follows the current track if that track was selected before.
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
        list.resize(count: list.count, height: height)
        fit(to: player)
    }

    /// Examines the next slice of tracks.
    mutating func work(in player: PlayerSnapshot) {
        if filter?.hasWork(in: player) == true {
            let place = selectedPlace
            let isRenewed = filter?.look(through: player) == true
            fit(to: player)
            // The selected track stays selected, wherever its row is now.
            if isRenewed, let place, let row = filter?.row(of: place) { list.select(row) }
        } else if search?.hasWork(rows: list.count) == true {
            let matches = filter?.matches
            search?.look(through: player, rows: list.count) { matches?[$0] ?? $0 }
            if let found = search?.found { list.select(found) }
        }
    }

    /// Selects the track at `place`. A filter that hides it is removed.
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
        list.resize(count: filter?.matches.count ?? player.tracks.count, height: list.height)
        guard let row = awaitedRow else { return }
        if row < list.count || filter?.hasWork(in: player) != true {
            list.select(row)
            awaitedRow = nil
        }
    }

    // MARK: Filter and search

    /// Shows only the tracks that match `text` and selects the first; blanks show all tracks again.
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

    /// Selects the nearest row that matches `text`, starting at `row`.
    mutating func find(_ text: String, from row: Int, isForward: Bool, in player: PlayerSnapshot) {
        guard list.count > 0 else { return }
        search = TrackSearch(text, from: row, isForward: isForward)
        work(in: player)
    }

    /// Repeats the search `step` rows further on, wrapping around; `false` if there was no search.
    mutating func findNext(_ step: Int, in player: PlayerSnapshot) -> Bool {
        guard let last = search, list.count > 0 else { return false }
        let start = ((list.selected + step) % list.count + list.count) % list.count
        find(last.text, from: start, isForward: step > 0, in: player)
        return true
    }

    mutating func endSearch() { search = nil }

    /// The text of a search that found no match in any row; `nil` if it found one or is still running, or if
    /// there is no search.
    var vainSearch: String? {
        guard let search, search.found == nil, !search.hasWork(rows: list.count) else { return nil }
        return search.text
    }

    // MARK: Marks, and what commands act on

    /// Marks or unmarks the selected track and selects the next row.
    mutating func toggleMark(in player: PlayerSnapshot) {
        guard let place = selectedPlace else { return }
        let id = player.tracks[place].id
        if marks.remove(id) == nil { marks.insert(id) }
        list.select(by: 1)
    }

    /// Marks all rows; with a filter, these are only the matches.
    mutating func markAll(in player: PlayerSnapshot) {
        for row in 0..<list.count { marks.insert(player.tracks[place(ofRow: row)].id) }
    }

    mutating func unmarkAll() { marks = [] }

    /// Unmarks tracks that left the queue; otherwise undoing the removal would bring their marks back.
    private mutating func forgetMarks(of player: PlayerSnapshot, before: PlayerSnapshot) {
        guard !marks.isEmpty, player.tracks.count < before.tracks.count else { return }
        marks.formIntersection(player.tracks.lazy.map(\.id))
    }

    /// The positions of the marked tracks, or else of the selected one.
    private func chosenPlaces(in player: PlayerSnapshot) -> RangeSet<Int> {
        guard !marks.isEmpty else {
            return selectedPlace.map { RangeSet($0..<$0 + 1) } ?? RangeSet()
        }
        return player.tracks.indices(where: { marks.contains($0.id) })
    }

    /// Pins the chosen tracks that are not pinned yet. If all are pinned, unpins all.
    mutating func pinChosen(in player: PlayerSnapshot) -> CommandOutcome {
        let all = chosenPlaces(in: player).ranges.flatMap { $0 }
        let unpinned = all.filter { player.availability[player.tracks[$0].id]?.isPinned != true }
        let places = unpinned.isEmpty ? all : unpinned
        guard places.count <= Self.mostPinned else {
            return .error(SafeText("Can't pin \(places.count) tracks at once (at most \(Self.mostPinned))"))
        }
        guard !places.isEmpty else { return .noSelection }
        marks = []
        let numbers = TrackNumbers(places: RangeSet(places.map { $0..<$0 + 1 }))
        return CommandOutcome([.send(.setPinned(numbers, !unpinned.isEmpty))])
    }

    /// Marks the chosen tracks as played. If all episodes among them are, marks them as not played.
    mutating func togglePlayedChosen(in player: PlayerSnapshot) -> CommandOutcome {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return .noSelection }
        let episodes = places.ranges.joined().lazy.map { player.tracks[$0] }.filter { $0.episode != nil }
        marks = []
        let numbers = TrackNumbers(places: places)
        return CommandOutcome([.send(.setPlayed(!episodes.allSatisfy(\.isPlayed), numbers))])
    }

    mutating func removeChosen(from player: PlayerSnapshot, keys: KeyMap) -> CommandOutcome {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return .noSelection }
        // The next key may come before the next snapshot, and must not act on the same track.
        if marks.isEmpty, filter != nil {
            filter?.forget(row: list.selected)
            list.resize(count: list.count - 1, height: list.height)
        }
        marks = []
        let numbers = TrackNumbers(places: places)
        let undo = keys.name(of: .player(.undo)).map { " · " + $0 + " undo" } ?? ""
        let removed = SafeText("Removed " + CountText.of(numbers.count, "track"))
        return .notice(removed + undo, [.send(.remove(numbers))])
    }

    /// Moves the chosen tracks by `rows`, no further than the ends of the queue.
    mutating func moveChosen(by rows: Int, in player: PlayerSnapshot, keys: KeyMap) -> CommandOutcome {
        // A filter hides the tracks that the chosen ones would move past.
        guard filter == nil else {
            let key = keys.name(of: .back).map { " (" + $0 + ")" } ?? ""
            return .error("Can't move tracks in a filtered list – leave the filter first" + key)
        }
        guard !marks.isEmpty else {
            let target = list.selected + rows
            guard (0..<list.count).contains(target) else { return .error("Can't move further") }
            let command = PlayerCommand.move(TrackNumbers(list.selected + 1), to: target + 1)
            // The selection moves at once, so that the key can be held down.
            list.select(target)
            return CommandOutcome([.send(command)])
        }
        let places = movedGroup.map { RangeSet($0) } ?? chosenPlaces(in: player)
        let count = TrackNumbers(places: places).count
        guard let first = places.ranges.first?.lowerBound else { return .error("Can't move further") }
        // If the tracks are apart, a move down first only brings them together at the position of the first.
        let target = places.ranges.count > 1 && rows > 0 ? first : first + rows
        guard target >= 0, target + count <= player.tracks.count else { return .error("Can't move further") }
        movedGroup = target..<target + count
        list.select(target)
        return CommandOutcome([.send(.move(TrackNumbers(places: places), to: target + 1))])
    }

    /// Ends a series of moves: the next move looks the marked tracks up again.
    mutating func endMoving() { movedGroup = nil }
}
