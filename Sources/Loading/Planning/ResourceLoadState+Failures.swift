import Media

// What happens when nothing comes.
extension ResourceLoadState {
    /// The time that `.wakeAt` named has come.
    package mutating func timeCame() -> [Action] { plan() }

    /// The network is there again: who waits tries at once.
    package mutating func networkReturned() -> [Action] {
        retry.progressed()
        isBackgroundHeld = false
        return plan()
    }

    /// `fetch` brought no new byte. Waits for the next attempt, or fails the reads.
    mutating func attemptFailed(
        _ fetch: Fetch,
        _ error: MediaError,
        isWorthWaiting: Bool,
        retryAfter: Duration? = nil,
        network: ConnectivityReport = ConnectivityReport()
    ) -> [Action] {
        // While something of it is here, music that waits for the network is better than none.
        let isAway = error.code == .offline && network.isOffline
        let isHopeless = network.isForced || (network.isOffline && stored.isEmpty)
        guard isWorthWaiting || isAway, !isHopeless else { return failForGood(fetch, error) }
        guard !fetch.isEarly else {
            retry.failedEarly(now: now)
            guard retry.surrender != nil else { return plan() }
            return failWaiting(retry.givenUp(error)) + plan()
        }
        guard fetch.round == round else { return plan() }
        round += 1
        if let wait = retry.failed(error, retryAfter: retryAfter, now: now) {
            return [.decided(.retryLater, error.safeText), .wakeAt(wait.retryAt)] + plan()
        }
        isBackgroundHeld = true
        let surrender = retry.surrender ?? error
        return [.decided(.gaveUp, surrender.safeText)] + failWaiting(surrender) + plan()
    }

    /// `fetch` failed with what waiting does not change: the server, if it was one, is no dead one.
    mutating func failForGood(_ fetch: Fetch, _ error: MediaError) -> [Action] {
        isBackgroundHeld = true
        retry.progressed()
        let failures = failReads(error) { fetch.isWhole || fetch.remaining.contains($0) }
        return failures + plan()
    }

    /// Fails every waiting read that nothing under way will answer.
    private mutating func failWaiting(_ error: MediaError) -> [Action] {
        let coming = fetches.values.map(\.remaining)
        return failReads(error) { offset in !coming.contains { $0.contains(offset) } }
    }

    /// Whether one more request may begin. After a failure there is one at a time, when its time has come; for a
    /// read that comes newly also before.
    func admitsRequest(early: Bool) -> Bool {
        guard retry.attempts > 0 else { return true }
        guard fetches.isEmpty else { return false }
        return isDue || (early && retry.mayTryEarly(at: now))
    }

    /// Whether the next attempt's time has come.
    var isDue: Bool { retry.attempts == 0 || (retry.surrender == nil && !retry.isWaiting(at: now)) }
}
