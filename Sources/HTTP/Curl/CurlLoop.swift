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
    // Guards everything that changes. `wakeUp` is called while it is held: it writes one byte to a
    // socket that never blocks, and outside of the lock the handle could be gone.
    private let guarded = Locked(Guarded())

    /// `loadLibrary` is called on the thread and returns the reason why libcurl cannot be used, or nil.
    init(
        configuration: HTTPConfiguration,
        loadLibrary: @escaping @Sendable () -> String? = { ccurl_load().map { String(cString: $0) } }
    ) {
        self.configuration = configuration
        self.loadLibrary = loadLibrary
    }

    /// Starts the thread, which loads libcurl, before there is anything to do.
    func warmUp() {
        let starts = guarded.withLock { guarded in
            guard case .idle = guarded.phase else { return false }
            guarded.phase = .running
            return true
        }
        if starts { NamedThread.start("http") { self.serve() } }
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

    private func serve() {
        if let reason = loadLibrary() {
            let cause = SafeText("cannot be loaded (\(reason)); install libcurl4 to play from the web")
            end(in: .unusable(MediaError(.missingLibrary, "libcurl", cause)))
            return
        }
        guard var table = TransferTable(configuration: configuration) else {
            end(in: .unusable(MediaError(.internalError, "libcurl", "cannot start (out of memory)")))
            return
        }
        var idle = IdleTimer()
        setWakeUp(table.multi)
        while let commands = takeCommands() {
            for command in commands { table.carryOut(command) }
            table.perform()
            switch idle.looked(hasTransfers: !table.isEmpty, now: configuration.clock.now) {
            case .wait(let milliseconds): table.waitForWork(atMost: milliseconds)
            case .closeAll:
                // No thread may wake a handle that is about to be freed; commands posted meanwhile are found on
                // the next turn.
                setWakeUp(nil)
                table.closeConnections()
                setWakeUp(table.multi)
            }
        }
        setWakeUp(nil)
        table.cancelAll()
        // Connections are closed before `waitUntilStopped` returns.
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

/// Decides how long the curl thread may sleep, and when it closes all connections: 30 s after the last transfer ended.
struct IdleTimer {
    enum Action: Equatable {
        /// Sleep for this long at most; a command, a socket or one of libcurl's own timers ends the sleep earlier.
        case wait(milliseconds: Int32)
        /// Close all connections; none of them has a transfer.
        case closeAll
    }

    private enum State {
        case noConnections
        case inUse
        case idle(since: Duration)
    }

    /// Routers forget silent connections after about this long, and a pause of the player is mostly shorter.
    static let longestIdle = Duration.seconds(30)

    private var state = State.noConnections

    /// Takes note that the thread has done all there was to do at `now`, on the injected clock.
    mutating func looked(hasTransfers: Bool, now: Duration) -> Action {
        if hasTransfers {
            state = .inUse
            return .wait(milliseconds: .max)
        }
        switch state {
        case .noConnections: return .wait(milliseconds: .max)
        case .inUse:
            state = .idle(since: now)
            return wait(Self.longestIdle)
        case .idle(let since):
            let left = since + Self.longestIdle - now
            guard left <= .zero else { return wait(left) }
            state = .noConnections
            return .closeAll
        }
    }

    /// Rounded up, since a thread that wakes too early only looks once more.
    private func wait(_ duration: Duration) -> Action {
        let (seconds, attoseconds) = duration.components
        return .wait(milliseconds: Int32(clamping: seconds * 1_000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
