package import Media
package import System

/// Sends requests over another transport, and finds out which hosts are dead and if this machine is offline.
///
/// Requests to a dead host (see `ConnectivityState`) fail at once, unsent, with the error of its last one.
/// While offline, requests are refused with `.offline`, except one from time to time. The watch sends no
/// requests of its own and has no timer.
package final class NetworkWatch: RangeTransport, Connectivity {
    private struct Guarded {
        var state: ConnectivityState
        /// The last report that was sent to the observers.
        var sent: ConnectivityReport
        /// `true` while a thread sends reports to the observers; it also sends the reports that are made in
        /// the meantime.
        var isSending = false
    }

    private let transport: any RangeTransport
    private let clock: any MonotonicClock
    private let journal: (any RequestJournal)?
    // Guards all mutable state; no other code is called while it is held.
    private let guarded: Locked<Guarded>
    private let observers = Observers<ConnectivityReport>()

    /// If `isForced` (`--offline`), refuses every request, for good.
    package init(
        over transport: any RangeTransport,
        clock: any MonotonicClock,
        isForced: Bool = false,
        journal: (any RequestJournal)? = nil
    ) {
        self.transport = transport
        self.clock = clock
        self.journal = journal
        let state = ConnectivityState(isForced: isForced)
        guarded = Locked(Guarded(state: state, sent: state.report))
    }

    package var report: ConnectivityReport { guarded.withLock { $0.state.report } }

    package func retryNow() { step { [now = clock.now] in $0.retryNow(now: now) } }

    @discardableResult
    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) -> Observation {
        observers.add(observer)
    }

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
            let isDead = step { [now = clock.now, error] in
                $0.failed(host, error, sentAt: sentAt, now: now)
            }
            if isDead { error.isLasting = true }
            throw error
        }
    }

    // MARK: Reporting

    /// Passes one event to the state, reports any change, and returns the result of `event`.
    @discardableResult
    private func step<Result: Sendable>(_ event: @Sendable (inout ConnectivityState) -> Result) -> Result {
        let (result, before, after) = guarded.withLock { guarded in
            let before = guarded.state.report
            let result = event(&guarded.state)
            return (result, before, guarded.state.report)
        }
        guard before != after else { return result }
        if before.isOffline != after.isOffline { note(after) }
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

    private func note(_ report: ConnectivityReport) {
        let (decision, text): (JournalRecord.Decision, SafeText) =
            report.reason.map { (.wentOffline, $0.safeText) } ?? (.wentOnline, "a host has answered")
        journal?.record(JournalRecord(time: clock.now, resource: "", event: .decision(decision, text)))
    }
}
