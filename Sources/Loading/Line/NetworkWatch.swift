package import Media
package import System

/// Sends requests over another transport, to find out if the network is available.
///
/// While online it sends no requests of its own and has no timer. While offline it refuses requests at once,
/// with two exceptions. It sends requests to hosts that have not failed since the last response. And it sends
/// one request from time to time: soon after the first failure, then after growing pauses of up to 30 s, and
/// the next one after `retryNow`. If no attempt fails for 31 s, it requests one byte itself, so that the
/// displayed state stays correct. Call `end` when it is no longer needed.
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
        var observers: [@Sendable (ConnectivityReport) -> Void] = []
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

    deinit { end() }

    package var report: ConnectivityReport { guarded.withLock { $0.state.report } }

    package func retryNow() { step { [now = clock.now] in $0.retryNow(now: now) } }

    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) {
        guarded.withLock { $0.observers.append(observer) }
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
        // Hosts include the port, since one machine may run several servers.
        let host = request.url.host + (request.url.port.map { ":\($0)" } ?? "")
        let pass = guarded.withLock { [now = clock.now] in $0.state.requested(host, now: now) }
        guard pass != .refused else { throw refusal(of: request.url) }
        return try await send(request, to: host, as: pass)
    }

    private func send(
        _ request: RangeRequest,
        to host: String,
        as pass: ConnectivityState.Pass
    ) async throws -> RangeResponse {
        do {
            let response = try await transport.send(request)
            step { $0.answered(host) }
            return response
        } catch let error as MediaError {
            guarded.withLock { $0.unreached[host] = request.url }
            step { [now = clock.now] in $0.failed(host, error, as: pass, now: now) }
            throw error
        } catch {
            step { $0.cancelled(as: pass) }
            throw error
        }
    }

    private func refusal(of url: WebURL) -> MediaError {
        let cause: SafeText =
            report.isForced
            ? "not cached (offline); play it once without --offline"
            : "not cached, and the network is away; play it again when it is back"
        return MediaError(.offline, url.safeText, cause)
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

    /// Passes one event to the state, and reports any change.
    private func step(_ event: @Sendable (inout ConnectivityState) -> Void) {
        let (before, after) = guarded.withLock { guarded in
            let before = guarded.state.report
            event(&guarded.state)
            if !guarded.state.hasUnreached { guarded.unreached = [:] }
            return (before, guarded.state.report)
        }
        adjustTimer()
        guard before != after else { return }
        if before.isOffline != after.isOffline { note(after, before) }
        sendReports()
    }

    /// Sends the newest report to the observers, one at a time, so that an older report never arrives last.
    private func sendReports() {
        while true {
            let next = guarded.withLock {
                guarded -> (report: ConnectivityReport, observers: [@Sendable (ConnectivityReport) -> Void])?
                in
                guard !guarded.isSending, guarded.sent != guarded.state.report else { return nil }
                guarded.isSending = true
                guarded.sent = guarded.state.report
                return (guarded.sent, guarded.observers)
            }
            guard let next else { return }
            for observer in next.observers { observer(next.report) }
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
