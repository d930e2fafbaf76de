/// How long the curl thread may sleep, and when it closes the connections that nobody uses.
///
/// While there is no transfer at all, every connection is closed at once. With one, libcurl is made to close those
/// that it has seen idle for too long; it counts whole seconds on its own clock.
struct IdleConnectionsState {
    enum Action: Equatable {
        /// Sleep for this long at most; wake-ups, sockets and libcurl's own timers end it earlier.
        case wait(milliseconds: Int32)
        /// Close the connections that have been idle for too long, beside a transfer.
        case closeAged
        /// Close all connections, of which none has a transfer.
        case closeAll
    }

    /// Only bounds the waiting for sockets.
    static let longestWait = Duration.seconds(60)
    /// Of the transfers that end within so long the first one counts.
    private static let grain = Duration.seconds(1)
    /// How long after its time a connection is closed beside a transfer: the grain, a second in which libcurl counts
    /// 30.9 s as 30, and one in which it does not look again after having looked for a request.
    private static let slack = Duration.seconds(3)

    private enum State {
        /// No connection can be open.
        case closed
        case inUse
        case idle(since: Duration)
    }

    private let longestIdle: Duration
    private var state = State.closed
    /// When transfers ended whose connections may be open and idle; the oldest first.
    private var ends: [Duration] = []

    init(longestIdle: Duration) {
        self.longestIdle = longestIdle
    }

    /// The thread has done what there was to do. `hasEnded` tells whether a transfer has ended since the last look;
    /// `now` is on the injected clock.
    mutating func looked(hasTransfers: Bool, hasEnded: Bool, now: Duration) -> Action {
        if hasEnded, ends.last.map({ now - $0 >= Self.grain }) ?? true { ends.append(now) }
        if hasTransfers {
            state = .inUse
            guard let oldest = ends.first else { return wait(Self.longestWait) }
            let left = oldest + longestIdle + Self.slack - now
            guard left <= .zero else { return wait(min(left, Self.longestWait)) }
            ends.removeAll { $0 + longestIdle + Self.slack <= now }
            return .closeAged
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
            ends = []
            return .closeAll
        }
    }

    private func wait(_ duration: Duration) -> Action { .wait(milliseconds: duration.pollMilliseconds) }
}

extension Duration {
    /// For `poll`. Rounded up: who wakes too early looks twice.
    var pollMilliseconds: Int32 {
        Int32(clamping: components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 + 1)
    }
}
