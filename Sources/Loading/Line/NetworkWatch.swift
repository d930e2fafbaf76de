package import Media
package import System

/// Sends requests over another transport, to find out if the network is available and which hosts are dead.
///
/// While online it sends no requests of its own and has no timer. While offline it refuses requests at once,
/// with two exceptions: requests to hosts that have not failed since the last response, and one request from
/// time to time, namely soon after the first failure, then after growing pauses of up to 30 s, and the first
/// one after `retryNow`. If no attempt fails for 31 s, it requests one byte itself, so that the displayed
/// state stays correct. Requests to a dead host (see `ConnectivityState`) fail at once with the error of the
/// last one. Call `end` when it is no longer needed.
package final class NetworkWatch: RangeTransport, Connectivity {
    private struct Guarded {
        var state: ConnectivityState
        /// The URL of the last request to each host that was not reached.
        var unreached: [String: WebURL] = [:]
        /// Sleeps until a probe is due.
        var timer: (due: Duration, task: Task<Void, Never>)?
        /// Set while a probe is under way.
        var probe: Task<Void, Never>?
        var hasEnded = false
        /// The last report that was sent to the observers.
        var sent: ConnectivityReport
        /// `true` while a thread sends reports to the observers; it also sends the reports that are made in
        /// the meantime.
        var isSending = false
    }

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

    package func retryNow() { step { [now = clock.now] in $0.state.retryNow(now: now) } }

    @discardableResult
    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) -> Observation {
        observers.add(observer)
    }

    /// Stops sending probes.
    package func end() {
        let tasks = guarded.withLock { guarded in
            guarded.hasEnded = true
            defer { guarded.timer = nil }
            return [guarded.timer?.task, guarded.probe]
        }
        for task in tasks { task?.cancel() }
    }

    package func send(_ request: RangeRequest) async throws -> RangeResponse {
        // Hosts include scheme and port, since one machine may run several servers.
        let host = request.url.origin
        let pass = guarded.withLock { [now = clock.now] in $0.state.requested(host, now: now) }
        switch pass {
        case .allowed, .probe: return try await send(request, to: host, as: pass)
        case .refused: throw unsent(request, .offline, refusal)
        case .dead(let error): throw unsent(request, error.code, error.cause)
        }
    }

    private func send(
        _ request: RangeRequest,
        to host: String,
        as pass: ConnectivityState.Pass
    ) async throws -> RangeResponse {
        let sentAt = clock.now
        do {
            let response = try await transport.send(request)
            step { guarded in
                guarded.state.answered(host)
                if let target = response.answer.redirectedOrigin { guarded.state.answered(target) }
            }
            return response
        } catch var error as MediaError {
            await trustIfCached(error.deadOrigin)
            let isDead = step { [now = clock.now, error] guarded in
                guarded.unreached[host] = request.url
                return guarded.state.failed(host, error, as: pass, sentAt: sentAt, now: now)
            }
            if isDead { error.isLasting = true }
            throw error
        } catch {
            step { $0.state.cancelled(as: pass) }
            throw error
        }
    }

    /// Looks up if music of the host is cached, so that the state need not count it as dead.
    private func trustIfCached(_ origin: String?) async {
        guard let origin, guarded.withLock({ $0.state.mayBeDead(origin) }) else { return }
        if await isCached(origin) { step { $0.state.trust(origin) } }
    }

    private func unsent(_ request: RangeRequest, _ code: MediaError.Code, _ cause: SafeText) -> MediaError {
        var error = MediaError(code, request.url.safeText, cause)
        error.isUnsent = true
        error.isLasting = code != .offline
        return error
    }

    private var refusal: SafeText {
        report.isForced
            ? "not cached (offline); play it once without --offline"
            : "not cached, and the network is away; play it again when it is back"
    }

    // MARK: Probing

    /// Sets, moves or ends the timer as the state requires.
    private func adjustTimer() {
        let earlier = guarded.withLock { guarded -> Task<Void, Never>? in
            let due = guarded.hasEnded ? nil : guarded.state.idleProbeAt
            guard due != guarded.timer?.due else { return nil }
            let earlier = guarded.timer?.task
            guarded.timer = due.map { due in
                let task = Task { [weak self, clock] in
                    guard (try? await clock.sleep(until: due)) != nil else { return }
                    await self?.probe()
                }
                return (due, task)
            }
            return earlier
        }
        earlier?.cancel()
    }

    /// Requests one byte if a probe is due: any response proves that the network is back.
    private func probe() async {
        let asked = guarded.withLock { [now = clock.now] guarded -> (host: String, url: WebURL)? in
            // From here on this task is the probe, so that a new timer can be set.
            guarded.probe = guarded.timer?.task
            guarded.timer = nil
            guard let host = guarded.state.idled(now: now) else { return nil }
            guard let url = guarded.unreached[host] else {
                preconditionFailure("only a host that was asked has failed")
            }
            return (host, url)
        }
        guard let (host, url) = asked else { return adjustTimer() }
        let request = RangeRequest(url: url, range: 0..<1)
        var log = journal.map { RequestLog(request, why: .probe, journal: $0, clock: clock) }
        var end = "complete"
        do {
            let response = try await send(request, to: host, as: .probe)
            log?.answered(response.answer)
            response.body.cancel()
        } catch {
            end = (error as? MediaError)?.code.rawValue ?? "cancelled"
        }
        log?.ended(end)
        guarded.withLock { $0.probe = nil }
    }

    // MARK: Reporting

    /// Passes one event to the state, reports any change, and returns the result of `event`.
    @discardableResult
    private func step<Result: Sendable>(_ event: @Sendable (inout Guarded) -> Result) -> Result {
        let (result, before, after) = guarded.withLock { guarded in
            let before = guarded.state.report
            let result = event(&guarded)
            if !guarded.state.hasUnreached { guarded.unreached = [:] }
            return (result, before, guarded.state.report)
        }
        adjustTimer()
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
