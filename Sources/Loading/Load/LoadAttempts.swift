package import Media

/// The state of the network when a request has failed.
package struct NetworkOutlook: Sendable {
    package var report: ConnectivityReport
    /// `true` if the network was already unavailable when the request was made.
    package var wasAway: Bool

    package init(report: ConnectivityReport = ConnectivityReport(), wasAway: Bool = false) {
        self.report = report
        self.wasAway = wasAway
    }
}

/// Decides when requests may be sent after others have failed.
struct LoadAttempts: Sendable {
    /// The reason why a request brought no new byte.
    struct Failure {
        var error: MediaError
        var isWorthWaiting: Bool
        var retryAfter: Duration?
        var network: NetworkOutlook

        /// There was no response: the error alone shows if waiting may help.
        init(_ error: MediaError, network: NetworkOutlook) {
            self.error = error
            isWorthWaiting = RetryPolicy.isWorthWaiting(for: error)
            self.network = network
        }

        init(_ error: MediaError, isWorthWaiting: Bool, retryAfter: Duration?) {
            self.error = error
            self.isWorthWaiting = isWorthWaiting
            self.retryAfter = retryAfter
            network = NetworkOutlook()
        }
    }

    /// The consequence of a failure.
    enum Outcome: Equatable {
        /// The next attempt is due at this time.
        case wait(until: Duration, reason: MediaError)
        /// Waiting does not help: the reads that waited for this request fail.
        case failed(MediaError)
        /// It was the last attempt: all waiting reads fail.
        case givenUp(MediaError)
        /// An early attempt failed after the loader had given up on the server: the waiting reads fail, and
        /// nothing else changes.
        case stillGivenUp(MediaError)
        /// Nothing changes: another failure of the same round was counted already, or the next attempt is due
        /// as before.
        case unchanged
    }

    private let subject: SafeText
    private let firstDelay: Duration
    private var retry: RetryState
    /// The number of counted failures; identifies the round.
    private var round = 0
    /// `true` after a final failure: no background fetches until a missing byte arrives or the network is
    /// back.
    private(set) var isBackgroundHeld = false

    init(subject: SafeText, policy: RetryPolicy, seed: UInt64) {
        self.subject = subject
        firstDelay = policy.firstDelay
        retry = RetryState(policy: policy, seed: seed)
    }

    var wait: LoadWait? { retry.wait }
    /// The error after which the loader gave up on the server; `nil` before that, and after progress.
    var finalError: MediaError? { retry.finalError }

    /// `true` if the last attempt succeeded, or there was none.
    var isFirst: Bool { retry.wait == nil && retry.finalError == nil }

    /// `true` unless the next attempt has to wait.
    func isDue(now: Duration) -> Bool { retry.finalError == nil && !retry.isWaiting(at: now) }

    /// `true` if a new read may send a request although the next attempt is not due.
    func mayTryEarly(now: Duration) -> Bool { retry.mayTryEarly(at: now) }

    /// `true` if one more request may begin. After a failure there is one request at a time, when it is due;
    /// for a new read it may be sent earlier.
    func admitsRequest(isNewRead: Bool, isIdle: Bool, now: Duration) -> Bool {
        guard retry.attempts > 0 || retry.wait != nil else { return true }
        return isIdle && (isDue(now: now) || (isNewRead && mayTryEarly(now: now)))
    }

    /// The kind of attempt of a request that begins now.
    func attempt(now: Duration) -> LoadFetch.Attempt { isDue(now: now) ? .due(round: round) : .early }

    /// The server sent a final response.
    mutating func answered() { retry.progressed() }

    /// A missing byte arrived, or the network is back.
    mutating func progressed() {
        retry.progressed()
        isBackgroundHeld = false
    }

    /// Holds all background fetches until a missing byte arrives or the network is back.
    mutating func holdBackground() { isBackgroundHeld = true }

    /// `fetch` delivered no new byte. `hasStored` is `true` if part of the resource is stored.
    mutating func failed(_ fetch: LoadFetch, _ failure: Failure, hasStored: Bool, now: Duration) -> Outcome {
        let error = failure.error
        let network = failure.network
        let wasRefused = error.code == .offline
        guard failure.isWorthWaiting || wasRefused, !isHopeless(network, hasStored: hasStored) else {
            failedForGood()
            var final = error
            if wasRefused, hasStored { final.cause = "the rest is " + error.cause }
            return .failed(final)
        }
        guard case .due(let fetchRound) = fetch.attempt else {
            retry.failedEarly(now: now)
            return retry.finalError == nil ? .unchanged : .stillGivenUp(retry.givenUp(error))
        }
        guard fetchRound == round else { return .unchanged }
        round += 1
        // If something is stored, the wait for the network has no limit, so that the music continues by
        // itself when the network is back. A refusal because the network is offline sent no request, so it
        // does not count as an attempt.
        if wasRefused || (network.report.isOffline && hasStored) {
            return postpone(error, network.report, now: now)
        }
        if let wait = retry.failed(error, retryAfter: failure.retryAfter, now: now) {
            return .wait(until: wait.retryAt, reason: error)
        }
        isBackgroundHeld = true
        return .givenUp(retry.finalError ?? error)
    }

    /// A request failed for a reason that waiting does not change. The server, if it responded, is alive.
    mutating func failedForGood() {
        isBackgroundHeld = true
        retry.progressed()
    }

    /// `true` if the network must not be used, or if it was unavailable at the first request for a resource
    /// of which nothing is stored. Such a track is skipped, since others may be cached.
    private func isHopeless(_ network: NetworkOutlook, hasStored: Bool) -> Bool {
        if network.report.isForced { return true }
        let isFirstAttempt = retry.attempts == 0 && retry.wait == nil
        return network.wasAway && network.report.isOffline && !hasStored && isFirstAttempt
    }

    /// Waits for the network. The next attempt is at the time that `network` states, but not before the first
    /// delay has passed.
    private mutating func postpone(_ error: MediaError, _ network: ConnectivityReport, now: Duration)
        -> Outcome
    {
        let due = max(network.retryAt ?? now, now + firstDelay)
        // Report the cause of the network failure rather than the refusal.
        let known = error.code == .offline ? retry.wait?.error ?? network.reason ?? error : error
        let reason = MediaError(known.code, subject, known.cause)
        return .wait(until: retry.postponed(reason, until: due).retryAt, reason: reason)
    }
}
