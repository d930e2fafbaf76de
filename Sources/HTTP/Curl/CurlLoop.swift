import System

internal import CCurl
internal import Media

/// The thread `http`, its queue of commands and the multi handle that only it touches.
///
/// The thread starts with the first command and ends with `stop`.
final class CurlLoop: Sendable {
    enum Command {
        case start(Transfer)
        /// Lets a paused transfer go on; ignored when it is gone.
        case resume(Transfer.ID)
        /// Ends a transfer; ignored when it is gone.
        case remove(Transfer.ID)
    }

    private enum Phase {
        case idle
        case running
        /// libcurl cannot be used; every transfer fails with this.
        case unusable(MediaError)
        case stopping
        case stopped
    }

    private struct Guarded {
        var phase = Phase.idle
        var commands: [Command] = []
        /// Set while the thread may be asleep in `ccurl_multi_poll`.
        var wakeUp: WakeUp?
        /// How often the thread has looked for something to do.
        var turns = 0
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// What other threads may do with the multi handle.
    private struct WakeUp: @unchecked Sendable {
        // Unchecked: `curl_multi_wakeup` is the one call that libcurl allows from any thread, and the
        // handle lives for as long as this stands under the lock.
        let multi: UnsafeMutableRawPointer

        func callAsFunction() { _ = ccurl_multi_wakeup(multi) }
    }

    private let configuration: HTTPConfiguration
    private let loadLibrary: @Sendable () -> String?
    private let lookUp: @Sendable (String, UInt16) -> [SocketAddress]
    // Guards everything that changes. `wakeUp` is called while it is held: it writes one byte to a
    // socket that never blocks, and outside of the lock the handle could be gone.
    private let guarded = Locked(Guarded())

    /// `loadLibrary` is called on the thread and returns the reason why libcurl cannot be used, or nil. `lookUp` finds
    /// the addresses of a host that is connected to early.
    init(
        configuration: HTTPConfiguration,
        loadLibrary: @escaping @Sendable () -> String? = { ccurl_load().map { String(cString: $0) } },
        lookUp: @escaping @Sendable (String, UInt16) -> [SocketAddress] = NameLookup.addresses
    ) {
        self.configuration = configuration
        self.loadLibrary = loadLibrary
        self.lookUp = lookUp
    }

    /// Starts the thread, which loads libcurl, before there is anything to do, and begins a connection to the
    /// server of `url` meanwhile.
    func warmUp(toward url: WebURL? = nil) {
        let starts = guarded.withLock { guarded in
            guard case .idle = guarded.phase else { return false }
            guarded.phase = .running
            return true
        }
        guard starts else { return }
        let early = url.flatMap { earlyConnection(to: $0) }
        // No thread can start while a library is being loaded, so the one for the name goes first.
        early?.begin()
        NamedThread.start("http") { self.serve(early) }
    }

    private func earlyConnection(to url: WebURL) -> EarlyConnection? {
        guard let target = EarlyTarget(url, configuration: configuration) else { return nil }
        return EarlyConnection(to: target, configuration: configuration, lookUp: lookUp) { [weak self] in
            self?.lookAtClock()
        }
    }

    /// Hands a command over. After `stop`, and without libcurl, a transfer to start ends here and the
    /// other commands find nothing to act on.
    func post(_ command: Command) {
        warmUp()
        let refusal: Refusal? = guarded.withLock { guarded in
            switch guarded.phase {
            case .idle, .running:
                guarded.commands.append(command)
                guarded.wakeUp?()
                return nil
            case .unusable(let error): return .failure(error)
            case .stopping, .stopped: return .cancellation
            }
        }
        if let refusal, case .start(let transfer) = command { refusal.end(transfer) }
    }

    /// How often the thread has looked for something to do: stands still while there is nothing.
    var turns: Int { guarded.withLock { $0.turns } }

    /// Makes the thread look at the clock, which otherwise it does when it expects something to be due.
    func lookAtClock() {
        guarded.withLock { $0.wakeUp?() }
    }

    /// Cancels everything and ends the thread, without waiting for it. No request can follow.
    func stop() {
        guarded.withLock { guarded in
            switch guarded.phase {
            case .idle, .unusable: guarded.phase = .stopped
            case .running:
                guarded.phase = .stopping
                guarded.wakeUp?()
            case .stopping, .stopped: break
            }
        }
    }

    /// Returns when the thread has let go of libcurl; call `stop` before.
    func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            let isStopped = guarded.withLock { guarded in
                if case .stopped = guarded.phase { return true }
                guarded.stopWaiters.append(continuation)
                return false
            }
            if isStopped { continuation.resume() }
        }
    }

    /// How a transfer ends that cannot be started.
    private enum Refusal {
        case failure(MediaError)
        case cancellation

        func end(_ transfer: Transfer) {
            switch self {
            case .failure(let error): transfer.failed(error)
            case .cancellation: transfer.cancel()
            }
        }
    }

    private func serve(_ early: EarlyConnection?) {
        defer { early?.end() }
        if let reason = loadLibrary() {
            let cause = SafeText("cannot be loaded (\(reason)); install libcurl4 to play from the web")
            end(in: .unusable(MediaError(.missingLibrary, "libcurl", cause)))
            return
        }
        guard var table = TransferTable(configuration: configuration, early: early) else {
            end(in: .unusable(MediaError(.internalError, "libcurl", "cannot start (out of memory)")))
            return
        }
        var connections = IdleConnectionsState(longestIdle: configuration.longestIdleConnection)
        setWakeUp(table.multi)
        while let commands = takeCommands() {
            for command in commands { table.carryOut(command) }
            table.perform()
            let action = connections.looked(
                hasTransfers: !table.isEmpty,
                hasEnded: table.takeHasEnded(),
                now: configuration.clock.now
            )
            switch action {
            case .wait(let milliseconds): table.waitForWork(atMost: milliseconds)
            case .closeAged: table.closeAgedConnections()
            case .closeAll:
                // Nobody may wake a handle that is about to go; what is posted meanwhile is seen right after.
                setWakeUp(nil)
                table.closeConnections()
                setWakeUp(table.multi)
            }
        }
        setWakeUp(nil)
        table.cancelAll()
        // Connections are closed before anyone is told that the thread has ended.
        early?.end()
        _ = consume table
        end(in: .stopped)
    }

    private func setWakeUp(_ multi: UnsafeMutableRawPointer?) {
        let wakeUp = multi.map { WakeUp(multi: $0) }
        guarded.withLock { $0.wakeUp = wakeUp }
    }

    /// What was posted since the last call; nil when the thread is to end.
    private func takeCommands() -> [Command]? {
        guarded.withLock { guarded in
            guard case .running = guarded.phase else { return nil }
            guarded.turns += 1
            defer { guarded.commands = [] }
            return guarded.commands
        }
    }

    /// The thread's last act: ends the transfers that never started, and wakes who waits for the end.
    private func end(in phase: Phase) {
        let (left, waiters, refusal) = guarded.withLock { guarded in
            // A stop that came while libcurl was loading wins.
            if case .stopping = guarded.phase { guarded.phase = .stopped } else { guarded.phase = phase }
            var refusal = Refusal.cancellation
            if case .unusable(let error) = guarded.phase { refusal = .failure(error) }
            defer {
                guarded.commands = []
                guarded.stopWaiters = []
            }
            return (guarded.commands, guarded.stopWaiters, refusal)
        }
        for case .start(let transfer) in left { refusal.end(transfer) }
        for waiter in waiters { waiter.resume() }
    }
}
