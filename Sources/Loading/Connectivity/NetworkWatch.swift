package import Media

/// Knows whether the network is there, from what the requests meet that go through it.
///
/// It has no timer and sends nothing of its own: while offline, requests are refused at once, but for
/// one every 30 s, and the next one after `retryNow`. So an idle player stays idle, and the loaders' own
/// retries find the network when it is back.
package final class NetworkWatch: Connectivity {
    private struct Guarded {
        var state: ConnectivityState
        var observers: [@Sendable (ConnectivityReport) -> Void] = []
        /// What the observers know.
        var told: ConnectivityReport
        /// Somebody is telling them; news that come meanwhile are told by the same.
        var isTelling = false
    }

    private let clock: any MonotonicClock
    private let journal: (any RequestJournal)?
    private let guarded: Locked<Guarded>

    /// `isForced` (`--offline`) refuses every request, for good.
    package init(clock: any MonotonicClock, isForced: Bool = false, journal: (any RequestJournal)? = nil) {
        self.clock = clock
        self.journal = journal
        let state = ConnectivityState(isForced: isForced)
        guarded = Locked(Guarded(state: state, told: state.report))
    }

    package var report: ConnectivityReport { guarded.withLock { $0.state.report } }

    package func retryNow() { step { [now = clock.now] in $0.retryNow(now: now) } }

    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) {
        guarded.withLock { $0.observers.append(observer) }
    }

    /// `transport`, watched: what it meets is judged, and while offline it is spared.
    package func guarding(_ transport: any RangeTransport) -> any RangeTransport {
        WatchedTransport(watch: self, transport: transport)
    }

    fileprivate func send(_ request: RangeRequest, over transport: any RangeTransport) async throws
        -> RangeResponse
    {
        // Ports tell apart the servers of one machine.
        let host = request.url.host + (request.url.port.map { ":\($0)" } ?? "")
        let pass = guarded.withLock { [now = clock.now] in $0.state.requested(host, now: now) }
        guard pass != .refused else { throw refusal(of: request.url) }
        do {
            let response = try await transport.send(request)
            step { $0.answered(host) }
            return response
        } catch let error as MediaError {
            step { [now = clock.now] in $0.failed(host, error, as: pass, now: now) }
            throw error
        } catch {
            step { $0.cancelled(as: pass) }
            throw error
        }
    }

    private func refusal(of url: WebURL) -> MediaError {
        let report = report
        guard !report.isForced else {
            let cause: SafeText =
                "is not in the cache, and --offline asks for no network; play it once without --offline"
            return MediaError(.offline, url.safeText, cause)
        }
        let cause: SafeText = "is not in the cache, and the network is away; play it again when it is back"
        return MediaError(.offline, url.safeText, cause)
    }

    /// Lets the state take one event, and tells of what that changed.
    private func step(_ event: @Sendable (inout ConnectivityState) -> Void) {
        let (before, after) = guarded.withLock { guarded in
            let before = guarded.state.report
            event(&guarded.state)
            return (before, guarded.state.report)
        }
        guard before != after else { return }
        if before.isOffline != after.isOffline { note(after, before) }
        tell()
    }

    /// Tells the observers of the newest report, one at a time, so that an older one never comes last.
    private func tell() {
        while true {
            let news = guarded.withLock {
                guarded -> (report: ConnectivityReport, observers: [@Sendable (ConnectivityReport) -> Void])?
                in
                guard !guarded.isTelling, guarded.told != guarded.state.report else { return nil }
                guarded.isTelling = true
                guarded.told = guarded.state.report
                return (guarded.told, guarded.observers)
            }
            guard let news else { return }
            for observer in news.observers { observer(news.report) }
            guarded.withLock { $0.isTelling = false }
        }
    }

    private func note(_ report: ConnectivityReport, _ before: ConnectivityReport) {
        guard let journal else { return }
        let reason = (report.reason ?? before.reason)?.safeText ?? "the network"
        let event: JournalRecord.Event =
            report.isOffline
            ? .decision(.wentOffline, reason) : .decision(.wentOnline, "a host has answered")
        journal.record(JournalRecord(time: clock.now, resource: "", event: event))
    }
}

private struct WatchedTransport: RangeTransport {
    let watch: NetworkWatch
    let transport: any RangeTransport

    func send(_ request: RangeRequest) async throws -> RangeResponse {
        try await watch.send(request, over: transport)
    }
}
