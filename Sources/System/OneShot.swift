/// A value that one task waits for and any thread gives, once.
///
/// The first value given is the answer; later ones are dropped, since the server's answer, its
/// death and the task's cancellation can race for the same wait.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Locked(State.open)

    package init() {}

    /// Ends the wait with `value`, unless it ended before.
    package func give(_ value: Value) {
        let continuation: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .given(value)
                return continuation
            case .given:
                return nil
            }
        }
        continuation?.resume(returning: value)
    }

    /// The value, or `substitute` as soon as the task is cancelled. For one task, once.
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
