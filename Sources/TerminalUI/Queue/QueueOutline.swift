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
    }

    private struct Note: Sendable {
        var group: TrackGroup
        /// -1 if unknown.
        var milliseconds: Int32
    }

    private var notes: [Note] = []
    private(set) var runs: [Run] = []
    /// The first track of each run that is folded.
    private var folded: Set<Track.ID> = []
    private var revision = 0
    /// The revision of the learned facts that the notes agree with.
    private var learnedRevision = 0
    private var availabilityRevision = 0
    private var trackCount = 0
    /// The sums over all noted tracks, which each frame shows.
    private(set) var whole = Totals()
    /// The tracks that are cached as a whole.
    private(set) var cachedCount = 0

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
        placeRows(player)
    }

    // MARK: Examining the tracks

    /// `true` if some tracks were not noted yet, or have new facts.
    func hasWork(in player: PlayerSnapshot) -> Bool {
        notes.count < player.tracks.count || learnedRevision != player.learned.revision
    }

    /// Fits the outline to a snapshot that replaces `before`, and examines the first slice of what is new.
    mutating func update(to player: PlayerSnapshot, from before: PlayerSnapshot) {
        let isChanged = revision != player.queueRevision || player.tracks.count < notes.count
        let isLonger = player.tracks.count > trackCount
        if isChanged {
            revision = player.queueRevision
            keepNotes(of: before.tracks, for: player.tracks)
        }
        if isChanged || isLonger || availabilityRevision != player.availabilityRevision {
            availabilityRevision = player.availabilityRevision
            countCached(player)
        }
        if isChanged || hasWork(in: player) { examine(player) }
    }

    /// Examines the next slice.
    mutating func examine(_ player: PlayerSnapshot) {
        renew(player)
        for track in player.tracks[notes.count...].prefix(Self.slice) {
            notes.append(Self.note(on: track, player))
        }
        formRuns(player)
        whole = totals(of: notes.indices)
    }

    /// Takes over the next new facts, which are mostly those of neighbours.
    private mutating func renew(_ player: PlayerSnapshot) {
        let learned = player.learned.tracks(since: learnedRevision).prefix(Self.slice)
        learnedRevision += learned.count
        guard let first = learned.min(), let last = learned.max() else { return }
        let ids = Set(learned)
        for place in notes.indices {
            let id = player.tracks[place].id
            guard id >= first, id <= last, ids.contains(id) else { continue }
            notes[place] = Self.note(on: player.tracks[place], player)
        }
    }

    private mutating func countCached(_ player: PlayerSnapshot) {
        let cached = Set(player.availability.lazy.filter(\.value.isComplete).map(\.key))
        cachedCount = cached.isEmpty ? 0 : player.tracks.count { cached.contains($0.id) }
    }

    private static func note(on track: Track, _ player: PlayerSnapshot) -> Note {
        let facts = player.learned[track.id]
        let milliseconds = (facts?.duration ?? track.duration).map { $0.seconds * 1_000 }
        return Note(
            group: TrackGroup(of: track, facts: facts),
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
        let known = PlaceTable(of: old, between)
        var fresh = Array(notes[..<start])
        fresh.reserveCapacity(tracks.count)
        for place in start..<tracks.count - end {
            // Examined with the following tracks, at most a slice at a time.
            guard let place = known.place(of: tracks[place].id, in: old) else {
                notes = fresh
                return
            }
            fresh.append(notes[place])
        }
        notes = fresh + notes[(old.count - end)...]
    }

    /// Forms the runs: one step for each note.
    private mutating func formRuns(_ player: PlayerSnapshot) {
        trackCount = player.tracks.count
        runs = []
        var start = 0
        var group = notes.first?.group
        var albumPlace = group?.hasAlbum == true ? 0 : nil
        func close(at end: Int) {
            guard end - start > 1 else { return }
            runs.append(Run(places: start..<end, albumPlace: albumPlace))
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
        placeRows(player)
    }

    /// Gives the runs their rows: one step for each run.
    private mutating func placeRows(_ player: PlayerSnapshot) {
        var shift = 0
        for index in runs.indices {
            let places = runs[index].places
            runs[index].row = places.lowerBound + shift
            runs[index].isFolded = folded.contains(player.tracks[places.lowerBound].id)
            shift += runs[index].isFolded ? 1 - places.count : 1
        }
    }
}

/// Finds the places of tracks in a queue by their identities, ten times as fast as a dictionary, whose
/// hashing resists attacks. Pure.
private struct PlaceTable {
    /// Places, or -1, at the hash of the identity or behind it; at most half of the slots are taken.
    private var slots: [Int32]
    /// The bits of a hash.
    private let bits: Int

    /// `tracks` at `places`, each identity once.
    init(of tracks: [Track], _ places: Range<Int>) {
        bits = Int.bitWidth - (places.count * 2 + 1).leadingZeroBitCount
        slots = Array(repeating: -1, count: 1 << bits)
        for place in places {
            var slot = start(of: tracks[place].id)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: place)
        }
    }

    func place(of id: Track.ID, in tracks: [Track]) -> Int? {
        var slot = start(of: id)
        while slots[slot] >= 0 {
            if tracks[Int(slots[slot])].id == id { return Int(slots[slot]) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Fibonacci hashing: neighbouring numbers, which identities mostly are, go to different slots.
    private func start(of id: Track.ID) -> Int {
        Int((id.value &* 0x9E37_79B9_7F4A_7C15) >> UInt64(UInt64.bitWidth - bits))
    }
}
