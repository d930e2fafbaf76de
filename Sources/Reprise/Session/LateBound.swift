import Media
import System

/// A value that is made after those who will need it.
final class LateBound<Value: Sendable>: Sendable {
    private let box = Locked<Value?>(nil)

    /// Nil until it is set.
    var value: Value? {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }

    /// The value, which is then gone: of several takers one gets it.
    func take() -> Value? { box.withLock { $0.take() } }
}
