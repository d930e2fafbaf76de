package import Media

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

    /// What is known of the network when a request has failed.
    package struct NetworkOutlook: Sendable {
        package var report: ConnectivityReport
        /// Whether it was away already when the request was made.
        package var wasAway: Bool

        package init(report: ConnectivityReport = ConnectivityReport(), wasAway: Bool = false) {
            self.report = report
            self.wasAway = wasAway
        }
    }

    /// `fetch` brought no new byte. Waits for the next attempt, or fails the reads.
    mutating func attemptFailed(
        _ fetch: Fetch,
        _ error: MediaError,
        isWorthWaiting: Bool,
        retryAfter: Duration? = nil,
        network: NetworkOutlook = NetworkOutlook()
    ) -> [Action] {
        let wasRefused = error.code == .offline
        guard isWorthWaiting || wasRefused, !isHopeless(network) else { return failForGood(fetch, error) }
        // While something of it is here it waits for the network, for as long as that takes: music that goes on by
        // itself is better than none. Where nothing was sent nothing was tried.
        let isPostponed = wasRefused || (network.report.isOffline && !stored.isEmpty)
        guard !fetch.isEarly else {
            retry.failedEarly(now: now)
            guard retry.surrender != nil else { return plan() }
            return failWaiting(retry.givenUp(error)) + plan()
        }
        guard fetch.round == round else { return plan() }
        round += 1
        if isPostponed { return postpone(error, network.report) }
        if let wait = retry.failed(error, retryAfter: retryAfter, now: now) {
            return [.decided(.retryLater, error.safeText), .wakeAt(wait.retryAt)] + plan()
        }
        isBackgroundHeld = true
        let surrender = retry.surrender ?? error
        return [.decided(.gaveUp, surrender.safeText)] + failWaiting(surrender) + plan()
    }

    /// Whether nothing is to be waited for: the network is not to be used, or was known to be away when music of
    /// which nothing is here was first asked for. That is skipped, while other music may be here.
    private func isHopeless(_ network: NetworkOutlook) -> Bool {
        if network.report.isForced { return true }
        let isFirstAttempt = retry.attempts == 0 && retry.wait == nil
        return network.wasAway && network.report.isOffline && stored.isEmpty && isFirstAttempt
    }

    /// Waits for the network, which is tried again at the time that `network` tells.
    private mutating func postpone(_ error: MediaError, _ network: ConnectivityReport) -> [Action] {
        let due = max(network.retryAt ?? now, now + settings.retry.firstDelay)
        // A refusal says nothing new; why the network is away does.
        let known = error.code == .offline ? retry.wait?.error ?? network.reason ?? error : error
        let reason = MediaError(known.code, subject, known.cause)
        let wait = retry.postponed(reason, until: due)
        return [.decided(.retryLater, reason.safeText), .wakeAt(wait.retryAt)] + plan()
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
        guard retry.attempts > 0 || retry.wait != nil else { return true }
        guard fetches.isEmpty else { return false }
        return isDue || (early && retry.mayTryEarly(at: now))
    }

    /// Whether the next attempt's time has come.
    var isDue: Bool { retry.surrender == nil && !retry.isWaiting(at: now) }
}
