import Media
import System

/// A clock that stands still until `advance` is called.
package final class TestClock: MonotonicClock {
    private struct State {
        var now = Duration.zero
        var nextID = 0
        var sleepers: [Int: (wakeAt: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var cancelledEarly: Set<Int> = []
    }

    private let state = Locked(State())

    package init() {}

    package var now: Duration { state.withLock { $0.now } }

    /// How many sleeps are under way: wait for this to be reached before advancing.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the earliest of the sleeps under way ends; nil when nobody sleeps.
    package var nextWake: Duration? { state.withLock { $0.sleepers.values.map(\.wakeAt).min() } }

    /// Moves the time on to `time`, and wakes as `advance(by:)` does; a time that has passed changes nothing.
    package func advance(to time: Duration) {
        let ahead = time - now
        if ahead > .zero { advance(by: ahead) }
    }

    /// Moves the time on and wakes who slept until then, the earliest first, and of two for one time the one that asked first.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.wakeAt <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            let order = due.sorted { ($0.value.wakeAt, $0.key) < ($1.value.wakeAt, $1.key) }
            return order.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    package func sleep(until time: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelledEarly.remove(id) != nil { return .failure(CancellationError()) }
                    if time <= state.now { return .success(()) }
                    state.sleepers[id] = (time, continuation)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelledEarly.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
