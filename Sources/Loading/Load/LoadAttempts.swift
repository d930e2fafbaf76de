import Media

/// Decides when requests may be sent after others have failed.
struct LoadAttempts: Sendable {
    enum Outcome: Equatable {
        /// The next attempt is due at the end of this wait.
        case wait(LoadWait)
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

    private(set) var retry: RetryState
    /// The number of counted failures; identifies the round.
    private var lastRound = 0
    /// `true` after a final failure: no background fetches until a missing byte arrives or the network is
    /// back.
    private(set) var isBackgroundHeld = false

    init(policy: RetryPolicy, seed: UInt64) { retry = RetryState(policy: policy, seed: seed) }

    /// `true` if the last attempt succeeded, or there was none.
    var isFirst: Bool { retry.wait == nil && retry.finalError == nil }

    func isDue(now: Duration) -> Bool { retry.finalError == nil && !retry.isWaiting(at: now) }

    /// `true` if one more request may begin. After a failure there is one request at a time, when it is due;
    /// for a new read it may be sent earlier.
    func admitsRequest(isNewRead: Bool, isIdle: Bool, now: Duration) -> Bool {
        guard retry.attempts > 0 || retry.wait != nil else { return true }
        return isIdle && (isDue(now: now) || (isNewRead && retry.mayTryEarly(at: now)))
    }

    /// The round of a request that begins now; `nil` if that is before the next attempt is due.
    func round(now: Duration) -> Int? { isDue(now: now) ? lastRound : nil }

    /// The server sent a final response.
    mutating func answered() { retry.progressed() }

    /// A missing byte arrived, or the network is back.
    mutating func progressed() {
        retry.progressed()
        isBackgroundHeld = false
    }

    mutating func holdBackground() { isBackgroundHeld = true }

    /// `fetch` delivered no new byte, because of `error`.
    mutating func failed(
        _ fetch: LoadFetch,
        _ error: MediaError,
        retryAfter: Duration?,
        _ moment: LoadMoment
    ) -> Outcome {
        let now = moment.now
        let hasStored = !moment.stored.isEmpty
        let wasRefused = error.code == .offline
        guard wasRefused || RetryPolicy.isWorthWaiting(for: error),
            hasStored || !isSkipped(fetch, moment.network), !moment.network.isForced
        else {
            // The server, if it responded, is alive.
            retry.progressed()
            isBackgroundHeld = true
            var final = error
            if wasRefused, hasStored { final.cause = "the rest is " + error.cause }
            return .failed(final)
        }
        guard let round = fetch.round else {
            retry.failedEarly(now: now)
            return retry.finalError == nil ? .unchanged : .stillGivenUp(retry.givenUp(error))
        }
        guard round == lastRound else { return .unchanged }
        lastRound += 1
        // If something is stored, the wait for the network has no limit, so that the music continues by
        // itself when the network is back. A refusal because the network is offline sent no request, so it
        // does not count as an attempt.
        if wasRefused || (moment.network.isOffline && hasStored) {
            return .wait(retry.postponed(error, by: moment.network, now: now))
        }
        if let wait = retry.failed(error, retryAfter: retryAfter, now: now) { return .wait(wait) }
        isBackgroundHeld = true
        return .givenUp(retry.finalError ?? error)
    }

    /// `true` if the network was unavailable at the first request for a resource of which nothing is stored.
    /// Such a track is skipped, since others may be cached.
    private func isSkipped(_ fetch: LoadFetch, _ network: ConnectivityReport) -> Bool {
        fetch.beganOffline && network.isOffline && retry.attempts == 0 && retry.wait == nil
    }
}
