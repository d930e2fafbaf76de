internal import Media

// What a command about tracks is about: the marked ones, or else the selected one.
extension QueueViewState {
    /// Marks the selected track or lets go of it, and goes on to the next row.
    mutating func toggleMark(in player: PlayerSnapshot) {
        guard let place = selectedPlace else { return }
        let id = player.tracks[place].id
        if marks.remove(id) == nil { marks.insert(id) }
        list.select(by: 1)
    }

    /// Marks all that is shown.
    mutating func markAll(in player: PlayerSnapshot) {
        for row in 0..<list.count { marks.insert(player.tracks[place(ofRow: row)].id) }
    }

    /// The places of the marked tracks, else of the selected one. One walk over the queue when there are marks.
    func chosenPlaces(in player: PlayerSnapshot) -> RangeSet<Int> {
        guard !marks.isEmpty else {
            return selectedPlace.map { RangeSet($0..<$0 + 1) } ?? RangeSet()
        }
        var places = RangeSet<Int>()
        var start: Int?
        for (place, track) in player.tracks.enumerated() {
            if marks.contains(track.id) {
                start = start ?? place
            } else if let first = start {
                places.insert(contentsOf: first..<place)
                start = nil
            }
        }
        if let start { places.insert(contentsOf: start..<player.tracks.count) }
        return places
    }

    /// The places of the chosen tracks that a pin is for: those without one, or all where each has one and lets go of it.
    func pinPlaces(in player: PlayerSnapshot) -> [Int] {
        let all = chosenPlaces(in: player).ranges.flatMap { $0 }
        let unpinned = all.filter { player.availability[player.tracks[$0].id]?.isPinned != true }
        return unpinned.isEmpty ? all : unpinned
    }

    /// What removes the chosen tracks; nil when there are none.
    mutating func remove(from player: PlayerSnapshot) -> PlayerCommand? {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return nil }
        // The next key may come before the queue is heard of again, and must not be about the same tracks.
        if marks.isEmpty, filter != nil {
            filter?.forget(row: list.selected)
            list.resize(count: list.count - 1, height: list.height)
        }
        marks = []
        return .remove(TrackNumbers(places: places))
    }

    /// What moves the chosen tracks by `rows`; nil where they cannot go further. Not for a filtered list, where the rows
    /// between are not to be seen.
    mutating func move(by rows: Int, in player: PlayerSnapshot) -> PlayerCommand? {
        guard !marks.isEmpty else {
            let target = list.selected + rows
            guard (0..<list.count).contains(target) else { return nil }
            let command = PlayerCommand.move(TrackNumbers(list.selected + 1), to: target + 1)
            // The selection goes along at once, so that the key can be held down.
            list.select(target)
            return command
        }
        let places = movedGroup.map { RangeSet($0) } ?? chosenPlaces(in: player)
        let count = TrackNumbers(places: places).count
        guard let first = places.ranges.first?.lowerBound else { return nil }
        // Those that stand apart come together where the first of them is.
        let target = places.ranges.count > 1 && rows > 0 ? first : first + rows
        guard target >= 0, target + count <= player.tracks.count else { return nil }
        movedGroup = target..<target + count
        list.select(target)
        return .move(TrackNumbers(places: places), to: target + 1)
    }
}
