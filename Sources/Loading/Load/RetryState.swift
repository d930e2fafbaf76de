package import Media
import System

/// When and how often failed requests are retried; every number with its reason.
package struct RetryPolicy: Sendable, Equatable {
    /// The first delay. A server that restarts, or a dropped Wi-Fi frame, needs about that long.
    package var firstDelay = Duration.milliseconds(250)

    /// The longest delay. Listeners look at the screen about that often.
    package var longestDelay = Duration.seconds(15)

    /// After this many attempts in a row without a byte, the reads fail. That takes about a minute, which is
    /// as long as the read-ahead lasts.
    package var mostAttempts = 10

    /// The longest `Retry-After` that is obeyed in full. A longer one is cut to this, since it would mean
    /// silence for too long.
    package var longestRetryAfter = Duration.seconds(60)

    /// The least time between a failure and an early request. A seek need not wait until the next attempt is
    /// due, but no matter how often the user seeks, no request is sent before this time has passed.
    package var leastPause = Duration.seconds(1)

    package init() {}

    /// The time from failure number `attempt` in a row (from 1) to the next attempt. It doubles from
    /// `firstDelay` to `longestDelay`, and `jitter` (0...1) moves it by up to a quarter either way, so that
    /// players that lost the same server do not all retry at the same time.
    package func delay(after attempt: Int, jitter: Double) -> Duration {
        let doublings = min(max(0, attempt - 1), 30)
        let base = min(longestDelay, firstDelay * (1 << doublings))
        return min(longestDelay, max(firstDelay, base * (0.75 + 0.5 * min(1, max(0, jitter)))))
    }

    /// `true` if waiting may help after `error`. A wrong certificate, a redirect loop, an endless header or a
    /// missing library will not change. Of the refusals with a status, those that will not are lasting.
    package static func isWorthWaiting(for error: MediaError) -> Bool {
        guard !error.isLasting else { return false }
        return switch error.code {
        case .cut, .timedOut, .connectionRefused, .networkUnreachable, .connectionFailed, .unknownHost,
            .badAnswer, .httpStatus:
            true
        default: false
        }
    }

    /// `true` if waiting may help after a refusal with `status` (RFC 9110 §15): a time-out, overload or a
    /// server error.
    package static func isWorthWaiting(forStatus status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        // 501 and 505 mean that the server will never support the request.
        case 500...599: status != 501 && status != 505
        default: false
        }
    }
}

/// Counts the consecutive attempts that delivered nothing, and decides when the next one is due.
///
/// Has no clock; all times are on the caller's clock.
package struct RetryState: Sendable {
    private let policy: RetryPolicy
    private var random: SplitMix64
    /// Attempts in a row without a byte.
    package private(set) var attempts = 0
    /// Set while the next attempt is scheduled or in progress; `nil` after progress and after the last
    /// attempt.
    package private(set) var wait: LoadWait?
    /// Set after the last attempt; `nil` again after progress.
    package private(set) var finalError: MediaError?
    private var lastFailureAt: Duration?
    /// `true` if the server's `Retry-After` made the wait longer than our own delay.
    private var isOrdered = false

    /// `seed` determines the jitter, so that tests can predict it.
    package init(policy: RetryPolicy = RetryPolicy(), seed: UInt64) {
        self.policy = policy
        random = SplitMix64(seed: seed)
    }

    /// An attempt brought no byte at `now`. Returns the wait for the next one; `nil` if it was the last
    /// attempt, so that the reads fail with `finalError`.
    package mutating func failed(_ error: MediaError, retryAfter: Duration?, now: Duration) -> LoadWait? {
        lastFailureAt = now
        attempts += 1
        guard attempts < policy.mostAttempts else {
            wait = nil
            finalError = givenUp(error)
            return nil
        }
        let delay = policy.delay(after: attempts, jitter: random.nextFraction())
        let ordered = retryAfter.map { min($0, policy.longestRetryAfter) } ?? .zero
        isOrdered = ordered > delay
        wait = LoadWait(
            error: error,
            attempt: attempts,
            mostAttempts: policy.mostAttempts,
            retryAt: now + max(delay, ordered)
        )
        return wait
    }

    /// `network` is unavailable, so the failure says nothing about the server, and does not count. Returns
    /// the wait for the next attempt: until the network is tried again, but at least the first delay.
    package mutating func postponed(
        _ error: MediaError,
        by network: ConnectivityReport,
        now: Duration
    ) -> LoadWait {
        // The cause of the network's failure says more than the refusal of a request.
        let reason = error.code == .offline ? network.reason ?? error : error
        let wait = LoadWait(
            error: MediaError(reason.code, error.subject, reason.cause),
            attempt: max(1, attempts),
            mostAttempts: nil,
            retryAt: max(network.retryAt ?? now, now + policy.firstDelay)
        )
        self.wait = wait
        isOrdered = false
        return wait
    }

    /// An early attempt failed; the next regular one is due as before.
    package mutating func failedEarly(now: Duration) { lastFailureAt = now }

    /// New bytes or a final response arrived: the server is alive, and the next failure counts as the first.
    package mutating func progressed() {
        attempts = 0
        wait = nil
        finalError = nil
        lastFailureAt = nil
        isOrdered = false
    }

    /// `true` if the next attempt is not due yet.
    package func isWaiting(at now: Duration) -> Bool { wait.map { now < $0.retryAt } ?? false }

    /// `true` if a new read may send a request before the next attempt is due.
    package func mayTryEarly(at now: Duration) -> Bool {
        if isOrdered, isWaiting(at: now) { return false }
        return lastFailureAt.map { now - $0 >= policy.leastPause } ?? true
    }

    /// `error`, with the number of attempts added to its cause, to report after the last attempt.
    package func givenUp(_ error: MediaError) -> MediaError {
        var error = error
        error.cause = error.cause + SafeText(" (given up after \(attempts) attempts)")
        return error
    }
}
