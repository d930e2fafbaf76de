package import Media

/// Infers from the outcome of requests if the network is available, and which hosts are dead. Pure.
///
/// The state becomes offline when two different hosts in a row, or the only known one, cannot be reached, and
/// at once if this machine has no route or no name server. It becomes online again with any response of any
/// host. A host (with scheme and port) that never answered is dead for a while after two failures of its own:
/// its requests fail at once, and they do not count as signs of a lost network.
package struct ConnectivityState: Sendable {
    /// A host that never answered and is itself at fault.
    private struct Rejecting {
        var error: MediaError
        /// The time at which the first request that failed was sent.
        let since: Duration
        /// The number of failures, of which those of simultaneous requests count once.
        var tries = 0
        var lastFailedAt: Duration

        /// One failure may be a restart of the server. The kernel takes about three seconds to report a
        /// machine that is off (`EHOSTUNREACH`).
        var isDead: Bool { tries >= 2 || lastFailedAt - since >= .seconds(3) }

        func isCurrent(at now: Duration) -> Bool { now - lastFailedAt < ConnectivityState.deadTime }
    }

    /// How long a host stays dead. A list of a hundred dead links costs two requests, and a server that is
    /// started later is found soon.
    static let deadTime = Duration.seconds(30)

    /// The first pause between two attempts while offline; it doubles. A restarting name server and a Wi-Fi
    /// that changes its access point need about this long.
    static let firstPause = Duration.milliseconds(250)

    /// The longest pause. A failing request costs little, and when the network is back, playback should
    /// resume soon.
    package static let longestPause = Duration.seconds(30)

    /// The number of refused connections in a row after which the only known host counts as unreachable: a
    /// single one may be a restarting server. An unknown host name, or no route to the host, counts at once.
    static let mostRefusals = 3

    private let infersOffline: Bool
    package private(set) var report = ConnectivityReport()
    /// All hosts that ever responded or could not be reached.
    private var known: Set<String> = []
    /// The hosts that are never dead: they answered, or music of theirs is cached.
    private var neverDead: Set<String> = []
    /// The number of failures of each host that could not be reached since the last response of any host.
    private var failing: [String: Int] = [:]
    private var rejecting: [String: Rejecting] = [:]
    /// The pause after the next attempt while offline.
    private var pause = firstPause

    /// If `isForced`, the state stays offline for good and refuses every request. Without `infersOffline`, it
    /// never becomes offline, and only finds dead hosts.
    package init(isForced: Bool = false, infersOffline: Bool = true) {
        self.infersOffline = infersOffline
        report.isForced = isForced
        report.isOffline = isForced
    }

    /// A request to `host` is about to be sent. Returns the reason why it must not be; `nil` if it may.
    ///
    /// While offline, a request to a host that has not failed since the last response is allowed: two dead
    /// hosts in a row look like a lost network, and a third host may disprove that. One to any other host is
    /// allowed only as the next attempt, after which there is a longer pause.
    package mutating func requested(_ host: String, now: Duration) -> MediaError? {
        guard !report.isForced else {
            return refusal("not cached (offline); play it once without --offline")
        }
        if let host = rejecting[host], host.isDead, host.isCurrent(at: now) { return host.error }
        guard let retryAt = report.retryAt, failing[host] != nil else { return nil }
        guard now >= retryAt else {
            return refusal("not cached, and the network is away; play it again when it is back")
        }
        planAttempt(now)
        return nil
    }

    /// An attempt was due, and no request has moved the next one.
    package mutating func attempted(at now: Duration) {
        if report.retryAt != nil { planAttempt(now) }
    }

    private func refusal(_ cause: SafeText) -> MediaError { MediaError(.offline, "", cause) }

    private mutating func planAttempt(_ now: Duration) {
        report.retryAt = now + pause
        pause = min(Self.longestPause, pause * 2)
    }

    /// `host` responded, or failed in a way that proves that it is reachable.
    package mutating func answered(_ host: String) {
        known.insert(host)
        trust(host)
        networkWorks()
    }

    /// Music of `host` is cached, so that it is never dead.
    package mutating func trust(_ host: String) {
        neverDead.insert(host)
        rejecting[host] = nil
    }

    /// `true` if `host` can be dead.
    package func mayBeDead(_ host: String) -> Bool { !neverDead.contains(host) }

    private mutating func networkWorks() {
        failing = [:]
        pause = Self.firstPause
        if !report.isForced { report = ConnectivityReport() }
    }

    /// A request to `host`, sent at `sentAt`, failed before its response. Returns `true` if waiting does not
    /// help, because the host, or the one that it redirected to, is dead.
    @discardableResult
    package mutating func failed(
        _ host: String,
        _ error: MediaError,
        sentAt: Duration,
        now: Duration
    ) -> Bool {
        // If the target of a redirect has failed, the host has answered.
        let hasRedirected = error.deadOrigin.map { $0 != host } ?? false
        if hasRedirected { answered(host) }
        guard let origin = error.deadOrigin, mayBeDead(origin) else {
            if !hasRedirected { infer(from: error, of: host, now: now) }
            return false
        }
        // An unknown host name proves that a name server answered. A refused connection proves nothing: the
        // port may be one of this machine.
        if error.code == .unknownHost, report.reason?.code == .networkUnreachable { networkWorks() }
        rejecting = rejecting.filter { $0.value.isCurrent(at: now) }
        var record = rejecting[origin] ?? Rejecting(error: error, since: sentAt, lastFailedAt: sentAt)
        if sentAt >= record.lastFailedAt {
            record.tries += 1
            record.error = error
            record.lastFailedAt = now
        }
        rejecting[origin] = record
        return record.isDead
    }

    private mutating func infer(from error: MediaError, of host: String, now: Duration) {
        switch error.code {
        case .networkUnreachable, .unknownHost, .connectionFailed, .connectionRefused: break
        // Inconclusive: a silent host may be down, or the network may be.
        case .timedOut: return
        default: return answered(host)
        }
        known.insert(host)
        failing[host, default: 0] += 1
        guard infersOffline, !report.isOffline, isAway(error, host) else { return }
        report.isOffline = true
        report.reason = error
        planAttempt(now)
    }

    private func isAway(_ error: MediaError, _ host: String) -> Bool {
        if error.code == .networkUnreachable || failing.count > 1 { return true }
        let isCertain = error.code != .connectionRefused || failing[host] ?? 0 >= Self.mostRefusals
        return known.count == 1 && isCertain
    }

    /// The user requested something that may not be cached: the next request may be sent, to dead hosts too.
    package mutating func retryNow(now: Duration) {
        rejecting = [:]
        report.retryAt = report.retryAt.map { min($0, now) }
    }
}
