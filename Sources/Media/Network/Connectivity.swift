package import System

/// The state of the network, inferred from the outcome of requests.
package struct ConnectivityReport: Sendable, Equatable {
    /// `true` while the player works offline.
    package var isOffline = false
    /// `true` if the user requested offline mode (`--offline`), in which no request is sent.
    package var isForced = false
    /// The failure that showed that the network is unavailable; `nil` while online.
    package var reason: MediaError?
    /// The time at which the network is tried again, on the loaders' clock; `nil` while online or forced.
    package var retryAt: Duration?

    package init() {}
}

/// Reports if the network is available, and retries it.
package protocol Connectivity: Sendable {
    var report: ConnectivityReport { get }

    /// Allows requests again at once, even if the network is unavailable or the host is dead, because the
    /// user requested something that may not be cached. Never waits.
    func retryNow()

    /// Calls `observer` after each change, from any thread.
    @discardableResult
    func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) -> Observation
}

/// The reason why nothing arrives, and the time of the next attempt.
package struct LoadWait: Sendable, Equatable {
    /// The last failure.
    package var error: MediaError
    /// The number of attempts in a row that brought no byte; at least 1.
    package var attempt: Int
    /// The number of attempts after which the reads fail; `nil` while the network is unavailable, because
    /// that wait has no limit.
    package var mostAttempts: Int?
    /// The time of the next attempt, on the loader's clock.
    package var retryAt: Duration

    package init(error: MediaError, attempt: Int, mostAttempts: Int?, retryAt: Duration) {
        self.error = error
        self.attempt = attempt
        self.mostAttempts = mostAttempts
        self.retryAt = retryAt
    }

    /// The next attempt, as in `2 of 10`; `nil` while attempts are not counted.
    package var nextAttempt: SafeText? {
        mostAttempts.map { SafeText("\(min(attempt + 1, $0)) of \($0)") }
    }
}
