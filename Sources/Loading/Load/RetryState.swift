import Media
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

    /// `false` if even a partly stored resource fails after `mostAttempts`: a script is to end with an error
    /// rather than wait until a server is back.
    package var waitsForServer = true

    /// `true` for a part of a stream of segments, whose other parts were played: it waits for the network
    /// without limit, but for its server no longer than a resource of which nothing is stored.
    var isPartOfStream = false

    package init() {}

    /// The time from failure number `attempt` in a row (from 1) to the next attempt. It doubles from
    /// `firstDelay` to `longestDelay`, and `jitter` (0...1) moves it by up to a quarter either way, so that
    /// players that lost the same server do not all retry at the same time.
    func delay(after attempt: Int, jitter: Double) -> Duration {
        let doublings = min(max(0, attempt - 1), 30)
        let base = min(longestDelay, firstDelay * (1 << doublings))
        return min(longestDelay, max(firstDelay, base * (0.75 + 0.5 * min(1, max(0, jitter)))))
    }

    /// How often attempts are repeated after a failure.
    enum Limit {
        /// Waiting does not help.
        case never
        /// `mostAttempts` times.
        case counted
        /// Until an attempt succeeds.
        case endless
    }

    /// How often attempts are repeated, by the cause of the failure. With `hasBytes`, a part of the resource
    /// is stored, and waits for its server or the network for as long as it takes.
    func limit(after error: MediaError, hasBytes: Bool, isOffline: Bool) -> Limit {
        let waits = isPartOfStream ? isOffline : hasBytes && waitsForServer
        switch error.code {
        // Nothing was sent, which says nothing about the server.
        case .offline: return waitsForServer ? .endless : .counted
        // There was no connection.
        case .unknownHost, .connectionRefused, .connectionFailed, .networkUnreachable:
            return waits ? .endless : error.isLasting ? .never : .counted
        // The server answered badly, or too little.
        case .cut, .timedOut, .badAnswer, .httpStatus:
            return error.isLasting ? .never : waits && isOffline ? .endless : .counted
        // A wrong certificate, a redirect loop or a missing library will not change.
        default: return .never
        }
    }

    /// `true` if waiting may help after a refusal with `status` (RFC 9110 §15): a time-out, overload or a
    /// server error.
    static func isWorthWaiting(forStatus status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        // 501 and 505 mean that the server will never support the request.
        case 500...599: status != 501 && status != 505
        default: false
        }
    }
}

/// Decides when requests may be sent after others have failed. Pure; all times are on the caller's clock.
struct RetryState: Sendable {
    /// One attempt, as of its beginning.
    struct Attempt: Sendable {
        /// If several requests of one round fail, one failure is counted.
        let round: Int
        /// `true` if this machine was offline.
        let beganOffline: Bool
    }

    enum Outcome: Equatable {
        /// The next attempt is due at the end of this wait.
        case wait(LoadWait)
        /// Waiting does not help: the reads that waited for this request fail.
        case failed(MediaError)
        /// It was the last attempt, or one after that: all waiting reads fail.
        case givenUp(MediaError)
        /// Nothing changes: another failure of the same round was counted already.
        case unchanged
    }

    private let policy: RetryPolicy
    private var random: SplitMix64
    /// The failures in a row without a byte, for the delay.
    private var failures = 0
    /// Those that count towards the limit.
    private var attempts = 0
    /// The number of the round.
    private var round = 0
    private var lastFailureAt: Duration?
    /// Set while the next attempt is scheduled or in progress; `nil` after progress and after the last
    /// attempt.
    private(set) var wait: LoadWait?
    /// Set after the last attempt; `nil` again after progress.
    private(set) var finalError: MediaError?
    /// `true` if the server's `Retry-After` made the wait longer than our own delay.
    private var isOrdered = false
    /// `true` after a final failure: no background fetches until a missing byte arrives or the network is
    /// back.
    private(set) var isBackgroundHeld = false

    /// `seed` determines the jitter, so that tests can predict it.
    init(policy: RetryPolicy = RetryPolicy(), seed: UInt64) {
        self.policy = policy
        random = SplitMix64(seed: seed)
    }

    /// `true` if the last attempt succeeded, or there was none.
    var isFirst: Bool { wait == nil && finalError == nil }

    func isDue(at now: Duration) -> Bool { finalError == nil && wait.map { now >= $0.retryAt } ?? true }

    /// `true` if a new read may send a request before the next attempt is due.
    func mayTryEarly(at now: Duration) -> Bool {
        if isOrdered, !isDue(at: now) { return false }
        return lastFailureAt.map { now - $0 >= policy.leastPause } ?? true
    }

    /// `true` if one more request may begin. After a failure there is one request at a time, when it is due;
    /// for a new read it may be sent earlier.
    func admitsRequest(isNewRead: Bool, isIdle: Bool, at now: Duration) -> Bool {
        isFirst || (isIdle && (isDue(at: now) || (isNewRead && mayTryEarly(at: now))))
    }

    /// An attempt that begins now.
    func attempt(isOffline: Bool) -> Attempt { Attempt(round: round, beganOffline: isOffline) }

    /// The server sent a final response: it is alive, and the next failure counts as the first.
    mutating func answered() {
        failures = 0
        attempts = 0
        lastFailureAt = nil
        wait = nil
        finalError = nil
        isOrdered = false
    }

    /// A missing byte arrived, or the network is back.
    mutating func progressed() {
        answered()
        isBackgroundHeld = false
    }

    mutating func holdBackground() { isBackgroundHeld = true }

    /// An attempt brought no byte. `attempt` is `nil` if there is only one at a time.
    mutating func failed(
        _ error: MediaError,
        of attempt: Attempt? = nil,
        hasBytes: Bool,
        retryAfter: Duration? = nil,
        network: ConnectivityReport = ConnectivityReport(),
        now: Duration
    ) -> Outcome {
        let attempt = attempt ?? self.attempt(isOffline: false)
        let limit = policy.limit(after: error, hasBytes: hasBytes, isOffline: network.isOffline)
        // A resource of which nothing is stored is not waited for if the machine was offline at its first
        // request: others may be cached.
        let isSkipped =
            attempt.beganOffline && network.isOffline && !hasBytes && isFirst && !policy.isPartOfStream
        guard limit != .never, !isSkipped, !network.isForced else {
            answered()
            isBackgroundHeld = true
            return .failed(error)
        }
        guard attempt.round == round else { return .unchanged }
        round += 1
        isOrdered = false
        if limit == .endless, network.isOffline {
            // The cause of the network's failure says more than the refusal of a request.
            let reason = error.code == .offline ? network.reason ?? error : error
            let shown = MediaError(reason.code, error.subject, reason.cause)
            return waiting(shown, limit, until: max(network.retryAt ?? now, now + policy.firstDelay))
        }
        lastFailureAt = now
        failures += 1
        if limit == .counted { attempts += 1 }
        guard attempts < policy.mostAttempts else {
            let final = givenUp(error)
            wait = nil
            finalError = final
            isBackgroundHeld = true
            return .givenUp(final)
        }
        let delay = policy.delay(after: failures, jitter: random.nextFraction())
        let ordered = retryAfter.map { min($0, policy.longestRetryAfter) } ?? .zero
        isOrdered = ordered > delay
        return waiting(error, limit, until: now + max(delay, ordered))
    }

    private mutating func waiting(
        _ error: MediaError,
        _ limit: RetryPolicy.Limit,
        until time: Duration
    ) -> Outcome {
        let next = LoadWait(
            error: error,
            attempt: max(1, failures),
            mostAttempts: limit == .counted ? policy.mostAttempts : nil,
            retryAt: time
        )
        wait = next
        finalError = nil
        return .wait(next)
    }

    /// `error`, with the number of attempts added to its cause, to report after the last attempt.
    private func givenUp(_ error: MediaError) -> MediaError {
        var error = error
        error.cause = error.cause + SafeText(" (given up after \(attempts) attempts)")
        return error
    }
}
