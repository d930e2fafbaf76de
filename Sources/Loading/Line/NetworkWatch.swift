package import Media
package import System

/// Sends requests over another transport, to find out if the network is available and which hosts are dead.
///
/// While online it sends no requests of its own and has no timer. While offline it refuses requests at once,
/// with two exceptions: requests to hosts that have not failed since the last response, and one request from
/// time to time, namely soon after the first failure, then after growing pauses of up to 30 s, and the first
/// one after `retryNow`. If no such request is made, it requests one byte itself a second later, so that the
/// displayed state stays correct. Requests to a dead host (see `ConnectivityState`) fail at once with the
/// error of the last one. Call `end` when it is no longer needed.
package final class NetworkWatch: RangeTransport, Connectivity {
    private struct Guarded {
        var state: ConnectivityState
        /// Requests a byte from time to time; `nil` while online.
        var probing: Task<Void, Never>?
        /// The last report that was sent to the observers.
        var sent: ConnectivityReport
        /// `true` while a thread sends reports to the observers; it also sends the reports that are made in
        /// the meantime.
        var isSending = false
    }

    /// How long after an attempt is due the watch makes it itself: a waiting request goes first, since it
    /// brings music too.
    private static let precedence = Duration.seconds(1)

    private let transport: any RangeTransport
    private let clock: any MonotonicClock
    private let journal: (any RequestJournal)?
    private let isCached: @Sendable (_ origin: String) async -> Bool
    // Guards all mutable state; no other code is called while it is held.
    private let guarded: Locked<Guarded>
    private let observers = Observers<ConnectivityReport>()

    /// If `isForced` (`--offline`), refuses every request, for good. Without `infersOffline`, refuses only
    /// requests to dead hosts. `isCached` returns `true` if music of a server is cached; it is called only
    /// after a failure that may mean that the server is dead.
    package init(
        over transport: any RangeTransport,
        clock: any MonotonicClock,
        isForced: Bool = false,
        infersOffline: Bool = true,
        journal: (any RequestJournal)? = nil,
        isCached: @escaping @Sendable (_ origin: String) async -> Bool = { _ in false }
    ) {
        self.transport = transport
        self.clock = clock
        self.journal = journal
        self.isCached = isCached
        let state = ConnectivityState(isForced: isForced, infersOffline: infersOffline)
        guarded = Locked(Guarded(state: state, sent: state.report))
    }

    deinit { end() }

    package var report: ConnectivityReport { guarded.withLock { $0.state.report } }

    package func retryNow() { step { [now = clock.now] in $0.retryNow(now: now) } }

    @discardableResult
    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) -> Observation {
        observers.add(observer)
    }

    /// Stops sending probes.
    package func end() { guarded.withLock { $0.probing.take() }?.cancel() }

    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        // Hosts include scheme and port, since one machine may run several servers.
        let host = request.url.origin
        let sentAt = clock.now
        if var refusal = step({ $0.requested(host, now: sentAt) }) {
            refusal.subject = request.url.safeText
            refusal.isUnsent = true
            refusal.isLasting = refusal.code != .offline
            throw refusal
        }
        do {
            let response = try await transport.send(request)
            step { state in
                state.answered(host)
                if let target = response.answer.redirectedOrigin { state.answered(target) }
            }
            return response
        } catch var error as MediaError {
            await trustIfCached(error.deadOrigin)
            let isDead = step { [now = clock.now, error] in
                $0.failed(host, error, sentAt: sentAt, now: now)
            }
            if isDead { error.isLasting = true }
            if report.isOffline { startProbing(request.url) }
            throw error
        }
    }

    /// Looks up if music of the host is cached, so that the state need not count it as dead.
    private func trustIfCached(_ origin: String?) async {
        guard let origin, guarded.withLock({ $0.state.mayBeDead(origin) }) else { return }
        if await isCached(origin) { step { $0.trust(origin) } }
    }

    // MARK: Probing

    /// Requests one byte of `url` whenever no other request makes an attempt that is due, until the network
    /// is back: any response proves that it is.
    private func startProbing(_ url: WebURL) {
        guarded.withLock { guarded in
            guard guarded.probing == nil, guarded.state.report.retryAt != nil else { return }
            guarded.probing = Task { [weak self, clock] in
                while let due = self?.report.retryAt {
                    let time = max(due, clock.now) + Self.precedence
                    guard (try? await clock.sleep(until: time)) != nil else { return }
                    if self?.report.retryAt == due { await self?.probe(url) }
                    // No request to a dead host is sent, so none has moved the next attempt.
                    if self?.report.retryAt == due {
                        self?.step { [now = clock.now] in $0.attempted(at: now) }
                    }
                }
            }
        }
    }

    private func probe(_ url: WebURL) async {
        let request = RangeRequest(url: url, range: 0..<1)
        var log = journal.map { RequestLog(request, urgency: .probe, journal: $0, clock: clock) }
        do {
            let response = try await send(request)
            log?.answered(response.answer)
            response.body.cancel()
            log?.ended("complete")
        } catch {
            log?.failed(error)
        }
    }

    // MARK: Reporting

    /// Passes one event to the state, reports any change, and returns the result of `event`.
    @discardableResult
    private func step<Result: Sendable>(_ event: @Sendable (inout ConnectivityState) -> Result) -> Result {
        let (result, before, after, probing) = guarded.withLock { guarded in
            let before = guarded.state.report
            let result = event(&guarded.state)
            let after = guarded.state.report
            return (result, before, after, after.isOffline ? nil : guarded.probing.take())
        }
        probing?.cancel()
        guard before != after else { return result }
        if before.isOffline != after.isOffline { note(after, before) }
        sendReports()
        return result
    }

    /// Sends the newest report to the observers, one at a time, so that an older report never arrives last.
    private func sendReports() {
        while true {
            let next = guarded.withLock { guarded -> ConnectivityReport? in
                guard !guarded.isSending, guarded.sent != guarded.state.report else { return nil }
                guarded.isSending = true
                guarded.sent = guarded.state.report
                return guarded.sent
            }
            guard let next else { return }
            observers.send(next)
            guarded.withLock { $0.isSending = false }
        }
    }

    private func note(_ report: ConnectivityReport, _ before: ConnectivityReport) {
        let (decision, text): (JournalRecord.Decision, SafeText) =
            report.isOffline
            ? (.wentOffline, (report.reason ?? before.reason)?.safeText ?? "the network")
            : (.wentOnline, "a host has answered")
        journal?.record(JournalRecord(time: clock.now, resource: "", event: .decision(decision, text)))
    }
}
