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

    /// The number of waiting sleepers: wait for it before advancing.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The end of the earliest sleep; `nil` if there is none.
    package var nextWake: Duration? { state.withLock { $0.sleepers.values.map(\.wakeAt).min() } }

    /// Advances to `time` like `advance(by:)`; a time in the past changes nothing.
    package func advance(to time: Duration) {
        let ahead = time - now
        if ahead > .zero { advance(by: ahead) }
    }

    /// Advances the time and wakes the sleepers that are due, in the order of their times, then of their
    /// calls.
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

/// A condition did not become true in time.
package struct DeadlinePassed: Error, CustomStringConvertible {
    package var what: String
    package var description: String { "waited in vain for \(what)" }
}

/// Waits until `condition` holds, and checks it every few milliseconds.
///
/// The deadline is generous: it only ends a test that would otherwise hang.
/// `picture` is called only then, and describes the state for the error.
package func wait(
    for what: String,
    deadline: Duration = .seconds(60),
    until condition: () async throws -> Bool,
    // A closure with braces: the closures that the compiler creates from arguments share their symbols with
    // those that `#expect` creates in the same function (seen with Swift 6.3.1), and one is called in place
    // of the other.
    seeing picture: () -> String = { "" }
) async throws {
    let end = ContinuousClock.now + deadline
    while try await !condition() {
        guard ContinuousClock.now < end else {
            let seen = picture()
            throw DeadlinePassed(what: seen.isEmpty ? what : what + "; " + seen)
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
