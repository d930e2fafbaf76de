/// To which of a host's addresses a connection is begun, and what comes of it.
///
/// The first address is tried, and the first one of the other family beside it when that takes long or fails, as
/// libcurl would do (RFC 8305). Which sockets there are is the shell's to know; it closes all but the winner's.
struct EarlyConnectionState {
    enum Action: Equatable {
        case connect(SocketAddress)
        case none
    }

    enum Outcome: Equatable {
        case undecided
        case connected(SocketAddress)
        /// No connection comes of it, or none that is still of use.
        case over
    }

    private enum Phase {
        case lookingUp
        /// `tried` were begun with, of which `open` may still answer; the last one at `begun`.
        case connecting(tried: Int, open: [SocketAddress], begun: Duration)
        case connected(SocketAddress)
        case over
    }

    /// How long the first family is left alone: libcurl's own time (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS(3)).
    static let headStart = Duration.milliseconds(200)
    /// How long a connection, made or not, is kept for a request. As long as a request waits for its connection:
    /// then that one gives up too, so it never waits twice.
    let limit: Duration

    private var phase = Phase.lookingUp
    private var candidates: [SocketAddress] = []
    private let begun: Duration

    init(limit: Duration, now: Duration) {
        self.limit = limit
        begun = now
    }

    var outcome: Outcome {
        switch phase {
        case .lookingUp, .connecting: .undecided
        case .connected(let address): .connected(address)
        case .over: .over
        }
    }

    /// When `timePassed` has something to do, if nothing else happens; nil for never.
    var nextLook: Duration? {
        switch phase {
        case .lookingUp, .connected: begun + limit
        case .connecting(let tried, _, let lastBegun):
            tried < candidates.count ? min(lastBegun + Self.headStart, begun + limit) : begun + limit
        case .over: nil
        }
    }

    /// The host has `addresses`, the preferred one first; none ends it.
    mutating func found(_ addresses: [SocketAddress], at now: Duration) -> Action {
        // A look-up may outlast the wish for it.
        guard case .lookingUp = phase else { return .none }
        let first = addresses.first
        candidates = [first, addresses.first { $0.family != first?.family }].compactMap { $0 }
        phase = .connecting(tried: 0, open: [], begun: now)
        return tryNext(at: now)
    }

    /// The connection to `address` stands. The first one wins.
    mutating func connected(to address: SocketAddress) {
        switch phase {
        case .connecting: phase = .connected(address)
        case .lookingUp, .connected, .over: break
        }
    }

    /// Nobody answers at `address`.
    mutating func failed(_ address: SocketAddress, at now: Duration) -> Action {
        switch phase {
        case .connecting(let tried, let open, let begun):
            let left = open.filter { $0 != address }
            phase = .connecting(tried: tried, open: left, begun: begun)
            return tryNext(at: now)
        case .lookingUp, .connected, .over: return .none
        }
    }

    /// Looks at the clock.
    mutating func timePassed(now: Duration) -> Action {
        guard now < begun + limit else {
            ended()
            return .none
        }
        guard case .connecting(_, _, let lastBegun) = phase, now >= lastBegun + Self.headStart else {
            return .none
        }
        return tryNext(at: now)
    }

    /// Nobody wants it any more, or it was handed over.
    mutating func ended() { phase = .over }

    private mutating func tryNext(at now: Duration) -> Action {
        guard case .connecting(let tried, let open, let begun) = phase else { return .none }
        guard tried < candidates.count else {
            phase = open.isEmpty ? .over : .connecting(tried: tried, open: open, begun: begun)
            return .none
        }
        let next = candidates[tried]
        phase = .connecting(tried: tried + 1, open: open + [next], begun: now)
        return .connect(next)
    }
}
