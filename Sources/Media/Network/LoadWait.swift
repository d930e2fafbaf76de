/// Why nothing comes at the moment, and when it is tried again.
package struct LoadWait: Sendable, Equatable {
    /// The last failure.
    package var error: MediaError
    /// How many attempts in a row brought no byte; at least 1.
    package var attempt: Int
    /// How many there will be before the reads fail.
    package var mostAttempts: Int
    /// When the next attempt begins, on the loader's clock.
    package var retryAt: Duration

    package init(error: MediaError, attempt: Int, mostAttempts: Int, retryAt: Duration) {
        self.error = error
        self.attempt = attempt
        self.mostAttempts = mostAttempts
        self.retryAt = retryAt
    }
}
