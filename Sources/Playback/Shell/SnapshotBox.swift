import Media
import System

/// The newest snapshot, whole, for whoever asks.
final class SnapshotBox: Sendable {
    private struct State {
        var value = PlayerSnapshot()
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    var value: PlayerSnapshot { state.withLock { $0.value } }

    func observe(_ observer: @escaping @Sendable () -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    func publish(_ snapshot: PlayerSnapshot) {
        let observers = state.withLock { state in
            state.value = snapshot
            return state.observers
        }
        for observer in observers { observer() }
    }
}
