package import Media
package import System

/// Knows whether the network is there, from what the requests meet that go through it.
///
/// While online it sends nothing of its own and has no timer. While offline requests are refused at once, but for
/// one from time to time: soon after the first failure, then ever more seldom, down to one every 30 s, and the
/// next one after `retryNow`. When nobody wants anything it asks for one byte itself at that pace, so that what is
/// shown is true. `end` is to be called when it is no longer needed.
package final class NetworkWatch: Connectivity {
    /// Where and how a host was asked last.
    private struct Way {
        var url: WebURL
        var transport: any RangeTransport
    }

    private struct Guarded {
        var state: ConnectivityState
        /// The ways to the hosts that were not reached.
        var ways: [String: Way] = [:]
        /// Sleeps until it is time to ask, while nobody else does.
        var timer: (due: Duration, task: Task<Void, Never>)?
        /// Asks now.
        var probe: Task<Void, Never>?
        var hasEnded = false
        var observers: [@Sendable (ConnectivityReport) -> Void] = []
        /// What the observers know.
        var told: ConnectivityReport
        /// Somebody is telling them; news that come meanwhile are told by the same.
        var isTelling = false
    }

    private let clock: any MonotonicClock
    private let journal: (any RequestJournal)?
    private let numbers: RequestNumbers
    // Guards everything that changes; nothing foreign is called while it is held.
    private let guarded: Locked<Guarded>

    /// `isForced` (`--offline`) refuses every request, for good. `numbers` numbers the watch's own requests among
    /// those of the loaders, for the journal.
    package init(
        clock: any MonotonicClock,
        isForced: Bool = false,
        journal: (any RequestJournal)? = nil,
        numbers: RequestNumbers = RequestNumbers()
    ) {
        self.clock = clock
        self.journal = journal
        self.numbers = numbers
        let state = ConnectivityState(isForced: isForced)
        guarded = Locked(Guarded(state: state, told: state.report))
    }

    deinit { end() }

    package var report: ConnectivityReport { guarded.withLock { $0.state.report } }

    package func retryNow() { step { [now = clock.now] in $0.retryNow(now: now) } }

    package func observe(_ observer: @escaping @Sendable (ConnectivityReport) -> Void) {
        guarded.withLock { $0.observers.append(observer) }
    }

    /// `transport`, watched: what it meets is judged, and while offline it is spared.
    package func guarding(_ transport: any RangeTransport) -> any RangeTransport {
        WatchedTransport(watch: self, transport: transport)
    }

    /// Asks for nothing by itself any more.
    package func end() {
        let tasks = guarded.withLock { guarded in
            guarded.hasEnded = true
            defer { guarded.timer = nil }
            return [guarded.timer?.task, guarded.probe]
        }
        for task in tasks { task?.cancel() }
    }

    fileprivate func send(_ request: RangeRequest, over transport: any RangeTransport) async throws
        -> RangeResponse
    {
        // Ports tell apart the servers of one machine.
        let host = request.url.host + (request.url.port.map { ":\($0)" } ?? "")
        let pass = guarded.withLock { [now = clock.now] in $0.state.requested(host, now: now) }
        guard pass != .refused else { throw refusal(of: request.url) }
        return try await send(request, to: host, over: transport, as: pass)
    }

    private func send(
        _ request: RangeRequest,
        to host: String,
        over transport: any RangeTransport,
        as pass: ConnectivityState.Pass
    ) async throws -> RangeResponse {
        do {
            let response = try await transport.send(request)
            step { $0.answered(host) }
            return response
        } catch let error as MediaError {
            guarded.withLock { $0.ways[host] = Way(url: request.url, transport: transport) }
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

    // MARK: Trying by itself

    /// Sets, moves or ends the timer as the state wants it now.
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

    /// Asks for one byte where that is due; a host that answers is all that it is for.
    private func probe() async {
        let asked = guarded.withLock { [now = clock.now] guarded -> (host: String, way: Way)? in
            // What happens meanwhile moves the timer, which this is no longer.
            guarded.probe = guarded.timer?.task
            guarded.timer = nil
            guard let host = guarded.state.idled(now: now) else { return nil }
            guard let way = guarded.ways[host] else { preconditionFailure("a host that failed was asked") }
            return (host, way)
        }
        guard let (host, way) = asked else { return adjustTimer() }
        let request = RangeRequest(url: way.url, range: 0..<1)
        var log = RequestLog(request, why: .probe, number: numbers.next(), at: clock.now)
        var end = "complete"
        do {
            let response = try await send(request, to: host, over: way.transport, as: .probe)
            log.answered(response.answer, at: clock.now)
            response.body.cancel()
        } catch {
            end = (error as? MediaError)?.code.rawValue ?? "cancelled"
        }
        journal?.record(log.ended(end, at: clock.now))
        guarded.withLock { $0.probe = nil }
    }

    // MARK: Telling

    /// Lets the state take one event, and tells of what that changed.
    private func step(_ event: @Sendable (inout ConnectivityState) -> Void) {
        let (before, after) = guarded.withLock { guarded in
            let before = guarded.state.report
            event(&guarded.state)
            if !guarded.state.hasUnreached { guarded.ways = [:] }
            return (before, guarded.state.report)
        }
        adjustTimer()
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
