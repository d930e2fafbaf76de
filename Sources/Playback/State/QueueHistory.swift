import Media

/// The changes of the queue that can be undone, newest last. Pure.
///
/// The tracks that the player starts with are not a step. They are appended, so when a step is undone, the
/// queue is still in the state after that step, possibly followed by such tracks.
struct QueueHistory: Sendable {
    /// The most steps to remember, which bounds the memory for removed tracks.
    static let mostSteps = 50

    private var steps: [(step: QueueStep, playback: EndedPlayback?)] = []

    mutating func add(_ step: QueueStep, ending playback: EndedPlayback? = nil) {
        if steps.count == Self.mostSteps { steps.removeFirst() }
        steps.append((step, playback))
    }

    /// Records an addition at `places`; with `joins`, in one step with the addition directly before it.
    mutating func added(_ places: Range<Int>, joins: Bool) {
        guard joins, let last = lastAddition, last.upperBound == places.lowerBound else {
            return add(.added(places))
        }
        steps[steps.count - 1].step = .added(last.lowerBound..<places.upperBound)
    }

    /// The places of the last addition; `nil` if the last step is no addition.
    var lastAddition: Range<Int>? { if case .added(let places) = steps.last?.step { places } else { nil } }

    mutating func takeLast() -> (step: QueueStep, playback: EndedPlayback?)? { steps.popLast() }
}

/// The playback of a track that was removed from the queue; its undo continues it.
struct EndedPlayback: Sendable, Equatable {
    let track: Track.ID
    let position: Duration
    let heard: HeardSpans
    let isPaused: Bool
    /// The track that became current instead. If another one is current now, the user has chosen it since,
    /// and it goes on playing.
    var successor: Track.ID?
}

/// A change of the queue, with everything needed to undo it.
enum QueueStep: Sendable, Equatable {
    case added(Range<Int>)
    case removed([Track], from: RangeSet<Int>)
    case moved(RangeSet<Int>, to: Int)
    /// The old place of each track, in the new order. Four bytes each, since queues can be long.
    case sorted([Int32])
    case shuffled([Int32])
    case cleared([Track], current: Int?)

    /// The change of the queue that undoing the step causes.
    var undoReport: PlayerEvent.QueueReport {
        switch self {
        case .added(let places): .init(.removed, RangeSet(places))
        case .removed(_, from: let places): .init(.restored, places)
        case .moved, .sorted, .shuffled: .init(.reordered)
        case .cleared(let tracks, _): .init(.restored, RangeSet(tracks.indices))
        }
    }

    var undoneText: SafeText {
        switch self {
        case .added(let places):
            SafeText("Removed " + CountText.of(places.count, "track"))
        case .removed(let tracks, _), .cleared(let tracks, _):
            SafeText("Restored " + CountText.of(tracks.count, "track"))
        case .moved: "Restored the order before the move"
        case .sorted: "Restored the order before sorting"
        case .shuffled: "Restored the order before shuffling"
        }
    }
}
