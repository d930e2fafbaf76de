package import Media

/// When it is tried again after nothing came, and for how long; every number with its reason.
package struct RetryPolicy: Sendable, Equatable {
    /// The first delay. A server that restarts, or a dropped Wi-Fi frame, needs about that long.
    package var firstDelay = Duration.milliseconds(250)

    /// The longest delay. One looks up from something else that often, and not more seldom.
    package var longestDelay = Duration.seconds(15)

    /// So many attempts in a row without a byte, and the reads fail: after about a minute in all, which is
    /// as long as the read-ahead lasts.
    package var mostAttempts = 10

    /// How long a server's own wish to be left alone (`Retry-After`) is followed. Longer ones would have the
    /// listener sit in silence.
    package var longestRetryAfter = Duration.seconds(60)

    /// A listener who asks for another place need not wait for the next attempt, but a server that just
    /// failed is left alone for so long, however often one seeks.
    package var leastPause = Duration.seconds(1)

    package init() {}

    /// The time from failure number `attempt` in a row (from 1) to the next attempt. It doubles from
    /// `firstDelay` to `longestDelay`, and `jitter` (0...1) moves it by up to a quarter either way, so that
    /// players that lost one server together do not come back together.
    package func delay(after attempt: Int, jitter: Double) -> Duration {
        let doublings = min(max(0, attempt - 1), 30)
        let base = min(longestDelay, firstDelay * (1 << doublings))
        return min(longestDelay, max(firstDelay, base * (0.75 + 0.5 * min(1, max(0, jitter)))))
    }

    /// Whether waiting may change the failure `error` of a request or a body. A wrong certificate, a loop of
    /// redirects, a header without end or a missing library stays what it is.
    package static func isWorthWaiting(for error: MediaError) -> Bool {
        guard !error.isLasting else { return false }
        return switch error.code {
        case .cut, .timedOut, .connectionRefused, .networkUnreachable, .connectionFailed, .unknownHost,
            .badAnswer:
            true
        default: false
        }
    }

    /// Whether waiting may change a refusal with `status` (RFC 9110 §15): time-outs, overload and the server's own
    /// trouble do, all else does not.
    package static func isWorthWaiting(forStatus status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        // 501 and 505 say that the server will never be able to.
        case 500...599: status != 501 && status != 505
        default: false
        }
    }
}
