/// The tags and lengths that were learned of the tracks, in the order in which they came. A view asks only
/// for those that came since it last looked.
package struct LearnedFacts: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// Shared, since each copy of the dictionary, as for a snapshot, costs a count for each reference in it.
    private var facts: [Track.ID: Shared<TrackFacts>] = [:]
    /// The tracks in the order in which something was learned of them. One occurs again when more of it is
    /// learned.
    private var order: [Track.ID] = []

    package init() {}

    package init(dictionaryLiteral elements: (Track.ID, TrackFacts)...) {
        for (track, found) in elements { self[track] = found }
    }

    /// Increases whenever something is learned.
    package var revision: Int { order.count }

    /// The tracks of which something was learned since `revision` had that value, in order.
    package func tracks(since revision: Int) -> ArraySlice<Track.ID> { order.dropFirst(revision) }

    /// `nil` if nothing is known. What is known already changes nothing.
    package subscript(track: Track.ID) -> TrackFacts? {
        get { facts[track]?.value }
        set {
            guard facts[track]?.value != newValue else { return }
            facts[track] = newValue.map { Shared($0) }
            order.append(track)
        }
    }
}
