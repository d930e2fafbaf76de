package import Media

/// What was done to the queue and can be taken back, the newest last. Pure.
///
/// What the player began with is no step, whenever it comes. It goes to the end, so a step finds the queue as it left
/// it, with what was added so behind it.
struct QueueHistory: Sendable {
    /// A bound for what removed tracks take in memory; nobody counts further back.
    static let mostSteps = 50

    private var steps: [QueueStep] = []

    mutating func add(_ step: QueueStep) {
        if steps.count == Self.mostSteps { steps.removeFirst() }
        steps.append(step)
    }

    /// Tracks were added at `places`; with `joins` they are one step with those that were added right before.
    mutating func added(_ places: Range<Int>, joins: Bool) {
        guard joins, let last = lastAddition, last.upperBound == places.lowerBound else {
            return add(.added(places))
        }
        steps[steps.count - 1] = .added(last.lowerBound..<places.upperBound)
    }

    /// The places of what was added, where that is the last step.
    var lastAddition: Range<Int>? {
        if case .added(let places) = steps.last { places } else { nil }
    }

    /// The last step, which is then forgotten; nil when there is none.
    mutating func takeLast() -> QueueStep? { steps.popLast() }
}

/// One change of the queue, with what it takes to undo it.
package enum QueueStep: Sendable, Equatable {
    case added(Range<Int>)
    case removed([Track], from: RangeSet<Int>)
    case moved(RangeSet<Int>, to: Int)
    /// The place that each track had before, in the order of now; four bytes each, for queues are long.
    case sorted([Int32])
    case shuffled([Int32])
    case cleared([Track], current: Int?)

    /// What undoing it has done, for the listener.
    var undoneText: SafeText {
        switch self {
        case .added(let places):
            SafeText(places.count == 1 ? "1 added track is gone" : "\(places.count) added tracks are gone")
        case .removed(let tracks, _), .cleared(let tracks, _):
            SafeText(tracks.count == 1 ? "1 track is back" : "\(tracks.count) tracks are back")
        case .moved: "moved back"
        case .sorted: "the order before sorting is back"
        case .shuffled: "the order before shuffling is back"
        }
    }
}
