package import Media

/// What was done to the queue and can be taken back, the newest last. Pure.
///
/// Additions are no steps. They go to the end, so a step finds the queue as it left it, with what was added since
/// behind it.
struct QueueHistory: Sendable {
    /// A bound for what removed tracks take in memory; nobody counts further back.
    static let mostSteps = 50

    private var steps: [QueueStep] = []

    mutating func add(_ step: QueueStep) {
        if steps.count == Self.mostSteps { steps.removeFirst() }
        steps.append(step)
    }

    /// The last step, which is then forgotten; nil when there is none.
    mutating func takeLast() -> QueueStep? { steps.popLast() }
}

/// One change of the queue, with what it takes to undo it.
package enum QueueStep: Sendable, Equatable {
    case removed([Track], from: RangeSet<Int>)
    case moved(RangeSet<Int>, to: Int)
    /// The place that each track had before, in the order of now; four bytes each, for queues are long.
    case sorted([Int32])
    case shuffled([Int32])
    case cleared([Track], current: Int?)

    /// What undoing it has done, for the listener.
    var undoneText: SafeText {
        switch self {
        case .removed(let tracks, _), .cleared(let tracks, _):
            SafeText(tracks.count == 1 ? "1 track is back" : "\(tracks.count) tracks are back")
        case .moved: "moved back"
        case .sorted: "the order before sorting is back"
        case .shuffled: "the order before shuffling is back"
        }
    }
}
