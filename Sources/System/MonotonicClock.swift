/// The clock of the program. Tests pass one that stands still until they advance it.
package protocol MonotonicClock: Sendable {
    /// The time since some fixed moment; never goes back.
    var now: Duration { get }

    /// Returns at `time` or later; throws `CancellationError` when the task is cancelled.
    func sleep(until time: Duration) async throws
}

extension MonotonicClock {
    /// Returns after `duration`; throws `CancellationError` when the task is cancelled.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }
}

/// The system's monotonic clock, which stops while the machine sleeps.
package struct SystemClock: MonotonicClock {
    private let start = SuspendingClock.now

    package init() {}

    package var now: Duration { SuspendingClock.now - start }

    package func sleep(until time: Duration) async throws {
        try await SuspendingClock().sleep(until: start + time)
    }
}
