package import Media

/// The tracks to play, which of them is current, and which comes next. Pure.
///
/// Places count from 0 here; the command line counts from 1.
package struct PlayQueue: Sendable {
    package internal(set) var tracks: [Track] = []
    /// The place of the current track; nil before the first and when there are none.
    package internal(set) var current: Int?
    package var repeatMode = RepeatMode.off
    /// Goes up whenever `tracks` changes other than by additions at its end.
    package internal(set) var revision = 0
    /// Whether tracks that belong at the end are still to come: what follows the last is not known then.
    package internal(set) var isIncomplete = false
    /// The places in playing order; nil when that is the order they are in.
    var order: [Int]?
    var history = QueueHistory()

    package init() {}

    package var isShuffled: Bool { order != nil }
    package var currentTrack: Track? { current.map { tracks[$0] } }

    /// The place that follows when the track at `place` ends by itself; nil at the end.
    package func nextAfterEnd(of place: Int) -> Int? {
        repeatMode == .one ? place : next(after: place)
    }

    /// The place that follows `place` when it is skipped or fails; nil at the end, and where it is not known yet.
    package func next(after place: Int?) -> Int? {
        guard !tracks.isEmpty else { return nil }
        guard let place else { return track(atOrderPlace: 0) }
        let next = orderPlace(of: place) + 1
        if next < tracks.count { return track(atOrderPlace: next) }
        return repeatMode == .all && !isIncomplete ? track(atOrderPlace: 0) : nil
    }

    /// The place that is played last; nil when there are no tracks.
    package var last: Int? { tracks.isEmpty ? nil : track(atOrderPlace: tracks.count - 1) }

    /// Where the track is; nil when it was removed.
    package func place(of id: Track.ID) -> Int? {
        if let current, tracks[current].id == id { return current }
        return tracks.firstIndex { $0.id == id }
    }

    /// The place that `previous` goes to; the first track's is itself.
    package func previous() -> Int? {
        guard let current else { return nil }
        let place = orderPlace(of: current)
        if place > 0 { return track(atOrderPlace: place - 1) }
        return repeatMode == .all ? track(atOrderPlace: tracks.count - 1) : current
    }

    /// Takes the first of the tracks that the player begins with; `complete` brings all of them. Until then the queue
    /// stays as it is, and in its own order.
    package mutating func begin(with first: [Track]) {
        precondition(
            tracks.isEmpty && order == nil,
            "the first tracks come first, and are played in their order"
        )
        tracks = first
        isIncomplete = true
    }

    /// Takes all tracks, of which the queue has the first. Costs the same however many they are.
    package mutating func complete(with all: [Track]) {
        precondition(
            isIncomplete && order == nil && all.dropFirst(tracks.count - 1).first?.id == tracks.last?.id,
            "a queue that was begun is completed once, and not changed before"
        )
        tracks = all
        isIncomplete = false
    }

    package mutating func select(_ place: Int) {
        precondition(tracks.indices.contains(place), "only a track of the queue can be current")
        current = place
    }

    /// Appends what the listener added, which can be undone; with `joins` together with what was added right before.
    package mutating func add(_ new: [Track], joins: Bool, using random: inout some RandomNumberGenerator) {
        guard !new.isEmpty else { return }
        history.added(tracks.count..<tracks.count + new.count, joins: joins)
        append(new, using: &random)
    }

    /// Appends; with shuffle on, the new tracks come after the others in an order of their own.
    package mutating func append(_ new: [Track], using random: inout some RandomNumberGenerator) {
        let places = tracks.count..<tracks.count + new.count
        // A long list is not copied.
        if tracks.isEmpty { tracks = new } else { tracks += new }
        order?.append(contentsOf: places.shuffled(using: &random))
    }

    /// Switches shuffle; the current track stays current and, when switching on, is first in the order.
    package mutating func toggleShuffle(using random: inout some RandomNumberGenerator) {
        guard order == nil else {
            order = nil
            return
        }
        var places = tracks.indices.filter { $0 != current }.shuffled(using: &random)
        if let current { places.insert(current, at: 0) }
        order = places
    }

    /// Lets a track that the listener chose come next in a shuffled order, so that none before it is passed
    /// over.
    package mutating func bringForward(_ place: Int) {
        guard place != current, let old = order?.firstIndex(of: place) else { return }
        order?.remove(at: old)
        let target = current.flatMap { order?.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        order?.insert(place, at: target)
    }

    func orderPlace(of place: Int) -> Int { order?.firstIndex(of: place) ?? place }
    func track(atOrderPlace place: Int) -> Int { order?[place] ?? place }
}
