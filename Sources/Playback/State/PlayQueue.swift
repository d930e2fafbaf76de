import Media
import System

/// The tracks to play, the current one and the order of playing. Pure.
///
/// Places count from 0 here; the command line counts from 1.
struct PlayQueue: Sendable {
    private(set) var tracks: [Track] = []
    /// The place of the current track; `nil` before the first track and if there are no tracks.
    private(set) var current: Int?
    var repeatMode = RepeatMode.off { didSet { orderRevision += 1 } }
    /// Incremented whenever `tracks` changes other than by additions at its end.
    private(set) var revision = 0
    /// The changes since the last `takeChanges`, which fills in the length of the queue and the current
    /// track.
    private var changes: [PlayerEvent.QueueReport] = []
    /// The places in playing order if shuffle is on.
    private var order: [Int]? { didSet { orderRevision += 1 } }
    /// Incremented whenever the order of playing changes while `tracks` stay the same.
    private(set) var orderRevision = 0
    /// Has the played state of episodes that are added; `nil` if nothing is remembered.
    var memory: (any ListeningMemory)?
    private(set) var history = QueueHistory()
    /// The track from which the user last went to the previous one, until a track is heard or requested
    /// otherwise.
    var wentBackFrom: Track.ID?
    /// The podcast feeds of all tracks so far, by their URL, in the order in which they were added.
    private var feeds: [String: Int] = [:]
    /// The key of the last sort, and the revision and length of the queue after it.
    private var lastSort: (key: SortKey, revision: Int, count: Int)?
    private var random: SplitMix64
    /// The number of requested additions that are still being read.
    private var awaitedAdditions = 0
    /// `true` if the next addition was requested before the last one arrived, so that one `undo` removes
    /// both.
    private var joinsAdditions = false

    /// The sources that were read, as they were typed.
    private var readSources: Set<String>

    /// `seed` determines every shuffle; `sources` are those of the command line.
    init(seed: UInt64, sources: [String] = []) {
        random = SplitMix64(seed: seed)
        readSources = Set(sources)
    }

    var isShuffled: Bool { order != nil }
    var currentTrack: Track? { current.map { tracks[$0] } }

    /// The place to play when the track at `place` ends by itself; `nil` at the end of the queue.
    func nextAfterEnd(of place: Int) -> Int? { repeatMode == .one ? place : next(after: place) }

    /// The place to play when the track at `place` is skipped or fails; `nil` at the end of the queue.
    func next(after place: Int?) -> Int? { places(after: place).first }

    /// The places that are played after `place`, in order; if all tracks repeat, each once, `place` the last.
    private func places(after place: Int?) -> some Collection<Int> {
        let start = place.map { orderPlace(of: $0) + 1 } ?? 0
        let repeats = place != nil && repeatMode == .all
        let end = repeats ? start + tracks.count : tracks.count
        return (start..<end).lazy.map { track(atOrderPlace: $0 % tracks.count) }
    }

    /// The tracks that are played after the current one, in order; if all tracks repeat, each once.
    var upcoming: some Sequence<Track> { places(after: current).lazy.map { tracks[$0] } }

    /// The places of the first `most` of them; none if the current one repeats.
    func upcomingPlaces(most: Int) -> [Int] {
        repeatMode == .one || tracks.isEmpty ? [] : Array(places(after: current).prefix(most))
    }

    /// The place that is played last; `nil` if there are no tracks.
    var last: Int? { tracks.isEmpty ? nil : track(atOrderPlace: tracks.count - 1) }

    /// `true` if a track is played after the current one.
    var hasNext: Bool { !tracks.isEmpty && (repeatMode == .all || current != last) }
    /// `true` if `previous` plays another track.
    var hasPrevious: Bool { !tracks.isEmpty && (repeatMode == .all || current != track(atOrderPlace: 0)) }

    /// `true` if the name of one of the next 100 tracks suggests integers of more than 16 bits. Not of all
    /// tracks, since this is examined at every start and seek.
    var expectsWideSamples: Bool {
        guard let current else { return false }
        return places(after: current).prefix(100).contains { place in
            let kind = AudioKind.byName(tracks[place].location.path)
            return place != current && kind?.mayHaveWideSamples == true
        }
    }

    /// The place of a track; `nil` if it was removed.
    func place(of id: Track.ID) -> Int? {
        if let current, tracks[current].id == id { return current }
        return tracks.firstIndex { $0.id == id }
    }

    /// The place to play on `previous`; `nil` if no track is current. From the first track, it is the last
    /// one if all tracks repeat, and otherwise the first one again.
    func previous() -> Int? {
        guard let current else { return nil }
        let place = orderPlace(of: current)
        if place > 0 { return track(atOrderPlace: place - 1) }
        return repeatMode == .all ? track(atOrderPlace: tracks.count - 1) : current
    }

    /// The place to play when the track at `place`, the current one, fails before it is heard; `nil` at the
    /// end of the queue. While `previous` looks for a track that plays, it is the track before; if none
    /// before plays, the one from which the user went back.
    mutating func nextAfterFailure(of place: Int) -> Int? {
        guard let start = wentBackFrom else { return next(after: place) }
        if let before = previous(), before != place { return before }
        wentBackFrom = nil
        return self.place(of: start).flatMap { $0 == place ? nil : $0 } ?? next(after: place)
    }

    /// Puts `new`, at least one track, in the place of the track at `place`, which is a list of them; with
    /// shuffle on, in a random order of their own. Returns the place of the first one to be played.
    ///
    /// Not a step for `undo`. If places change, the earlier steps are forgotten, since they name places.
    mutating func replace(_ place: Int, by new: [Track]) -> Int {
        if new.count != 1 { history = QueueHistory() }
        changes.append(.init(.removed, RangeSet(place..<place + 1)))
        changes.append(.init(.added, RangeSet(place..<place + new.count)))
        let added = new.count - 1
        tracks.replaceSubrange(place...place, with: remembered(new))
        let places = Array(place..<place + new.count)
        let ordered = order == nil ? places : places.shuffled(using: &random)
        order = order?.flatMap { $0 == place ? ordered : [$0 > place ? $0 + added : $0] }
        if let current, current >= place { self.current = current == place ? ordered[0] : current + added }
        revision += 1
        return ordered[0]
    }

    mutating func select(_ place: Int) {
        precondition(tracks.indices.contains(place), "only a track of the queue can be current")
        current = place
    }

    /// `true` if requested additions are still being read.
    var awaitsAdditions: Bool { awaitedAdditions > 0 }

    /// The user has requested an addition; `add` follows once it is read.
    mutating func additionRequested() { awaitedAdditions += 1 }

    /// Appends those of `found` that are new; the user requested `source`. One `undo` removes all lines of a
    /// pasted list. Unless `isLast`, more tracks of the same request follow.
    mutating func add(_ found: [Track], of source: String? = nil, isLast: Bool = true) {
        let new = newTracks(of: found, from: source)
        if isLast, let source { readSources.insert(source) }
        if !new.isEmpty {
            changes.append(.init(.added, RangeSet(tracks.count..<tracks.count + new.count)))
            history.added(tracks.count..<tracks.count + new.count, joins: joinsAdditions)
            append(new)
        }
        if isLast { awaitedAdditions = max(0, awaitedAdditions - 1) }
        joinsAdditions = awaitedAdditions > 0 && (joinsAdditions || !new.isEmpty)
    }

    /// Those of `found` that the queue lacks, if they are episodes, or if the list or folder `source` was
    /// read before. A single track that is added twice plays twice.
    private func newTracks(of found: [Track], from source: String?) -> [Track] {
        let isAgain = found.count > 1 && source.map { readSources.contains($0) } == true
        guard isAgain || found.contains(where: { $0.episode != nil }) else { return found }
        let episodes = Set(tracks.compactMap { $0.episode?.key })
        let locations = isAgain ? Set(tracks.map(\.location)) : []
        return found.filter { track in
            track.episode.map { !episodes.contains($0.key) } ?? !locations.contains(track.location)
        }
    }

    mutating func append(_ new: [Track]) {
        let places = tracks.count..<tracks.count + new.count
        let new = remembered(new)
        // The usual single list, which may be long, is not copied.
        if tracks.isEmpty { tracks = new } else { tracks += new }
        addToOrder(places)
    }

    /// Plays the tracks at `places` after the others, in a random order of their own, if shuffle is on.
    private mutating func addToOrder(_ places: Range<Int>) {
        guard isShuffled else { return }
        let shuffled = places.shuffled(using: &random)
        order?.append(contentsOf: shuffled)
    }

    /// Returns `new` with the episodes marked that are remembered as played. Records their feeds.
    private mutating func remembered(_ new: [Track]) -> [Track] {
        guard new.contains(where: { $0.episode != nil }) else { return new }
        var new = new
        for index in new.indices {
            guard let episode = new[index].episode else { continue }
            feeds[episode.feed] = feeds[episode.feed] ?? feeds.count
            if let memory { new[index].isPlayed = memory.isPlayed(episode) }
        }
        return new
    }

    /// Marks the episodes among the tracks at `places` as played or not, each wherever it is in the queue.
    /// Returns those that were marked otherwise before.
    mutating func setPlayed(_ isPlayed: Bool, at places: RangeSet<Int>) -> [Episode] {
        let keys = Set(places.ranges.joined().compactMap { tracks[$0].episode?.key })
        let changed = tracks.indices.filter { place in
            guard let episode = tracks[place].episode, tracks[place].isPlayed != isPlayed else {
                return false
            }
            return keys.contains(episode.key)
        }
        guard !changed.isEmpty else { return [] }
        for place in changed { tracks[place].isPlayed = isPlayed }
        revision += 1
        return changed.compactMap { tracks[$0].episode }
    }

    /// Switches shuffle on or off. The current track stays current.
    mutating func setShuffle(_ isOn: Bool) {
        if isOn != isShuffled { order = isOn ? shuffledPlaces() : nil }
    }

    /// All places in a random order, with the current one first, so that all others follow it.
    private mutating func shuffledPlaces() -> [Int] {
        let others = tracks.indices.filter { $0 != current }.shuffled(using: &random)
        return (current.map { [$0] } ?? []) + others
    }

    /// Moves a track that the user chose to the place after the current one in a shuffled order, so that the
    /// tracks between them are still played.
    mutating func bringForward(_ place: Int) { putBesideCurrent(place, distance: 1) }

    /// Moves a track that was brought back to the place before the current one in a shuffled order, so that
    /// the same tracks follow it as before.
    mutating func putBefore(_ place: Int) { if current != nil { putBesideCurrent(place, distance: 0) } }

    private mutating func putBesideCurrent(_ place: Int, distance: Int) {
        guard place != current, let old = order?.firstIndex(of: place) else { return }
        order?.remove(at: old)
        let target = current.flatMap { order?.firstIndex(of: $0) }.map { $0 + distance } ?? 0
        order?.insert(place, at: target)
    }

    /// Lets the tracks at `places`, except the current one, play after it or after its album, in their order.
    /// In a shuffled order, only that changes, which `undo` does not undo.
    mutating func playNext(_ places: RangeSet<Int>, after point: PlayPoint, facts: LearnedFacts) {
        var places = places
        if let current { places.remove(current, within: tracks) }
        let last = current.map { point == .track ? $0 : lastOfAlbum(from: $0, without: places, facts) }
        guard var order else {
            let passed = last.map { last in places.ranges.joined().count { $0 < last } } ?? 0
            return places.isEmpty ? () : move(places, to: last.map { $0 + 1 - passed } ?? 0)
        }
        order.removeAll { places.contains($0) }
        let start = last.flatMap { order.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        order.insert(contentsOf: places.ranges.flatMap { $0 }, at: start)
        self.order = order
    }

    /// `true` if the tracks at both places are of one group.
    func isSameAlbum(_ place: Int, _ other: Int, _ facts: LearnedFacts) -> Bool {
        var group = TrackGroup(of: tracks[place], facts: facts[tracks[place].id])
        return group.accept(TrackGroup(of: tracks[other], facts: facts[tracks[other].id]))
    }

    /// The last of the tracks in playing order that follow `place` and are of its group, `others` left out.
    private func lastOfAlbum(
        from place: Int,
        without others: RangeSet<Int>,
        _ facts: LearnedFacts
    ) -> Int {
        var group = TrackGroup(of: tracks[place], facts: facts[tracks[place].id])
        var last = place
        for orderPlace in orderPlace(of: place) + 1..<tracks.count {
            let next = track(atOrderPlace: orderPlace)
            if others.contains(next) { continue }
            guard group.accept(TrackGroup(of: tracks[next], facts: facts[tracks[next].id])) else { break }
            last = next
        }
        return last
    }

    private func orderPlace(of place: Int) -> Int { order?.firstIndex(of: place) ?? place }
    private func track(atOrderPlace place: Int) -> Int { order?[place] ?? place }

    // MARK: Changes that can be undone. Each costs one walk over the queue, however many tracks it concerns.

    /// Removes the tracks at `places`, at least one, which ends `playback`. If the current track is removed,
    /// the next remaining track in playing order becomes current.
    mutating func remove(_ places: RangeSet<Int>, ending playback: EndedPlayback? = nil) {
        changes.append(.init(.removed, places))
        let removed = places.ranges.flatMap { [tracks] range in tracks[range] }
        drop(places)
        var playback = playback
        playback?.successor = currentTrack?.id
        history.add(.removed(removed, from: places), ending: playback)
    }

    /// Moves the tracks at `places` to the end, and cuts them off there.
    private mutating func drop(_ places: RangeSet<Int>) {
        if let current, places.contains(current) {
            self.current = self.places(after: current).first { !places.contains($0) }
        }
        let rest = tracks.count - TrackNumbers(places: places).count
        rearrange(Self.oldPlaces(moving: places, to: rest, of: tracks.count))
        tracks.removeLast(tracks.count - rest)
        order?.removeAll { $0 >= rest }
    }

    /// Moves the tracks at `places`, together and in their order, so that the first of them is at `target`,
    /// or as close to it as the end allows. The current track stays current.
    mutating func move(_ places: RangeSet<Int>, to target: Int) {
        let count = TrackNumbers(places: places).count
        let target = max(0, min(target, tracks.count - count))
        guard places != RangeSet(target..<target + count) else { return }
        changes.append(.init(.moved, places, target: target + 1))
        history.add(.moved(places, to: target))
        rearrange(Self.oldPlaces(moving: places, to: target, of: tracks.count))
    }

    /// Sorts by `key`, stably. `facts` take precedence over the tags in the tracks.
    mutating func sort(by key: SortKey, facts: LearnedFacts) {
        changes.append(.init(.sorted))
        let oldPlaces = QueueSorting(key: key, facts: facts, feeds: feeds).places(of: tracks)
        history.add(.sorted(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
        lastSort = (key, revision, tracks.count)
    }

    /// Repeats the last sort, because more `facts` are known; one `undo` undoes both. Returns `false` if the
    /// queue was changed since the last sort, or if the order stays the same.
    mutating func sortAgain(facts: LearnedFacts) -> Bool {
        guard let last = lastSort, last.revision == revision, last.count == tracks.count else { return false }
        let oldPlaces = QueueSorting(key: last.key, facts: facts, feeds: feeds).places(of: tracks)
        guard oldPlaces != Array(tracks.indices), case .sorted(let first)? = history.takeLast()?.step else {
            return false
        }
        changes.append(.init(.sorted))
        history.add(.sorted(oldPlaces.map { first[$0] }))
        rearrange(oldPlaces)
        lastSort = (last.key, revision, tracks.count)
        return true
    }

    /// Puts the tracks themselves into a random order, with the current one first.
    mutating func shuffleNow() {
        changes.append(.init(.shuffled))
        let oldPlaces = shuffledPlaces()
        history.add(.shuffled(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
    }

    mutating func clear(ending playback: EndedPlayback? = nil) {
        guard !tracks.isEmpty else { return }
        changes.append(.init(.cleared))
        history.add(.cleared(tracks, current: current), ending: playback)
        tracks = []
        current = nil
        order = order.map { _ in [] }
        revision += 1
    }

    /// Undoes the last step and returns it, with the playback to be continued; `nil` if there is none.
    ///
    /// The current track stays current. If undoing an addition removes it, its successor becomes current as
    /// in `remove`. Tracks that return into a shuffled order are played after the others.
    mutating func undo() -> (step: QueueStep, playback: EndedPlayback?)? {
        // Further tracks of a list that is still being read are a new step.
        joinsAdditions = false
        guard let (step, ended) = history.takeLast() else { return nil }
        let playback = ended.flatMap { $0.successor == currentTrack?.id ? $0 : nil }
        changes.append(step.undoReport)
        switch step {
        case .added(let places): drop(RangeSet(places))
        case .removed(let removed, from: let places): bringBack(removed, to: places)
        case .moved(let places, to: let target):
            rearrange(Self.inverse(Self.oldPlaces(moving: places, to: target, of: tracks.count)))
        case .sorted(let oldPlaces), .shuffled(let oldPlaces):
            // Tracks that were added since stay at the end.
            let added = oldPlaces.count..<tracks.count
            rearrange(Self.inverse(oldPlaces.map { Int($0) } + added))
        case .cleared(let cleared, current: let wasCurrent):
            bringBack(cleared, to: RangeSet(cleared.indices))
            current = current ?? wasCurrent
        }
        return (step, playback)
    }

    /// Removes and returns the changes of the queue that were not taken yet, with its length and the current
    /// track.
    mutating func takeChanges() -> [PlayerEvent.QueueReport] {
        guard !changes.isEmpty else { return [] }
        defer { changes = [] }
        return changes.map { change in
            var change = change
            change.count = tracks.count
            change.index = current.map { $0 + 1 }
            return change
        }
    }

    /// Appends the tracks that `drop` has cut off, and moves them back to `places`.
    private mutating func bringBack(_ removed: [Track], to places: RangeSet<Int>) {
        let rest = tracks.count
        tracks += removed
        addToOrder(rest..<tracks.count)
        rearrange(Self.inverse(Self.oldPlaces(moving: places, to: rest, of: tracks.count)))
    }

    /// Reorders the tracks. `oldPlaces` holds, for each new place, the old place of its track.
    private mutating func rearrange(_ oldPlaces: [Int]) {
        let newPlaces = Self.inverse(oldPlaces)
        tracks = oldPlaces.map { tracks[$0] }
        order = order?.map { newPlaces[$0] }
        current = current.map { newPlaces[$0] }
        revision += 1
    }

    private static func oldPlaces(moving places: RangeSet<Int>, to target: Int, of count: Int) -> [Int] {
        var oldPlaces = Array(0..<count)
        oldPlaces.removeSubranges(places)
        oldPlaces.insert(contentsOf: places.ranges.flatMap { $0 }, at: target)
        return oldPlaces
    }

    private static func inverse(_ places: [Int]) -> [Int] {
        var inverse = [Int](repeating: 0, count: places.count)
        for (index, place) in places.enumerated() { inverse[place] = index }
        return inverse
    }
}
