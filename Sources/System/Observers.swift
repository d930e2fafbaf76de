/// The observers of something that changes, any number of them. All calls may be made from any thread.
package final class Observers<Event: Sendable>: Sendable {
    package typealias Observer = @Sendable (Event) -> Void

    private struct State {
        /// In the order in which they were added.
        var observers: [(number: Int, observer: Observer)] = []
        var lastNumber = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Calls `observer` with each event from now on, on the thread that sends it, until the returned
    /// observation ends.
    package func add(_ observer: @escaping Observer) -> Observation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.observers.append((state.lastNumber, observer))
            return state.lastNumber
        }
        return Observation { [weak self] in
            self?.state.withLock { $0.observers.removeAll { $0.number == number } }
        }
    }

    /// Calls every observer, in the order in which they were added. An observer may add or end observations.
    package func send(_ event: Event) {
        for (_, observer) in state.withLock({ $0.observers }) { observer(event) }
    }
}

/// An observer that was added. It stays as long as what it observes, unless `end` removes it.
package struct Observation: Sendable {
    private let remove: @Sendable () -> Void

    package init(remove: @escaping @Sendable () -> Void) { self.remove = remove }

    /// Removes the observer. An event that another thread is sending may still reach it.
    package func end() { remove() }
}
