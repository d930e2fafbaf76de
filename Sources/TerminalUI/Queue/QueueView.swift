package import Media

extension ViewName {
    package static let queue = ViewName(word: "queue", help: "queue")
}

/// The queue: its rows, the selected one, the filter and the marks, and the commands on them. Pure.
///
/// With a filter there are fewer rows than tracks, and without one there are headings between them, so a row
/// number is not a position in the queue.
package struct QueueView: ListView {
    static let name = ViewName.queue
    static let prompts = [Prompt.Kind.search, .filter]
    /// The most tracks pinned at once, so that a mistake does not fill the disk.
    private static let mostPinned = 1_000

    package internal(set) var list = ListPosition()
    package private(set) var filter: QueueFilter?
    /// The rows without a filter.
    private(set) var outline = QueueOutline()
    /// The tracks that the next command acts on, instead of the selected row.
    package private(set) var marks: Set<Track.ID> = []
    /// The last move of marked tracks or of a group, until a snapshot shows it: the next command starts from
    /// there.
    private var lastMove: Move?
    /// The revision of the queue from which a group was removed: its next key must not act on its successor.
    private var removedRevision: Int?
    /// The row to select once the filter has found enough rows.
    private var awaitedRow: Int?

    private struct Move {
        /// The positions after it.
        var places: Range<Int>
        /// The first track of the group, whose heading is selected again once it has moved; `nil` for marked
        /// tracks.
        var heading: Track.ID?
        /// The selected row. Once another one is selected, the move is over.
        var row: Int
    }

    private var pendingMove: Move? { lastMove.flatMap { $0.row == list.selected ? $0 : nil } }

    func rows(in layout: ScreenLayout) -> Range<Int> {
        QueueColumns.hasTitles(layout) ? layout.tableRows : layout.listRows
    }

    /// What a row shows.
    package func item(ofRow row: Int) -> QueueItem {
        filter.map { .track($0.matches[row]) } ?? outline.item(atRow: row)
    }

    /// The position in the queue of the track shown in a row, or of the first one below a heading.
    package func place(ofRow row: Int) -> Int { item(ofRow: row).place }

    /// `nil` if the list is empty or the filter has not reached the selected row yet.
    package var selectedItem: QueueItem? {
        list.count > 0 && awaitedRow == nil ? item(ofRow: list.selected) : nil
    }

    /// The position of the selected track; `nil` if none is selected.
    package var selectedPlace: Int? { if case .track(let place)? = selectedItem { place } else { nil } }

    var filterText: String { filter?.text ?? "" }

    func hasWork(in player: PlayerSnapshot) -> Bool {
        filter?.hasWork(in: player) == true || outline.hasWork(in: player)
    }

    mutating func update(to context: ViewContext, from before: PlayerSnapshot, isOpen: Bool) {
        let player = context.player
        resize(count: list.count, in: context)
        // The selection follows the current track if that track was selected before.
        let follows =
            before.tracks.isEmpty
            || (filter == nil && selectedPlace.map { $0 == before.currentIndex } == true)
        let selected = selectedItem
        let move = pendingMove
        outline.update(to: player, from: before)
        if player.queueRevision != before.queueRevision {
            removedRevision = nil
            forgetMarks(of: player, before: before)
            if filter != nil {
                awaitedRow = awaitedRow ?? list.selected
                filter?.examine(player)
            }
        }
        fit(to: player, selecting: selected)
        if let move, player.queueRevision != before.queueRevision { follow(move, in: player) }
        if follows, filter == nil, let current = player.currentIndex { select(place: current, in: player) }
    }

    /// The queue has changed since `move`, or by it.
    private mutating func follow(_ move: Move, in player: PlayerSnapshot) {
        let ids = player.tracks[move.places.clamped(to: player.tracks.indices)].lazy.map(\.id)
        var isShown = marks.isSuperset(of: ids)
        if let heading = move.heading {
            let isThere = { (run: QueueOutline.Run) in player.tracks[run.places.lowerBound].id == heading }
            if filter == nil, let run = outline.runs.first(where: isThere) { list.select(run.row) }
            isShown = ids.first == heading
        }
        lastMove = isShown ? nil : Move(places: move.places, heading: move.heading, row: list.selected)
    }

    mutating func work(in player: PlayerSnapshot) {
        let selected = selectedItem
        if outline.hasWork(in: player) { outline.examine(player) }
        let isRenewed = filter?.hasWork(in: player) == true && filter?.examine(player) == true
        fit(to: player, selecting: selected)
        // The selected track stays selected, wherever its row is now.
        if isRenewed, let place = selected?.place, let row = filter?.row(of: place) { list.select(row) }
    }

    /// Selects the track at `place`. A filter that hides it is removed, and its group is unfolded.
    private mutating func select(place: Int, in player: PlayerSnapshot) {
        if let filter, let row = filter.row(of: place) {
            list.select(row)
        } else {
            setFilter("", in: player)
            setFolded(false, at: place, in: player)
            list.select(outline.row(of: place))
        }
        awaitedRow = nil
    }

    /// Folds the group at `place`, or unfolds it.
    private mutating func setFolded(_ isFolded: Bool, at place: Int, in player: PlayerSnapshot) {
        guard let run = outline.run(at: place), run.isFolded != isFolded else { return }
        let selected = selectedItem
        outline.setFolded(isFolded, at: place, in: player)
        fit(to: player, selecting: selected)
    }

    /// The rows have changed. Without a filter, `selected` stays selected, or what is at its place now.
    private mutating func fit(to player: PlayerSnapshot, selecting selected: QueueItem? = nil) {
        guard let filter else {
            let place = min(selected?.place ?? 0, player.tracks.count)
            var row = outline.row(of: place)
            if case .heading? = selected, let run = outline.run(at: place), run.places.lowerBound == place {
                row = run.row
            }
            list.refit(count: outline.rowCount, selecting: selected == nil ? list.selected : row)
            return
        }
        list.resize(count: filter.matches.count, height: list.height)
        guard let row = awaitedRow else { return }
        if row < list.count || !filter.hasWork(in: player) {
            list.select(row)
            awaitedRow = nil
        }
    }

    /// Shows only the tracks that match `text` and selects the first; blanks show all tracks again.
    mutating func setFilter(_ text: String, in player: PlayerSnapshot) {
        let selected = selectedItem
        awaitedRow = nil
        guard text.contains(where: { !$0.isWhitespace }) else {
            guard filter != nil else { return }
            filter = nil
            fit(to: player)
            if let selected { select(place: selected.place, in: player) }
            return
        }
        filter = QueueFilter(text, of: player)
        filter?.examine(player)
        fit(to: player)
        list.select(0)
    }

    // MARK: Searching: a search looks through the tracks, also those of folded groups, never through headings

    func searchedCount(in player: PlayerSnapshot) -> Int { filter?.matches.count ?? player.tracks.count }

    var searchStart: Int { filter == nil ? selectedItem?.place ?? 0 : list.selected }

    func matches(_ matcher: TrackMatcher, item: Int, in player: PlayerSnapshot) -> Bool {
        matcher.matches(player, at: filter?.matches[item] ?? item)
    }

    mutating func select(found item: Int, in player: PlayerSnapshot) {
        if filter == nil { setFolded(false, at: item, in: player) }
        list.select(filter == nil ? outline.row(of: item) : item, context: RowSearch.context)
    }

    func facts(in context: ViewContext) -> [Fact] {
        selectedItem.map { Fact.all(ofTrack: $0.place, in: context.player) } ?? []
    }

    // MARK: Commands on the selected or the marked tracks

    mutating func run(_ command: UICommand, in context: ViewContext) -> CommandOutcome? {
        let player = context.player
        let keys = context.keyMap
        if case .moveSelected(let rows) = command { return moveChosen(by: rows, in: player, keys: keys) }
        defer { lastMove = nil }
        switch command {
        case .playSelected:
            let place = pendingMove?.places.lowerBound ?? selectedItem?.place
            return place.map { CommandOutcome([.send(.jump($0 + 1))]) } ?? .noSelection(in: player)
        case .removeSelected: return removeChosen(from: player, keys: keys)
        case .pinSelected: return pinChosen(in: player)
        case .downloadSelected: return downloadChosen(in: player)
        case .playedSelected: return togglePlayedChosen(in: player)
        case .playNextSelected(let point): return playChosen(after: point, in: player)
        case .toggleFold: return toggleFold(in: player)
        case .toggleMark: toggleMark(in: player)
        case .markAll:
            let places = filter?.matches ?? Array(player.tracks.indices)
            marks.formUnion(places.lazy.map { player.tracks[$0].id })
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

    /// Marks or unmarks the selected track, or all tracks of the selected group, and selects the next row
    /// after them.
    private mutating func toggleMark(in player: PlayerSnapshot) {
        let places = selectedPlaces
        guard let last = places.ranges.last?.upperBound else { return }
        let ids = Set(places.ranges.joined().lazy.map { player.tracks[$0].id })
        if marks.isSuperset(of: ids) { marks.subtract(ids) } else { marks.formUnion(ids) }
        guard case .heading? = selectedItem else { return list.select(by: 1) }
        let next = outline.run(at: last)?.row ?? outline.row(of: last)
        list.select(last < player.tracks.count ? next : list.count - 1)
    }

    /// Folds the group of the selected row, whose heading is then selected, or unfolds it.
    private mutating func toggleFold(in player: PlayerSnapshot) -> CommandOutcome {
        guard filter == nil else { return .error("A filtered list has no groups") }
        guard let place = selectedItem?.place, let run = outline.run(at: place) else {
            return player.tracks.isEmpty ? .noSelection(in: player) : .error("This track is in no group")
        }
        list.select(run.row)
        setFolded(!run.isFolded, at: place, in: player)
        return CommandOutcome()
    }

    /// Unmarks tracks that left the queue; otherwise undoing the removal would bring their marks back.
    private mutating func forgetMarks(of player: PlayerSnapshot, before: PlayerSnapshot) {
        guard !marks.isEmpty, player.tracks.count < before.tracks.count else { return }
        marks.formIntersection(player.tracks.lazy.map(\.id))
    }

    /// The positions of the selected track, or of all tracks of the selected group.
    private var selectedPlaces: RangeSet<Int> {
        switch selectedItem {
        case .heading(let places): RangeSet(places)
        case .track(let place): RangeSet(place..<place + 1)
        case nil: RangeSet()
        }
    }

    /// The positions of the marked tracks, or else the selected ones, after the last move.
    private func chosenPlaces(in player: PlayerSnapshot) -> RangeSet<Int> {
        if let pendingMove { return RangeSet(pendingMove.places) }
        return marks.isEmpty ? selectedPlaces : player.tracks.indices(where: { marks.contains($0.id) })
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
        // The next key may come before the next snapshot, and must not act on the same tracks.
        if marks.isEmpty, case .heading? = selectedItem {
            guard removedRevision == nil else { return CommandOutcome() }
            removedRevision = player.queueRevision
        }
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
            switch selectedItem {
            case nil: return .noSelection(in: player)
            case .track(let place): return move(place, by: rows, in: player)
            case .heading(let places): return move(places, by: rows, in: player)
            }
        }
        let places = chosenPlaces(in: player)
        let count = TrackNumbers(places: places).count
        guard let first = places.ranges.first?.lowerBound else { return .error("Can't move further") }
        // If the tracks are apart, a move down first only brings them together at the position of the first.
        let target = places.ranges.count > 1 && rows > 0 ? first : first + rows
        guard target >= 0, target + count <= player.tracks.count else { return .error("Can't move further") }
        list.select(outline.row(of: target))
        lastMove = Move(places: target..<target + count, row: list.selected)
        return CommandOutcome([.send(.move(TrackNumbers(places: places), to: target + 1))])
    }

    private mutating func move(_ place: Int, by rows: Int, in player: PlayerSnapshot) -> CommandOutcome {
        let target = place + rows
        guard player.tracks.indices.contains(target) else { return .error("Can't move further") }
        // The selection moves at once, so that the key can be held down.
        setFolded(false, at: target, in: player)
        list.select(outline.row(of: target))
        return CommandOutcome([.send(.move(TrackNumbers(place + 1), to: target + 1))])
    }

    /// Moves a group past its neighbour, which is a group or a single track.
    private mutating func move(_ places: Range<Int>, by rows: Int, in player: PlayerSnapshot)
        -> CommandOutcome
    {
        // Until a snapshot shows the moves, the other tracks are in the order of the last one.
        let start = pendingMove?.places.lowerBound ?? places.lowerBound
        let shown = { (other: Int) in other < places.lowerBound ? other : other + places.count }
        let neighbour = rows > 0 ? start : start - 1
        guard (0..<player.tracks.count - places.count).contains(neighbour) else {
            return .error("Can't move further")
        }
        let unit = outline.unit(at: shown(neighbour)).count
        let target = rows > 0 ? start + unit : start - unit
        lastMove = Move(
            places: target..<target + places.count,
            heading: player.tracks[places.lowerBound].id,
            row: list.selected
        )
        let numbers = TrackNumbers(places: RangeSet(start..<start + places.count))
        return CommandOutcome([.send(.move(numbers, to: target + 1))])
    }

    /// Lets the chosen tracks play next, or after the present album.
    private mutating func playChosen(after point: PlayPoint, in player: PlayerSnapshot) -> CommandOutcome {
        let places = chosenPlaces(in: player)
        guard !places.isEmpty else { return .noSelection(in: player) }
        marks = []
        return CommandOutcome([.send(.playNext(TrackNumbers(places: places), after: point))])
    }

    // MARK: Drawing

    /// `120 tracks · 47:12 · 19 cached`, with `~` while some lengths are unknown; with a filter `4 of 9`, or
    /// `4… of 9` until all tracks were examined.
    func amounts(in context: ViewContext, glyphs: Glyphs) -> [SafeText] {
        let all = context.player.tracks.count
        guard let filter else {
            var totals = outline.whole
            totals.count = all
            let tracks = SafeText(CountText.of(all, "track"))
            let both = totals.text(glyphs)
            let count = outline.cachedCount
            let cached = SafeText(count > 0 ? " \(glyphs.dot) \(count) cached" : "")
            return [both + cached, both, tracks]
        }
        let more = filter.hasWork(in: context.player) ? glyphs.more : ""
        return [SafeText("\(filter.matches.count)") + more + SafeText(" of \(all)")]
    }

    /// The tracks in view and on the next screenful whose tags and titles are unknown.
    package func untaggedTracks(in player: PlayerSnapshot) -> [Track] {
        let rows = list.visible.lowerBound..<min(list.count, list.visible.upperBound + list.height)
        return rows.compactMap { row in
            guard case .track(let place) = item(ofRow: row) else { return nil }
            let track = player.tracks[place]
            return track.isListed && track.tags.title == nil && player.learned[track.id] == nil ? track : nil
        }
    }

    /// `nil` if `item` is a track.
    func heading(_ item: QueueItem, in player: PlayerSnapshot, _ glyphs: Glyphs) -> QueueHeading? {
        guard case .heading(let places) = item, let run = outline.run(at: places.lowerBound) else {
            return nil
        }
        let isMarked = !marks.isEmpty && places.allSatisfy { marks.contains(player.tracks[$0].id) }
        return QueueHeading(run, totals: outline.totals(of: places), isMarked: isMarked, player, glyphs)
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
            (.removeSelected, "remove"), (.playNextSelected(after: .track), "play next"),
            (.toggleMark, "mark"),
        ]
    }

    func draw(_ context: ViewContext, timeOfDay: (Duration) -> SafeText, into buffer: inout CellBuffer) {
        QueueTable.draw(self, context, into: &buffer)
    }
}
