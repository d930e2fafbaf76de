/// A value that any thread provides once, and that one task waits for.
///
/// Only the first value counts; later ones are dropped. So a server's reply, a lost connection and the task's
/// cancellation may race to end the same wait.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Locked(State.open)

    package init() {}

    /// Provides `value`, which ends the wait, unless a value was provided before.
    package func give(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            if case .given = state { return nil }
            guard case .awaited(let continuation) = exchange(&state, with: .given(value)) else { return nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }

    /// Returns the value, or `substitute` as soon as the task is cancelled. May be called once.
    package func wait(ifCancelled substitute: Value) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Value? = state.withLock { state in
                    switch state {
                    case .open:
                        state = .awaited(continuation)
                        return nil
                    case .given(let value):
                        return value
                    case .awaited:
                        preconditionFailure("one task waits for an answer")
                    }
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            give(substitute)
        }
    }
}
