package import Media

/// Infers from the outcome of requests if the network is available, and which hosts are dead. Pure.
///
/// The state becomes offline when two different hosts in a row, or the only known one, cannot be reached, and
/// at once if this machine has no route or no name server. It becomes online again with any response of any
/// host. A host (with scheme and port) that never answered is dead for a while after two failures of its own:
/// its requests fail at once, and they do not count as signs of a lost network.
package struct ConnectivityState: Sendable {
    /// The decision about one request.
    package enum Pass: Sendable, Equatable {
        case allowed
        /// The request may be sent although the state is offline, as the only one at a time; its outcome must
        /// be reported.
        case probe
        case refused
        /// The host is dead; the value is the error of its last request.
        case dead(MediaError)
    }

    /// The meaning of one failure.
    private enum Sign {
        /// The host responded, with success or an error.
        case reached
        /// Inconclusive: a silent host may be down, or the network may be.
        case nothing
        /// The host cannot be reached. Some such failures count only if they repeat.
        case unreached(isCertain: Bool)
        /// No host can be reached, because of this machine.
        case noNetwork
    }

    /// A host that could not be reached since the last response of any host.
    private struct Failing {
        /// The number of failures in a row.
        var count = 0
        var triedAt = Duration.zero
    }

    /// A host that never answered and is itself at fault.
    private struct Rejecting {
        /// One failure may be a restart of the server.
        private static let mostTries = 2
        /// The kernel takes about this long to report a machine that is off (`EHOSTUNREACH`).
        private static let longestTries = Duration.seconds(3)

        /// The time of the first request that failed.
        let since: Duration
        /// The number of failures, of which those of simultaneous requests count once.
        private(set) var tries = 0
        private(set) var lastFailedAt: Duration
        private(set) var error: MediaError

        init(_ error: MediaError, since: Duration) {
            self.error = error
            self.since = since
            lastFailedAt = since
        }

        mutating func failed(_ error: MediaError, sentAt: Duration, now: Duration) {
            guard tries == 0 || sentAt >= lastFailedAt else { return }
            tries += 1
            self.error = error
            lastFailedAt = now
        }

        var isDead: Bool { tries >= Self.mostTries || lastFailedAt - since >= Self.longestTries }

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

    /// How much longer than `longestPause` the watch waits before it sends a request of its own: a waiting
    /// request goes first, since it brings music too.
    static let precedence = Duration.seconds(1)

    /// The number of refused connections in a row after which the only known host counts as unreachable: a
    /// single one may be a restarting server. An unknown host name, or no route to the host, counts at once.
    static let mostRefusals = 3

    private let infersOffline: Bool
    package private(set) var report = ConnectivityReport()
    /// All hosts that ever responded or could not be reached.
    private var known: Set<String> = []
    /// The hosts that are never dead: they answered, or music of theirs is cached.
    private var neverDead: Set<String> = []
    private var failing: [String: Failing] = [:]
    private var rejecting: [String: Rejecting] = [:]
    /// `true` while a probe is under way.
    private var isProbing = false
    /// The number of failed attempts since the last response of any host. The first failure of a host while
    /// offline is not counted.
    private var inVain = 0
    private var lastInVainAt = Duration.zero

    /// If `isForced`, the state stays offline for good and refuses every request. Without `infersOffline`, it
    /// never becomes offline, and only finds dead hosts.
    package init(isForced: Bool = false, infersOffline: Bool = true) {
        self.infersOffline = infersOffline
        report.isForced = isForced
        report.isOffline = isForced
    }

    /// A request to `host` is about to be sent.
    ///
    /// While offline, a request to a host that has not failed since the last response is allowed: two dead
    /// hosts in a row look like a lost network, and a third host may disprove that.
    package mutating func requested(_ host: String, now: Duration) -> Pass {
        guard !report.isForced else { return .refused }
        if let host = rejecting[host], host.isDead, host.isCurrent(at: now) { return .dead(host.error) }
        guard report.isOffline else { return .allowed }
        guard failing[host] != nil else { return .allowed }
        guard !isProbing, now >= report.retryAt ?? .zero else { return .refused }
        isProbing = true
        return .probe
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
        isProbing = false
        inVain = 0
        guard !report.isForced else { return }
        report = ConnectivityReport()
    }

    /// A request to `host`, sent at `sentAt`, failed before its response. Returns `true` if waiting does not
    /// help, because the host, or the one that it redirected to, is dead.
    @discardableResult
    package mutating func failed(
        _ host: String,
        _ error: MediaError,
        as pass: Pass,
        sentAt: Duration,
        now: Duration
    ) -> Bool {
        guard let origin = error.deadOrigin, mayBeDead(origin) else {
            // If the target of a redirect has failed, the host has answered.
            let hasRedirected = error.deadOrigin.map { $0 != host } ?? false
            if hasRedirected { answered(host) } else { infer(from: error, of: host, as: pass, now: now) }
            return false
        }
        if origin != host {
            // `host` has answered: it redirected the request to `origin`.
            answered(host)
        } else if pass == .probe {
            isProbing = false
            countInVain(now)
        }
        // An unknown host name proves that a name server answered. A refused connection proves nothing: the
        // port may be one of this machine.
        if error.code == .unknownHost, report.reason?.code == .networkUnreachable { networkWorks() }
        rejecting = rejecting.filter { $0.value.isCurrent(at: now) }
        var record = rejecting[origin] ?? Rejecting(error, since: sentAt)
        record.failed(error, sentAt: sentAt, now: now)
        rejecting[origin] = record
        return record.isDead
    }

    /// Infers from `error` if the network is available.
    private mutating func infer(from error: MediaError, of host: String, as pass: Pass, now: Duration) {
        let sign = Self.sign(of: error)
        if case .reached = sign { return answered(host) }
        if pass == .probe { isProbing = false }
        guard !report.isForced else { return }
        if case .nothing = sign {
            if pass == .probe { countInVain(now) }
            return
        }
        known.insert(host)
        let isNewcomer = report.isOffline && failing[host] == nil
        failing[host, default: Failing()].count += 1
        failing[host]?.triedAt = now
        // While offline, the first failure of a host does not prolong the pause.
        if !isNewcomer { countInVain(now) }
        guard infersOffline, !report.isOffline, isAway(sign, host) else { return }
        report.isOffline = true
        report.reason = error
        report.retryAt = now + Self.pause(after: inVain)
    }

    /// A request was cancelled before it succeeded or failed.
    package mutating func cancelled(as pass: Pass) {
        if pass == .probe { isProbing = false }
    }

    /// The user requested something that may not be cached: the next request may be sent, to dead hosts too.
    package mutating func retryNow(now: Duration) {
        rejecting = [:]
        guard report.isOffline, !report.isForced else { return }
        report.retryAt = min(report.retryAt ?? now, now)
    }

    /// `true` if a host could not be reached since the last response of any host.
    package var hasUnreached: Bool { !failing.isEmpty }

    /// The time to probe the network if no request does so before; `nil` if no probe is needed.
    package var idleProbeAt: Duration? {
        guard report.isOffline, !report.isForced, !isProbing, !failing.isEmpty else { return nil }
        return lastInVainAt + Self.longestPause + Self.precedence
    }

    /// The time of `idleProbeAt` has come. Returns the host to probe, the one whose last attempt is the
    /// longest ago; its outcome must be reported as that of a `.probe`. `nil` if it is not time yet.
    package mutating func idled(now: Duration) -> String? {
        guard let due = idleProbeAt, now >= due else { return nil }
        isProbing = true
        return failing.min { ($0.value.triedAt, $0.key) < ($1.value.triedAt, $1.key) }?.key
    }

    private func isAway(_ sign: Sign, _ host: String) -> Bool {
        switch sign {
        case .reached, .nothing: false
        case .noNetwork: true
        case .unreached(let isCertain):
            failing.count > 1
                || (known.count == 1 && (isCertain || failing[host]?.count ?? 0 >= Self.mostRefusals))
        }
    }

    private mutating func countInVain(_ now: Duration) {
        inVain += 1
        lastInVainAt = now
        if report.isOffline { report.retryAt = now + Self.pause(after: inVain) }
    }

    private static func pause(after attempts: Int) -> Duration {
        min(longestPause, firstPause * (1 << min(max(0, attempts - 1), 20)))
    }

    private static func sign(of error: MediaError) -> Sign {
        switch error.code {
        case .networkUnreachable: .noNetwork
        case .unknownHost, .connectionFailed: .unreached(isCertain: true)
        case .connectionRefused: .unreached(isCertain: false)
        // The connection may be an old one, to a host that is no longer reachable.
        case .timedOut: .nothing
        default: .reached
        }
    }
}
