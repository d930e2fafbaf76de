package import Media

/// Infers from failed requests if this machine is offline, and which hosts are dead. Pure.
///
/// The state becomes offline when this machine has no route, or no name server that answers, and online again
/// with any response of any host. A host (with scheme and port) that never answered is dead after two
/// failures of its own, until it answers: its requests fail at once, except one every 30 s.
package struct ConnectivityState: Sendable {
    /// A host that never answered and is itself at fault.
    private struct Silent {
        var error: MediaError
        /// The time at which the first request that failed was sent.
        let since: Duration
        /// The number of failures, of which those of simultaneous requests count once.
        var tries = 0
        var lastFailedAt: Duration

        /// One failure may be a restart of the server. The kernel takes about three seconds to report a
        /// machine that is off (`EHOSTUNREACH`).
        var isDead: Bool { tries >= 2 || lastFailedAt - since >= .seconds(3) }
    }

    /// How long after a failure a dead host is tried again. A list of a hundred dead links costs two
    /// requests, and a server that is started later is found soon.
    static let deadTime = Duration.seconds(30)

    /// The first pause between two attempts while offline; it doubles. A restarting name server and a Wi-Fi
    /// that changes its access point need about this long.
    static let firstPause = Duration.milliseconds(250)

    /// The longest pause. A failing request costs little, and when the network is back, playback should
    /// resume soon.
    package static let longestPause = Duration.seconds(30)

    package private(set) var report = ConnectivityReport()
    private var answering: Set<String> = []
    private var silent: [String: Silent] = [:]
    /// The hosts that could not be reached since this machine went offline.
    private var missed: Set<String> = []
    /// The pause after the next attempt while offline.
    private var pause = firstPause

    /// If `isForced`, the state stays offline for good and refuses every request.
    package init(isForced: Bool = false) {
        report.isForced = isForced
        report.isOffline = isForced
    }

    /// A request to `host` is about to be sent. Returns the reason why it must not be; `nil` if it may.
    ///
    /// While offline, each host is tried once, since only the name servers of one domain may be silent. After
    /// that, only the next attempt that is due is allowed, after which there is a longer pause.
    package mutating func requested(_ host: String, now: Duration) -> MediaError? {
        guard !report.isForced else {
            return refusal("not cached (offline); play it once without --offline")
        }
        if let silent = silent[host], silent.isDead, now - silent.lastFailedAt < Self.deadTime {
            return silent.error
        }
        guard let retryAt = report.retryAt, missed.contains(host) else { return nil }
        guard now >= retryAt else {
            return refusal("not cached, and the network is away; play it again when it is back")
        }
        planAttempt(now)
        return nil
    }

    private func refusal(_ cause: SafeText) -> MediaError { MediaError(.offline, "", cause) }

    private mutating func planAttempt(_ now: Duration) {
        report.retryAt = now + pause
        pause = min(Self.longestPause, pause * 2)
    }

    /// `host` responded, or failed in a way that proves that it is reachable.
    package mutating func answered(_ host: String) {
        answering.insert(host)
        silent[host] = nil
        networkWorks()
    }

    private mutating func networkWorks() {
        missed = []
        pause = Self.firstPause
        if !report.isForced { report = ConnectivityReport() }
    }

    /// A request to `host`, sent at `sentAt`, failed before its response. Returns `true` if the host, or the
    /// one that it redirected to, is dead.
    @discardableResult
    package mutating func failed(
        _ host: String,
        _ error: MediaError,
        sentAt: Duration,
        now: Duration
    ) -> Bool {
        let origin = error.deadOrigin ?? host
        // If the target of a redirect has failed, the host has answered.
        if origin != host { answered(host) }
        switch error.code {
        case .networkUnreachable:
            missed.insert(host)
            guard !report.isOffline else { return false }
            report.isOffline = true
            report.reason = error
            planAttempt(now)
        case .unknownHost, .connectionRefused, .connectionFailed:
            guard error.deadOrigin != nil else { return false }
            // An unknown host name proves that a name server answered. A refused connection proves nothing:
            // the port may be one of this machine.
            if error.code == .unknownHost { networkWorks() }
            guard !answering.contains(origin) else { return false }
            var record = silent[origin] ?? Silent(error: error, since: sentAt, lastFailedAt: sentAt)
            if sentAt >= record.lastFailedAt {
                record.tries += 1
                record.error = error
                record.lastFailedAt = now
            }
            silent[origin] = record
            return record.isDead
        // A host that accepts connections and does not answer proves nothing.
        case .timedOut: break
        default: answered(host)
        }
        return false
    }

    /// The user requested something that may not be cached: the next request may be sent, to dead hosts too.
    package mutating func retryNow(now: Duration) {
        silent = [:]
        report.retryAt = report.retryAt.map { min($0, now) }
    }
}
