internal import Media

/// What a row of the queue shows.
package enum QueueItem: Sendable, Equatable {
    /// The heading before the tracks at these places, at least two.
    case heading(Range<Int>)
    /// The track at this place.
    case track(Int)

    /// The place of the track, or of the first one below the heading.
    var place: Int {
        switch self {
        case .heading(let places): places.lowerBound
        case .track(let place): place
        }
    }
}

/// The rows of the whole queue: its tracks, and a heading before each run of two or more neighbours of one
/// group. Pure.
///
/// It notes 16 bytes for each track. They are made once, for at most `slice` tracks at a time, so that keys
/// can be handled in between; a queue that is reordered keeps them. Tracks without a note have no heading.
struct QueueOutline: Sendable {
    /// The tracks of one slice: a few milliseconds of work.
    private static let slice = 2_000

    /// A run with a heading.
    struct Run: Sendable, Equatable {
        var places: Range<Int>
        /// The place of the first track whose album is known; `nil` if there is none.
        var albumPlace: Int?
        /// The row of the heading.
        fileprivate(set) var row = 0
        fileprivate(set) var isFolded = false

        /// The tracks that have rows.
        fileprivate var shownCount: Int { isFolded ? 0 : places.count }
        /// The row after the last one of the run.
        var end: Int { row + 1 + shownCount }
    }

    /// The sum of the known durations of some tracks.
    struct Totals: Equatable {
        var count = 0
        var duration = Duration.zero
        /// The tracks whose duration is known.
        var knownCount = 0
        /// The tracks that are cached as a whole.
        var cachedCount = 0
    }

    private struct Note: Sendable {
        // The order of the fields makes it 16 bytes.
        var group: TrackGroup
        /// `true` if the tags and the length of the file are known, which do not change any more.
        var hasFacts: Bool
        /// `true` if all of the track is cached.
        var isCached: Bool
        /// -1 if unknown.
        var milliseconds: Int32
    }

    private var notes: [Note] = []
    private(set) var runs: [Run] = []
    /// The first track of each run that is folded.
    private var folded: Set<Track.ID> = []
    private var revision = 0
    /// The number of tracks with facts when the notes were last compared with them.
    private var learnedCount = 0
    private var availabilityRevision = 0
    /// The first of the notes that are being compared with new facts; `nil` if none are.
    private var renewal: (place: Int, learnedCount: Int)?
    private var trackCount = 0
    /// The sums over all noted tracks, which each frame shows.
    private(set) var whole = Totals()

    // MARK: Rows and places

    var rowCount: Int { row(of: trackCount) }

    func item(atRow row: Int) -> QueueItem {
        guard let run = last(where: { $0.row <= row }) else { return .track(row) }
        if row == run.row { return .heading(run.places) }
        if row < run.end { return .track(run.places.lowerBound + row - run.row - 1) }
        return .track(run.places.upperBound + row - run.end)
    }

    /// The row of the track at `place`; that of the heading if its run is folded.
    func row(of place: Int) -> Int {
        guard let run = last(where: { $0.places.lowerBound <= place }) else { return place }
        guard run.places.contains(place) else { return run.end + place - run.places.upperBound }
        return run.isFolded ? run.row : run.row + 1 + place - run.places.lowerBound
    }

    /// The run of the track at `place`; `nil` if it has no heading.
    func run(at place: Int) -> Run? {
        last { $0.places.lowerBound <= place }.flatMap { $0.places.contains(place) ? $0 : nil }
    }

    /// The places that move as one past others: those of a run, or a single one.
    func unit(at place: Int) -> Range<Int> { run(at: place)?.places ?? place..<place + 1 }

    private func last(where isBefore: (Run) -> Bool) -> Run? {
        let next = runs.partitioningIndex { !isBefore($0) }
        return next > 0 ? runs[next - 1] : nil
    }

    /// The sums over the tracks at `places`.
    func totals(of places: Range<Int>) -> Totals {
        var totals = Totals(count: places.count)
        var milliseconds = 0
        for note in notes[places.clamped(to: notes.indices)] {
            if note.milliseconds >= 0 {
                milliseconds += Int(note.milliseconds)
                totals.knownCount += 1
            }
            if note.isCached { totals.cachedCount += 1 }
        }
        totals.duration = .milliseconds(milliseconds)
        return totals
    }

    // MARK: Folding

    /// Folds the run at `place`, or unfolds it.
    mutating func setFolded(_ isFolded: Bool, at place: Int, in player: PlayerSnapshot) {
        guard let run = run(at: place), run.isFolded != isFolded else { return }
        let first = player.tracks[run.places.lowerBound].id
        if isFolded { folded.insert(first) } else { folded.remove(first) }
        layOut(player)
    }

    // MARK: Examining the tracks

    /// `true` if some tracks were not noted yet, or have new facts.
    func hasWork(in player: PlayerSnapshot) -> Bool {
        notes.count < player.tracks.count || learnedCount != player.learned.count
    }

    /// Fits the outline to a snapshot that replaces `before`, and examines the first slice of what is new.
    mutating func update(to player: PlayerSnapshot, from before: PlayerSnapshot) {
        let isChanged = revision != player.queueRevision || player.tracks.count < notes.count
        if isChanged {
            revision = player.queueRevision
            keepNotes(of: before.tracks, for: player.tracks)
            renewal = nil
            learnedCount = 0
        }
        guard isChanged || hasWork(in: player) || availabilityRevision != player.availabilityRevision else {
            return
        }
        examine(player, isChanged: isChanged)
    }

    /// Examines the next slice.
    mutating func examine(_ player: PlayerSnapshot, isChanged: Bool = false) {
        var budget = Self.slice
        let notedCount = notes.count
        while notes.count < player.tracks.count, budget > 0 {
            notes.append(Self.note(on: player.tracks[notes.count], player))
            budget -= 1
        }
        let isRenewed = renew(player, budget)
        var isSumChanged = isChanged || isRenewed || notes.count != notedCount
        if isSumChanged { layOut(player) }
        if availabilityRevision != player.availabilityRevision, notes.count == player.tracks.count {
            isSumChanged = true
            availabilityRevision = player.availabilityRevision
            for place in notes.indices {
                notes[place].isCached = player.availability[player.tracks[place].id]?.isComplete == true
            }
        }
        if isSumChanged { whole = totals(of: notes.indices) }
    }

    /// Compares the next notes with what is known of their tracks now; `true` if some have changed.
    private mutating func renew(_ player: PlayerSnapshot, _ budget: Int) -> Bool {
        guard learnedCount != player.learned.count else { return false }
        let known = renewal?.learnedCount ?? player.learned.count
        var place = renewal?.place ?? 0
        var budget = budget
        var isChanged = false
        while place < notes.count, budget > 0 {
            if !notes[place].hasFacts, player.learned[player.tracks[place].id] != nil {
                notes[place] = Self.note(on: player.tracks[place], player)
                budget -= 1
                isChanged = true
            }
            place += 1
        }
        let isOver = place == notes.count && notes.count == player.tracks.count
        renewal = isOver ? nil : (place, known)
        if isOver { learnedCount = known }
        return isChanged
    }

    private static func note(on track: Track, _ player: PlayerSnapshot) -> Note {
        let facts = player.learned[track.id]
        let milliseconds = (facts?.duration ?? track.duration).map { $0.seconds * 1_000 }
        return Note(
            group: TrackGroup(of: track, facts: facts),
            hasFacts: facts != nil,
            isCached: player.availability[track.id]?.isComplete == true,
            milliseconds: milliseconds.map { Int32(min(max(0, $0), Double(Int32.max))) } ?? -1
        )
    }

    /// Takes over the notes on `old` tracks, in their new order. Most changes leave the start and the end of
    /// the queue as they are, where nothing has to be looked up.
    private mutating func keepNotes(of old: [Track], for tracks: [Track]) {
        guard notes.count == old.count else {
            notes = []
            return
        }
        let start = zip(old, tracks).prefix { $0.0.id == $0.1.id }.count
        let most = min(old.count, tracks.count) - start
        let end = zip(old.reversed(), tracks.reversed()).prefix(most).prefix { $0.0.id == $0.1.id }.count
        let between = start..<old.count - end
        let known = Dictionary(between.map { (old[$0].id, notes[$0]) }) { first, _ in first }
        var fresh = Array(notes[..<start])
        fresh.reserveCapacity(tracks.count)
        for place in start..<tracks.count - end {
            // Examined with the following tracks, at most a slice at a time.
            guard let note = known[tracks[place].id] else {
                notes = fresh
                return
            }
            fresh.append(note)
        }
        notes = fresh + notes[(old.count - end)...]
    }

    /// Forms the runs: one step for each note.
    private mutating func layOut(_ player: PlayerSnapshot) {
        trackCount = player.tracks.count
        runs = []
        var start = 0
        var group = notes.first?.group
        var albumPlace = group?.hasAlbum == true ? 0 : nil
        var shift = 0
        func close(at end: Int) {
            guard end - start > 1 else { return }
            let isFolded = !folded.isEmpty && folded.contains(player.tracks[start].id)
            let run = Run(places: start..<end, albumPlace: albumPlace, row: start + shift, isFolded: isFolded)
            shift += 1 - (isFolded ? end - start : 0)
            runs.append(run)
        }
        for place in notes.indices.dropFirst() {
            let next = notes[place].group
            if group?.accept(next) == true {
                if albumPlace == nil, next.hasAlbum { albumPlace = place }
            } else {
                close(at: place)
                start = place
                group = next
                albumPlace = next.hasAlbum ? place : nil
            }
        }
        close(at: notes.count)
    }
}
