/// Why nothing comes at the moment, and when it is tried again.
package struct LoadWait: Sendable, Equatable {
    /// The last failure.
    package var error: MediaError
    /// How many attempts in a row brought no byte; at least 1.
    package var attempt: Int
    /// How many there will be before the reads fail; nil while the network is away, which is waited for as long as
    /// it takes.
    package var mostAttempts: Int?
    /// When the next attempt begins, on the loader's clock.
    package var retryAt: Duration

    package init(error: MediaError, attempt: Int, mostAttempts: Int?, retryAt: Duration) {
        self.error = error
        self.attempt = attempt
        self.mostAttempts = mostAttempts
        self.retryAt = retryAt
    }

    /// Which attempt is the next, as in `2 of 10`; nil while they are not counted.
    package var nextAttempt: SafeText? {
        mostAttempts.map { SafeText("\(min(attempt + 1, $0)) of \($0)") }
    }
}
