/// Bounds how often snapshots and the picture of the sound redraw the screen; keys are answered at once.
///
/// Pure: the time comes in. Nothing is due while nothing changed, so the loop then waits without a timer.
package struct RedrawPacer {
    /// Ten a second look fluent for a clock that counts seconds, and cost next to nothing.
    package static let interval = Duration.milliseconds(100)
    /// For a picture that moves with the music.
    package static let movingInterval = Duration.milliseconds(50)

    private var drawnAt: Duration?
    /// Whether the screen no longer shows the newest snapshot.
    package private(set) var isStale = false
    private var isMoving = false

    package init() {}

    /// A snapshot came; the screen no longer shows the newest.
    package mutating func snapshotArrived() { isStale = true }

    /// Says whether the picture of the sound is shown and moves, so that there is something new to draw at all times.
    package mutating func soundMoves(_ isMoving: Bool) { self.isMoving = isMoving }

    /// The newest was drawn.
    package mutating func drawn(at now: Duration) {
        drawnAt = now
        isStale = false
    }

    /// How long to wait before the next drawing: zero for now, nil for no drawing until something happens.
    package func delay(at now: Duration) -> Duration? {
        guard isStale || isMoving else { return nil }
        guard let drawnAt else { return .zero }
        return max(.zero, drawnAt + (isMoving ? Self.movingInterval : Self.interval) - now)
    }
}
