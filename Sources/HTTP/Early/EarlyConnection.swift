import System

// For the kinds of sockets, which are in no module of Glibc.
internal import CCurl
internal import Glibc
internal import Media

/// A TCP connection that is begun while libcurl is loaded, for the first request to its origin.
///
/// Nothing is sent on it before libcurl has it. What nobody takes within the time for a connection is closed.
final class EarlyConnection: Sendable {
    private struct Guarded {
        var state: EarlyConnectionState
        var found: [SocketAddress] = []
        var sockets: [OpenSocket] = []
    }

    private struct OpenSocket {
        var address: SocketAddress
        var descriptor: Int32
    }

    let target: EarlyTarget
    private let clock: any MonotonicClock
    private let lookUp: @Sendable (String, UInt16) -> [SocketAddress]
    private let onFound: @Sendable () -> Void
    // Guards everything that changes; no call to the system is made while it is held.
    private let guarded: Locked<Guarded>

    /// Does nothing yet. `lookUp` may block and is called on a thread of its own, `onFound` after it.
    init(
        to target: EarlyTarget,
        configuration: HTTPConfiguration,
        lookUp: @escaping @Sendable (String, UInt16) -> [SocketAddress],
        onFound: @escaping @Sendable () -> Void
    ) {
        self.target = target
        self.lookUp = lookUp
        self.onFound = onFound
        clock = configuration.clock
        let state = EarlyConnectionState(limit: configuration.timeouts.connect, now: clock.now)
        guarded = Locked(Guarded(state: state))
    }

    /// Begins it and returns at once: a name is looked up on the thread `connect`.
    func begin() {
        guard let address = target.address else {
            NamedThread.start("connect") { [self] in
                found(lookUp(target.url.host, target.port))
                onFound()
            }
            return
        }
        found([address])
    }

    /// Takes note of what has become of it. On the curl thread, as all that follows.
    func look() -> EarlyConnectionState.Outcome {
        for socket in guarded.withLock({ $0.state.outcome == .undecided ? $0.sockets : [] }) {
            switch Self.error(of: socket.descriptor) {
            case nil: break
            case 0: guarded.withLock { $0.state.connected(to: socket.address) }
            default:
                let now = clock.now
                let action = guarded.withLock { guarded in
                    // An error is told once; asked again, the socket would say that all is well.
                    guarded.sockets.removeAll { $0.descriptor == socket.descriptor }
                    return guarded.state.failed(socket.address, at: now)
                }
                Glibc.close(socket.descriptor)
                carryOut(action)
            }
        }
        let now = clock.now
        carryOut(guarded.withLock { $0.state.timePassed(now: now) })
        return guarded.withLock { $0.state.outcome }
    }

    /// The sockets to wait for, which are ready to be written to once they are connected or have failed.
    var waitingSockets: [Int32] {
        guarded.withLock { $0.state.outcome == .undecided ? $0.sockets.map(\.descriptor) : [] }
    }

    /// How long `look` may be put off when no socket is ready; nil for ever.
    var patience: Duration? {
        let now = clock.now
        return guarded.withLock { $0.state.nextLook.map { $0 - now } }
    }

    /// Ends it, and hands over what it has brought.
    func take() -> Handover {
        let found = guarded.withLock { $0.found }
        var handed: HandedSocket?
        for socket in close() {
            // The server may have had enough of waiting: its end of the line can be read.
            if handed == nil, Self.isSilent(socket.descriptor) {
                handed = HandedSocket(socket.descriptor, to: socket.address)
            } else {
                Glibc.close(socket.descriptor)
            }
        }
        return Handover(socket: handed, resolution: target.resolution(found, first: handed?.address))
    }

    /// Closes it, for no one has a use for it.
    func end() {
        for socket in close() { Glibc.close(socket.descriptor) }
    }

    /// Ends the state; the caller closes what is returned: the socket that is connected, if any. The others are
    /// closed already.
    private func close() -> [OpenSocket] {
        let (outcome, sockets) = guarded.withLock { guarded in
            defer {
                guarded.state.ended()
                guarded.sockets = []
            }
            return (guarded.state.outcome, guarded.sockets)
        }
        let winners = sockets.filter { outcome == .connected($0.address) }
        for socket in sockets where outcome != .connected(socket.address) { Glibc.close(socket.descriptor) }
        return winners
    }

    private func found(_ addresses: [SocketAddress]) {
        let now = clock.now
        carryOut(
            guarded.withLock { guarded in
                guarded.found = addresses
                return guarded.state.found(addresses, at: now)
            }
        )
    }

    private func carryOut(_ action: EarlyConnectionState.Action) {
        var action = action
        while case .connect(let address) = action {
            let descriptor = Self.beginConnecting(to: address)
            let now = clock.now
            let (next, isWanted) = guarded.withLock { guarded in
                guard let descriptor else { return (guarded.state.failed(address, at: now), true) }
                guard guarded.state.outcome == .undecided else {
                    return (EarlyConnectionState.Action.none, false)
                }
                guarded.sockets.append(OpenSocket(address: address, descriptor: descriptor))
                return (EarlyConnectionState.Action.none, true)
            }
            if !isWanted, let descriptor { Glibc.close(descriptor) }
            action = next
        }
    }

    /// A socket that is on its way to `address`; nil when the system refuses at once.
    private static func beginConnecting(to address: SocketAddress) -> Int32? {
        let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
        let descriptor = socket(address.family, Int32(kind), Int32(IPPROTO_TCP))
        guard descriptor >= 0 else { return nil }
        let status = address.withSystemForm { connect(descriptor, $0, $1) }
        guard status == -1, errno == EINPROGRESS else {
            Glibc.close(descriptor)
            return nil
        }
        return descriptor
    }

    /// How the attempt to connect has ended, 0 for well; nil when it has not.
    private static func error(of descriptor: Int32) -> Int32? {
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&state, 1, 0) == 1 else { return nil }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else { return errno }
        return error
    }

    /// Whether nothing has come on a connection, not even its end.
    private static func isSilent(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == -1
            && errno == EAGAIN
    }
}
