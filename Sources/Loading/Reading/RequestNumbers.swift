import Media
import System

/// Numbers the requests of a process in the order in which they are sent, for the journal.
package final class RequestNumbers: Sendable {
    private let last = Locked(0)

    package init() {}

    /// The next number, from 1.
    package func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
