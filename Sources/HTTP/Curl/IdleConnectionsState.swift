/// How long the curl thread may sleep, and when it closes the connections that nobody uses.
///
/// Only while there is no transfer at all: with one, libcurl itself closes what has been idle for too long
/// whenever another begins (`CURLOPT_MAXAGE_CONN`).
struct IdleConnectionsState {
    enum Action: Equatable {
        /// Sleep for this long at most; wake-ups, sockets and libcurl's own timers end it earlier.
        case wait(milliseconds: Int32)
        case close
    }

    /// Only bounds the waiting for sockets.
    static let longestWait: Int32 = 60_000

    private enum State {
        /// No connection can be open.
        case closed
        case inUse
        case idle(since: Duration)
    }

    private let longestIdle: Duration
    private var state = State.closed

    init(longestIdle: Duration) {
        self.longestIdle = longestIdle
    }

    /// The thread has done what there was to do. `now` is on the injected clock.
    mutating func looked(hasTransfers: Bool, now: Duration) -> Action {
        if hasTransfers {
            state = .inUse
            return .wait(milliseconds: Self.longestWait)
        }
        switch state {
        case .closed:
            // Nothing can happen that no one posts: the longest sleep there is.
            return .wait(milliseconds: .max)
        case .inUse:
            state = .idle(since: now)
            return wait(longestIdle)
        case .idle(let since):
            let left = since + longestIdle - now
            guard left <= .zero else { return wait(left) }
            state = .closed
            return .close
        }
    }

    /// Rounded up: who wakes too early looks twice.
    private func wait(_ duration: Duration) -> Action {
        let milliseconds =
            duration.components.seconds * 1_000
            + duration.components.attoseconds / 1_000_000_000_000_000 + 1
        return .wait(milliseconds: Int32(clamping: milliseconds))
    }
}
