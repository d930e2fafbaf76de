package import Media

/// Judges from what requests meet whether the network is there. Pure.
///
/// Offline begins when two different hosts in a row, or the only one known, cannot be reached, and at once when
/// this machine has no way out. It ends as soon as any host answers, whatever it says.
package struct ConnectivityState: Sendable {
    /// What an attempt to send a request may do.
    package enum Pass: Sendable, Equatable {
        case allowed
        /// The one attempt that is let through while offline; its end has to be told.
        case probe
        case refused
    }

    /// What a failure says of the network.
    private enum Sign {
        /// The host is there: it answered, well or badly.
        case reached
        /// Nothing: a host that says no more may have gone, and so may the way to it.
        case nothing
        /// The host cannot be reached. Some such failures are believed only when they come again.
        case unreached(isCertain: Bool)
        /// No host can be reached.
        case noNetwork
    }

    /// A host that could not be reached since any host answered last.
    private struct Failing {
        /// How often in a row.
        var count = 0
        var triedAt = Duration.zero
    }

    /// The first pause between two attempts while offline; it doubles. A name server that starts anew, and a Wi-Fi
    /// that changes its station, need about so long.
    static let firstPause = Duration.milliseconds(250)

    /// The longest pause. A request that goes nowhere costs little, and nobody wants to wait much longer than this
    /// for a line that is back.
    package static let longestPause = Duration.seconds(30)

    /// So much later than somebody who wants something the watch tries by itself, since their attempt brings music too.
    static let precedence = Duration.seconds(1)

    /// So many refusals in a row of the only known host mean that it is away. One can be a server that starts
    /// anew; a name that cannot be found, or no way to the host, is believed at once.
    static let mostRefusals = 3

    package private(set) var report = ConnectivityReport()
    /// Every host that was asked for anything.
    private var known: Set<String> = []
    private var failing: [String: Failing] = [:]
    /// A probe is under way.
    private var isProbing = false
    /// Attempts in vain since any host answered last, without those of hosts that were tried for the first time.
    private var inVain = 0
    private var lastInVainAt = Duration.zero

    /// `isForced` stays offline for good and lets nothing through.
    package init(isForced: Bool = false) {
        report.isForced = isForced
        report.isOffline = isForced
    }

    /// Somebody wants to send a request to `host`.
    ///
    /// While offline a host that was not tried since is let through: two dead hosts in a row look like no network,
    /// and the third one may prove that wrong.
    package mutating func requested(_ host: String, now: Duration) -> Pass {
        guard report.isOffline else { return .allowed }
        guard !report.isForced else { return .refused }
        guard failing[host] != nil else { return .allowed }
        guard !isProbing, now >= report.retryAt ?? .zero else { return .refused }
        isProbing = true
        return .probe
    }

    /// `host` answered, or broke off in a way that proves it is there.
    package mutating func answered(_ host: String) {
        known.insert(host)
        failing = [:]
        isProbing = false
        inVain = 0
        guard !report.isForced else { return }
        report = ConnectivityReport()
    }

    /// A request to `host` failed before its answer.
    package mutating func failed(_ host: String, _ error: MediaError, as pass: Pass, now: Duration) {
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
        // A host that is tried for the first time puts nothing off.
        if !isNewcomer { countInVain(now) }
        guard !report.isOffline, isAway(sign, host) else { return }
        report.isOffline = true
        report.reason = error
        report.retryAt = now + Self.pause(after: inVain)
    }

    /// A request was cancelled before it met anything.
    package mutating func cancelled(as pass: Pass) {
        if pass == .probe { isProbing = false }
    }

    /// The listener wants something: the next attempt is let through.
    package mutating func retryNow(now: Duration) {
        guard report.isOffline, !report.isForced else { return }
        report.retryAt = min(report.retryAt ?? now, now)
    }

    /// Whether a host could not be reached since any answered last.
    package var hasUnreached: Bool { !failing.isEmpty }

    /// When the network is to be tried although nobody wants anything of it; nil while there is no need to.
    package var idleProbeAt: Duration? {
        guard report.isOffline, !report.isForced, !isProbing, !failing.isEmpty else { return nil }
        return lastInVainAt + Self.longestPause + Self.precedence
    }

    /// Nobody may have wanted anything for long. Returns the host to ask, the one that was not asked for longest,
    /// where it is time to: then its end has to be told, as that of a `.probe`.
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
        // The connection may be an old one, to a host that can no longer be reached.
        case .timedOut: .nothing
        default: .reached
        }
    }
}
