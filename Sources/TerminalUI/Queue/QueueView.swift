package import Media

extension ViewName {
    package static let queue = ViewName(word: "queue", help: "queue")
}

/// The queue: its rows, the selected one, the filter and the marks, and the commands on them. Pure.
///
/// With a filter there are fewer rows than tracks, so a row number is not a position in the queue.
package struct QueueView: ListView {
    static let name = ViewName.queue
    static let prompts = [Prompt.Kind.search, .filter]
    /// The most tracks pinned at once, so that a mistake does not fill the disk.
    private static let mostPinned = 1_000

    package internal(set) var list = ListPosition()
    package private(set) var filter: QueueFilter?
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

    var filterText: String { filter?.text ?? "" }

    func hasWork(in player: PlayerSnapshot) -> Bool { filter?.hasWork(in: player) == true }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        let player = context.player
        resize(count: list.count, in: context)
        // The selection follows the current track if that track was selected before.
        let follows = before.tracks.isEmpty || (selectedPlace == before.currentIndex && filter == nil)
        if player.queueRevision != before.queueRevision {
            forgetMarks(of: player, before: before)
            if filter != nil {
                awaitedRow = awaitedRow ?? list.selected
                filter?.examine(player)
            }
        }
        fit(to: player)
        if follows, filter == nil, let current = player.currentIndex { list.select(current) }
    }

    mutating func work(in player: PlayerSnapshot) {
        let place = selectedPlace
        let isRenewed = filter?.examine(player) == true
        fit(to: player)
        // The selected track stays selected, wherever its row is now.
        if isRenewed, let place, let row = filter?.row(of: place) { list.select(row) }
    }

    /// Selects the track at `place`. A filter that hides it is removed.
    private mutating func select(place: Int, in player: PlayerSnapshot) {
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

    /// Shows only the tracks that match `text` and selects the first; blanks show all tracks again.
    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        let place = selectedPlace
        awaitedRow = nil
        guard text.contains(where: { !$0.isWhitespace }) else {
            filter = nil
            fit(to: player)
            if let place { list.select(place) }
            return
        }
        filter = QueueFilter(text, of: player)
        filter?.examine(player)
        fit(to: player)
        list.select(0)
    }

    func matches(_ matcher: TrackMatcher, row: Int, in player: PlayerSnapshot) -> Bool {
        matcher.matches(player, at: place(ofRow: row))
    }

    // MARK: Commands on the selected or the marked tracks

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        let player = context.player
        let keys = context.keyMap
        if case .moveSelected(let rows) = command { return moveChosen(by: rows, in: player, keys: keys) }
        movedGroup = nil
        switch command {
        case .playSelected:
            return selectedPlace.map { CommandOutcome([.send(.jump($0 + 1))]) } ?? .noSelection(in: player)
        case .removeSelected: return removeChosen(from: player, keys: keys)
        case .pinSelected: return pinChosen(in: player)
        case .downloadSelected: return downloadChosen(in: player)
        case .playedSelected: return togglePlayedChosen(in: player)
        case .toggleMark: toggleMark(in: player)
        case .markAll: for row in 0..<list.count { marks.insert(player.tracks[place(ofRow: row)].id) }
        case .unmarkAll: marks = []
        case .back where filter == nil && !marks.isEmpty: marks = []
        case .selectCurrent:
            guard let current = player.currentIndex else { return nil }
            select(place: current, in: player)
            return CommandOutcome()
        default: return nil
        }
        return .notice(SafeText(marks.isEmpty ? "Nothing is marked" : "\(marks.count) marked"))
    }

    /// Marks or unmarks the selected track and selects the next row.
    private mutating func toggleMark(in player: PlayerSnapshot) {
        guard let place = selectedPlace else { return }
        let id = player.tracks[place].id
        if marks.remove(id) == nil { marks.insert(id) }
        list.select(by: 1)
    }

    /// Unmarks tracks that left the queue; otherwise undoing the removal would bring their marks back.
    private mutating func forgetMarks(of player: PlayerSnapshot, before: PlayerSnapshot) {
        guard !marks.isEmpty, player.tracks.count < before.tracks.count else { return }
        marks.formIntersection(player.tracks.lazy.map(\.id))
    }

    /// The positions of the marked tracks, or else of the selected one.
    private func chosenPlaces(in player: PlayerSnapshot) -> RangeSet<Int> {
        guard !marks.isEmpty else { return selectedPlace.map { RangeSet($0..<$0 + 1) } ?? RangeSet() }
        return player.tracks.indices(where: { marks.contains($0.id) })
    }

    /// Pins the chosen tracks that are not pinned yet. If all are pinned, unpins all.
    private mutating func pinChosen(in player: PlayerSnapshot) -> CommandOutcome {
        let all = chosenPlaces(in: player).ranges.flatMap { $0 }
        let unpinned = all.filter { player.availability[player.tracks[$0].id]?.isPinned != true }
        let places = unpinned.isEmpty ? all : unpinned
        guard places.count <= Self.mostPinned else {
            return .error(SafeText("Can't pin \(places.count) tracks at once (at most \(Self.mostPinned))"))
        }
        guard !places.isEmpty else { return .noSelection(in: player) }
        marks = []
        let numbers = TrackNumbers(places: RangeSet(places.map { $0..<$0 + 1 }))
        return CommandOutcome([.send(.setPinned(numbers, !unpinned.isEmpty))])
    }

    private mutating func downloadChosen(in player: PlayerSnapshot) -> CommandOutcome {
        let numbers = TrackNumbers(places: chosenPlaces(in: player))
        guard numbers.count > 0 else { return .noSelection(in: player) }
        guard numbers.count <= Self.mostPinned else {
            return .error(
                SafeText("Can't download \(numbers.count) tracks at once (at most \(Self.mostPinned))")
            )
        }
        marks = []
        return CommandOutcome([.send(.download(numbers))])
    }

    /// Marks the chosen tracks as played. If all episodes among them are, marks them as not played.
    private mutating func togglePlayedChosen(in player: PlayerSnapshot) -> CommandOutcome {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return .noSelection(in: player) }
        let episodes = places.ranges.joined().lazy.map { player.tracks[$0] }.filter { $0.episode != nil }
        marks = []
        let numbers = TrackNumbers(places: places)
        return CommandOutcome([.send(.setPlayed(!episodes.allSatisfy(\.isPlayed), numbers))])
    }

    private mutating func removeChosen(from player: PlayerSnapshot, keys: KeyMap) -> CommandOutcome {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return .noSelection(in: player) }
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
    private mutating func moveChosen(by rows: Int, in player: PlayerSnapshot, keys: KeyMap) -> CommandOutcome
    {
        guard !player.tracks.isEmpty else { return .noSelection(in: player) }
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

    // MARK: Drawing

    /// `9 tracks`, or `1207 of 3000 tracks` for the selected one of a longer list; with a filter `4 of 9`, or
    /// `4… of 9` until all tracks were examined.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        let all = context.player.tracks.count
        guard let filter else {
            let place = list.placeText
            let tracks = CountText.of(all, "track")
            return [place + tracks, place.isEmpty ? tracks : place + "\(all)", tracks].map { SafeText($0) }
        }
        let more = filter.hasWork(in: context.player) ? glyphs.more : ""
        return [SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")]
    }

    func hints(in player: PlayerSnapshot) -> [(UICommand, SafeText)] {
        guard !player.tracks.isEmpty else {
            return [
                (.openCommandLine("add "), "add"), (.show(.cache), "cached tracks"),
                (.openCommandLine(""), "command"),
            ]
        }
        return [
            (.playSelected, "play"), (.search(nil), "search"), (.filter(nil), "filter"),
            (.removeSelected, "remove"), (.toggleMark, "mark"),
        ]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        QueueTable.draw(self, context, into: &buffer)
    }
}
