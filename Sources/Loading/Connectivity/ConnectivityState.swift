package import Media

/// Judges from what requests meet whether the network is there. Pure.
///
/// Offline begins when two different hosts in a row, or the only one known, cannot be reached. It ends
/// as soon as any host answers, whatever it says.
package struct ConnectivityState: Sendable {
    /// What an attempt to send a request may do.
    package enum Pass: Sendable, Equatable {
        case allowed
        /// The one attempt that is let through while offline; its end has to be told.
        case probe
        case refused
    }

    /// How long after a failed attempt the network is tried again. A request that goes nowhere costs little,
    /// and nobody wants to wait much longer than this for a line that is back.
    package static let retryInterval = Duration.seconds(30)

    /// So many refusals or time-outs in a row of the only known host mean that it is away. One can be a
    /// server that starts anew; a name that cannot be found, or no way to the host, is believed at once.
    static let mostRefusals = 3

    package private(set) var report = ConnectivityReport()
    /// Every host that was asked for anything.
    private var known: Set<String> = []
    /// Hosts that could not be reached since any host answered last, with how often in a row.
    private var failing: [String: Int] = [:]
    /// A probe is under way.
    private var isProbing = false

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
        guard !report.isForced else { return }
        report = ConnectivityReport()
    }

    /// A request to `host` failed before its answer; true counts it against the network.
    @discardableResult
    package mutating func failed(_ host: String, _ error: MediaError, as pass: Pass, now: Duration) -> Bool {
        guard let isCertain = Self.isCertain(error) else {
            answered(host)
            return false
        }
        if pass == .probe { isProbing = false }
        known.insert(host)
        failing[host, default: 0] += 1
        guard !report.isForced else { return true }
        if report.isOffline {
            // A host that is tried for the first time puts nothing off.
            if pass == .probe { report.retryAt = now + Self.retryInterval }
        } else if failing.count > 1
            || (known.count == 1 && (isCertain || failing[host, default: 0] >= Self.mostRefusals))
        {
            report.isOffline = true
            report.reason = error
            report.retryAt = now + Self.retryInterval
        }
        return true
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

    /// Whether `error` says by itself that the host cannot be reached; nil when it proves that it can.
    private static func isCertain(_ error: MediaError) -> Bool? {
        switch error.code {
        case .unknownHost, .connectionFailed: true
        case .connectionRefused, .timedOut: false
        default: nil
        }
    }
}
