/// Bounds how often snapshots redraw the screen; keys are answered at once.
///
/// Pure: the time comes in. Nothing is due while nothing changed, so the loop then waits without a timer.
package struct RedrawPacer {
    /// Ten a second look fluent for a clock that counts seconds, and cost next to nothing.
    package static let interval = Duration.milliseconds(100)

    private var drawnAt: Duration?
    private var isStale = false

    package init() {}

    /// A snapshot came; the screen no longer shows the newest.
    package mutating func snapshotArrived() { isStale = true }

    /// The newest was drawn.
    package mutating func drawn(at now: Duration) {
        drawnAt = now
        isStale = false
    }

    /// How long to wait before the next drawing: zero for now, nil for no drawing until something happens.
    package func delay(at now: Duration) -> Duration? {
        guard isStale else { return nil }
        guard let drawnAt else { return .zero }
        return max(.zero, drawnAt + Self.interval - now)
    }
}
