package import Media

// Changes that can be undone. Each costs one walk over the queue, however many tracks it is about.
extension PlayQueue {
    /// Removes the tracks at `places`, of which there is at least one. A removed current track is succeeded by the next
    /// in playing order that stays, or nil.
    package mutating func remove(_ places: RangeSet<Int>) {
        history.add(.removed(places.ranges.flatMap { [tracks] range in tracks[range] }, from: places))
        drop(places)
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

    /// Puts the tracks at `places`, together and in their order, where the first of them is at `target`, or as near to
    /// that as the end lets it. The current track stays the same one.
    package mutating func move(_ places: RangeSet<Int>, to target: Int) {
        let count = places.ranges.reduce(0) { $0 + $1.count }
        let target = max(0, min(target, tracks.count - count))
        guard places != RangeSet(target..<target + count) else { return }
        history.add(.moved(places, to: target))
        rearrange(Self.oldPlaces(moving: places, to: target, of: tracks.count))
    }

    /// Sorts by `key`; equals stay in their order. `facts` know better than the tracks themselves.
    package mutating func sort(by key: SortKey, facts: [Track.ID: TrackFacts]) {
        let oldPlaces = QueueSorting(key: key, facts: facts).places(of: tracks)
        history.add(.sorted(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
    }

    /// Puts the tracks in a random order, the current one first, so that all others follow it.
    package mutating func shuffleNow(using random: inout some RandomNumberGenerator) {
        var oldPlaces = tracks.indices.filter { $0 != current }.shuffled(using: &random)
        if let current { oldPlaces.insert(current, at: 0) }
        history.add(.shuffled(oldPlaces.map { Int32(truncatingIfNeeded: $0) }))
        rearrange(oldPlaces)
    }

    package mutating func clear() {
        guard !tracks.isEmpty else { return }
        history.add(.cleared(tracks, current: current))
        tracks = []
        current = nil
        order = order.map { _ in [] }
        revision += 1
    }

    /// Takes back the last step; returns what it was, or nil when there is none.
    ///
    /// The current track stays current; an added one that goes with the others is succeeded as by `remove`. Tracks that come back into a shuffled order come after
    /// the others.
    package mutating func undo(using random: inout some RandomNumberGenerator) -> QueueStep? {
        guard let step = history.takeLast() else { return nil }
        switch step {
        case .added(let places): drop(RangeSet(places))
        case .removed(let removed, from: let places): bringBack(removed, to: places, using: &random)
        case .moved(let places, to: let target):
            rearrange(Self.inverse(Self.oldPlaces(moving: places, to: target, of: tracks.count)))
        case .sorted(let oldPlaces), .shuffled(let oldPlaces):
            // What was added since stays behind.
            let added = oldPlaces.count..<tracks.count
            rearrange(Self.inverse(oldPlaces.map { Int($0) } + added))
        case .cleared(let cleared, current: let wasCurrent):
            bringBack(cleared, to: RangeSet(cleared.indices), using: &random)
            current = current ?? wasCurrent
        }
        return step
    }

    private mutating func bringBack(
        _ removed: [Track],
        to places: RangeSet<Int>,
        using random: inout some RandomNumberGenerator
    ) {
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

    /// `oldPlaces` says for each place where its track was, and holds each place once.
    private mutating func rearrange(_ oldPlaces: [Int]) {
        let newPlaces = Self.inverse(oldPlaces)
        tracks = oldPlaces.map { tracks[$0] }
        order = order?.map { newPlaces[$0] }
        current = current.map { newPlaces[$0] }
        revision += 1
    }

    /// Who follows the track at `place` when it and others go.
    private func successor(of place: Int, besides removed: RangeSet<Int>) -> Int? {
        let start = orderPlace(of: place)
        let end = repeatMode == .all ? start + tracks.count : tracks.count
        return (start + 1..<max(start + 1, end)).lazy
            .map { track(atOrderPlace: $0 % tracks.count) }
            .first { !removed.contains($0) }
    }

    /// Where each of `count` tracks is after those at `places` have gone; -1 for these.
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
