import Media
import System

/// The observers of the player: user interfaces, the headless reporter and others, any number of them.
final class PlayerObservers: Sendable {
    private struct State {
        var snapshot = PlayerSnapshot()
        var snapshotObservers: [@Sendable () -> Void] = []
        var eventObservers: [@Sendable (PlayerEvent) -> Void] = []
    }

    private let state = Locked(State())

    /// The newest snapshot.
    var snapshot: PlayerSnapshot { state.withLock { $0.snapshot } }

    /// Calls `observer` after each new snapshot.
    func observe(_ observer: @escaping @Sendable () -> Void) {
        state.withLock { $0.snapshotObservers.append(observer) }
    }

    /// Calls `observer` with each event, in order.
    func observeEvents(_ observer: @escaping @Sendable (PlayerEvent) -> Void) {
        state.withLock { $0.eventObservers.append(observer) }
    }

    func publish(_ snapshot: PlayerSnapshot) {
        let observers = state.withLock { state in
            state.snapshot = snapshot
            return state.snapshotObservers
        }
        for observer in observers { observer() }
    }

    func send(_ event: PlayerEvent) {
        for observer in state.withLock({ $0.eventObservers }) { observer(event) }
    }
}
