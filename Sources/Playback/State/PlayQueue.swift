import Media

/// The tracks to play, the current one and the order of playing. Pure.
///
/// Places count from 0 here; the command line counts from 1.
struct PlayQueue: Sendable {
    private(set) var tracks: [Track] = []
    /// The place of the current track; `nil` before the first track and if there are no tracks.
    private(set) var current: Int?
    var repeatMode = RepeatMode.off
    /// Incremented whenever `tracks` changes other than by additions at its end.
    private(set) var revision = 0
    /// The places in playing order if shuffle is on.
    private var order: [Int]?
    /// Tells which of the episodes that are added were played; `nil` if nothing is remembered.
    var memory: (any ListeningMemory)?
    private var history = QueueHistory()
    private var random: Shuffler
    /// The number of requested additions that are still being read.
    private var awaitedAdditions = 0
    /// `true` if the next addition was requested before the last one arrived, so that one `undo` removes both.
    private var joinsAdditions = false

    /// `seed` determines every shuffle.
    init(seed: UInt64) { random = Shuffler(state: seed) }

    var isShuffled: Bool { order != nil }
    var currentTrack: Track? { current.map { tracks[$0] } }

    /// The place to play when the track at `place` ends by itself; `nil` at the end of the queue.
    func nextAfterEnd(of place: Int) -> Int? { repeatMode == .one ? place : next(after: place) }

    /// The place to play when the track at `place` is skipped or fails; `nil` at the end of the queue.
    func next(after place: Int?) -> Int? {
        guard !tracks.isEmpty else { return nil }
        guard let place else { return track(atOrderPlace: 0) }
        let next = orderPlace(of: place) + 1
        if next < tracks.count { return track(atOrderPlace: next) }
        return repeatMode == .all ? track(atOrderPlace: 0) : nil
    }

    /// The place that is played last; `nil` if there are no tracks.
    var last: Int? { tracks.isEmpty ? nil : track(atOrderPlace: tracks.count - 1) }

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

    /// The places of the last addition; `nil` unless `undo` would undo an addition.
    var lastAddition: Range<Int>? { history.lastAddition }

    mutating func select(_ place: Int) {
        precondition(tracks.indices.contains(place), "only a track of the queue can be current")
        current = place
    }

    /// The user has requested an addition; `add` follows once it is read.
    mutating func additionRequested() { awaitedAdditions += 1 }

    /// Appends tracks that the user requested, which can be undone. One `undo` removes all lines of a pasted list.
    /// Unless `isLast`, more tracks of the same request follow.
    mutating func add(_ new: [Track], isLast: Bool = true) {
        if !new.isEmpty {
            history.added(tracks.count..<tracks.count + new.count, joins: joinsAdditions)
            append(new)
        }
        if isLast { awaitedAdditions = max(0, awaitedAdditions - 1) }
        joinsAdditions = awaitedAdditions > 0 && (joinsAdditions || !new.isEmpty)
    }

    /// Appends tracks. With shuffle on they are played after the others, in a random order of their own.
    mutating func append(_ new: [Track]) {
        let places = tracks.count..<tracks.count + new.count
        let new = remembered(new)
        // The usual single list, which may be long, is not copied.
        if tracks.isEmpty { tracks = new } else { tracks += new }
        order?.append(contentsOf: places.shuffled(using: &random))
    }

    /// `new`, with the episodes marked that are remembered as played.
    private func remembered(_ new: [Track]) -> [Track] {
        guard let memory, new.contains(where: { $0.episode != nil }) else { return new }
        return new.map { track in
            var track = track
            if let episode = track.episode { track.isPlayed = memory.isPlayed(episode) }
            return track
        }
    }

    /// Marks the episodes among the tracks at `places` as played or not, each wherever it is in the queue. Returns those
    /// that were marked otherwise before.
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

    /// Toggles shuffle. The current track stays current; switching on puts it first in the order.
    mutating func toggleShuffle() {
        guard order == nil else {
            order = nil
            return
        }
        var places = tracks.indices.filter { $0 != current }.shuffled(using: &random)
        if let current { places.insert(current, at: 0) }
        order = places
    }

    /// Moves a track that the user chose to the place after the current one in a shuffled order, so that the
    /// tracks between them are still played.
    mutating func bringForward(_ place: Int) {
        guard place != current, let old = order?.firstIndex(of: place) else { return }
        order?.remove(at: old)
        let target = current.flatMap { order?.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        order?.insert(place, at: target)
    }

    private func orderPlace(of place: Int) -> Int { order?.firstIndex(of: place) ?? place }
    private func track(atOrderPlace place: Int) -> Int { order?[place] ?? place }

    // MARK: Changes that can be undone. Each costs one walk over the queue, however many tracks it concerns.

    /// Removes the tracks at `places`, at least one. If the current track is removed, the next remaining track in
    /// playing order becomes current.
    mutating func remove(_ places: RangeSet<Int>) {
        history.add(.removed(places.ranges.flatMap { [tracks] range in tracks[range] }, from: places))
        drop(places)
    }

    /// The last change ended the playback of a track.
    mutating func interrupted(_ interruption: Interruption) { history.interrupted(interruption) }

    /// The playback that the last change ended, which its undo continues; `nil` if it ended none.
    var interruption: Interruption? { history.interruption }

    /// Moves a track that was brought back to the place before the current one in a shuffled order, so that
    /// the same tracks follow it as before.
    mutating func putBefore(_ place: Int) {
        guard let current, place != current, var places = order, let old = places.firstIndex(of: place) else {
            return
        }
        places.remove(at: old)
        places.insert(place, at: places.firstIndex(of: current) ?? 0)
        order = places
    }

    private mutating func drop(_ places: RangeSet<Int>) {
        var successor = current
        if let current, places.contains(current) { successor = self.successor(of: current, besides: places) }
        let newPlaces = Self.newPlaces(removing: places, of: tracks.count)
        tracks.removeSubranges(places)
        order = order?.compactMap { newPlaces[$0] < 0 ? nil : newPlaces[$0] }
        current = successor.map { newPlaces[$0] }
        revision += 1
    }

    /// Moves the tracks at `places`, together and in their order, so that the first of them is at `target`, or as close
    /// to it as the end allows. The current track stays current.
    mutating func move(_ places: RangeSet<Int>, to target: Int) {
        let count = places.ranges.reduce(0) { $0 + $1.count }
        let target = max(0, min(target, tracks.count - count))
        guard places != RangeSet(target..<target + count) else { return }
        history.add(.moved(places, to: target))
        rearrange(Self.oldPlaces(moving: places, to: target, of: tracks.count))
    }

    /// Sorts by `key`, stably. `facts` take precedence over the tags in the tracks.
    mutating func sort(by key: SortKey, facts: [Track.ID: TrackFacts]) {
        let oldPlaces = QueueSorting(key: key, facts: facts).places(of: tracks)
        history.add(.sorted(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
    }

    /// Puts the tracks into a random order, with the current one first, so that all others follow it.
    mutating func shuffleNow() {
        var oldPlaces = tracks.indices.filter { $0 != current }.shuffled(using: &random)
        if let current { oldPlaces.insert(current, at: 0) }
        history.add(.shuffled(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
    }

    mutating func clear() {
        guard !tracks.isEmpty else { return }
        history.add(.cleared(tracks, current: current))
        tracks = []
        current = nil
        order = order.map { _ in [] }
        revision += 1
    }

    /// Undoes the last step and returns it; `nil` if there is none.
    ///
    /// The current track stays current. If undoing an addition removes it, its successor becomes current as in `remove`.
    /// Tracks that return into a shuffled order are played after the others.
    mutating func undo() -> QueueStep? {
        // Further tracks of a list that is still being read are a new step.
        joinsAdditions = false
        guard let step = history.takeLast() else { return nil }
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
        return step
    }

    private mutating func bringBack(_ removed: [Track], to places: RangeSet<Int>) {
        var stayed = Array(0..<tracks.count + removed.count)
        stayed.removeSubranges(places)
        var all: [Track] = []
        all.reserveCapacity(tracks.count + removed.count)
        var (kept, back) = (tracks[...], removed[...])
        for range in places.ranges {
            let before = kept.prefix(range.lowerBound - all.count)
            all += before + back.prefix(range.count)
            kept = kept.dropFirst(before.count)
            back = back.dropFirst(range.count)
        }
        tracks = all + kept
        current = current.map { stayed[$0] }
        order = order.map { old in
            old.map { stayed[$0] } + places.ranges.flatMap { $0 }.shuffled(using: &random)
        }
        revision += 1
    }

    /// Reorders the tracks. `oldPlaces` holds, for each new place, the old place of its track.
    private mutating func rearrange(_ oldPlaces: [Int]) {
        let newPlaces = Self.inverse(oldPlaces)
        tracks = oldPlaces.map { tracks[$0] }
        order = order?.map { newPlaces[$0] }
        current = current.map { newPlaces[$0] }
        revision += 1
    }

    /// The place of the track that follows `place` when the tracks at `removed` are removed.
    private func successor(of place: Int, besides removed: RangeSet<Int>) -> Int? {
        let start = orderPlace(of: place)
        let end = repeatMode == .all ? start + tracks.count : tracks.count
        return (start + 1..<max(start + 1, end)).lazy
            .map { track(atOrderPlace: $0 % tracks.count) }
            .first { !removed.contains($0) }
    }

    /// The new place of each of `count` tracks when those at `places` are removed; -1 for these.
    private static func newPlaces(removing places: RangeSet<Int>, of count: Int) -> [Int] {
        var newPlaces = [Int](repeating: -1, count: count)
        var stayed = Array(0..<count)
        stayed.removeSubranges(places)
        for (new, old) in stayed.enumerated() { newPlaces[old] = new }
        return newPlaces
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

/// Sorts tracks by their tags.
///
/// The sort key of each track is computed once: sorting 100,000 tracks takes two million comparisons.
private struct QueueSorting {
    var key: SortKey
    var facts: [Track.ID: TrackFacts]

    /// The places of `tracks` in the new order.
    func places(of tracks: [Track]) -> [Int] {
        switch key {
        case .title: Self.sorted(tracks.map { title(of: $0) })
        case .artist:
            // Sorts after every letter, so that tracks without an artist come last.
            Self.sorted(tracks.map { (artist(of: $0) ?? "\u{10FFFF}") + "\u{0}" + title(of: $0) })
        case .duration: Self.sorted(tracks.map { facts[$0.id]?.duration ?? $0.duration ?? .seconds(1e12) })
        case .source: Self.sorted(tracks.map { $0.location.safeText.string })
        case .feed: feedOrder(of: tracks)
        }
    }

    /// The feeds in the order in which they were added, each newest episode first; then all other tracks.
    private func feedOrder(of tracks: [Track]) -> [Int] {
        var firsts: [String: Track.ID] = [:]
        for track in tracks {
            guard let feed = track.episode?.feed else { continue }
            firsts[feed] = min(firsts[feed] ?? track.id, track.id)
        }
        let last = Track.ID(.max)
        let keys = tracks.map { track in
            (feed: track.episode.flatMap { firsts[$0.feed] } ?? last, place: track.episode?.place ?? 0)
        }
        return keys.indices.sorted {
            (keys[$0].feed, keys[$0].place, $0) < (keys[$1].feed, keys[$1].place, $1)
        }
    }

    private func title(of track: Track) -> String {
        (facts[track.id]?.tags.title ?? track.tags.title ?? track.location.name).string.lowercased()
    }

    private func artist(of track: Track) -> String? {
        (facts[track.id]?.tags.artist ?? track.tags.artist)?.string.lowercased()
    }

    private static func sorted<Value: Comparable>(_ values: [Value]) -> [Int] {
        values.indices.sorted { (values[$0], $0) < (values[$1], $1) }
    }
}
