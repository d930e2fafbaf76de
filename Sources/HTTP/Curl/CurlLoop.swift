import System

internal import CCurl
internal import Media

/// The thread `http`: it takes commands from any thread and carries out all transfers with libcurl.
///
/// libcurl is opened with the first command, or by `warmUp`; then the thread starts. It ends with `stop`.
final class CurlLoop: @unchecked Sendable {
    // Unchecked: `multi`, `handles`, `ids` and `resume` are only used on the thread; all other mutable state
    // is in `guarded`.

    enum Command {
        case start(Transfer)
        /// Lets a paused transfer continue; ignored if it has ended.
        case resume(Transfer.ID)
        /// Ends a transfer; ignored if it has ended.
        case remove(Transfer.ID)
    }

    private enum Phase {
        case idle
        case running
        /// libcurl cannot be used; every transfer fails with this error.
        case unusable(MediaError)
        case stopping
        case stopped

        var isStopped: Bool { if case .stopped = self { true } else { false } }
    }

    private struct Guarded {
        var phase = Phase.idle
        var commands: [Command] = []
        /// Set while the thread may be asleep in `curl_multi_poll`.
        var wakeUp: WakeUp?
    }

    /// The only call to the multi handle that other threads may make.
    private struct WakeUp: @unchecked Sendable {
        // Unchecked: libcurl allows `curl_multi_wakeup` from any thread, and the handle is not freed as long
        // as this is in `guarded`.
        let multi: UnsafeMutableRawPointer

        func callAsFunction() { _ = curl_multi_wakeup(multi) }
    }

    /// libcurl, shared by all loops of the process.
    static let library = OptionalLibrary { ccurl_load().map { String(cString: $0) } }

    /// Connections kept open without a transfer: two each for a handful of servers.
    private static let mostIdleConnections = 8

    /// Idle connections are closed this long after the last transfer has ended. Routers drop silent
    /// connections after about this long, and most pauses of the player are shorter.
    static let longestIdle = Duration.seconds(30)

    private let stopped = OneShot<Void>()
    private let configuration: HTTPConfiguration
    private let library: OptionalLibrary
    private let resume: (UnsafeMutableRawPointer) -> CURLcode
    // `wakeUp` is called while the lock is held: it writes one byte to a non-blocking socket, and without the
    // lock the handle could be freed during the call.
    private let guarded = Locked(Guarded())

    /// libcurl's multi handle; `nil` before the thread has started and after it has ended.
    private var multi: UnsafeMutableRawPointer?
    private var handles: [Transfer.ID: EasyHandle] = [:]
    /// Finds the transfer of a handle that libcurl reports as finished.
    private var ids: [UnsafeMutableRawPointer: Transfer.ID] = [:]
    /// The time at which all connections are closed; `nil` while there is a transfer, or no connection.
    private var closesAt: Duration?

    /// `resume` lets libcurl continue a paused transfer; only tests replace it.
    init(
        configuration: HTTPConfiguration,
        library: OptionalLibrary = CurlLoop.library,
        resume: @escaping (UnsafeMutableRawPointer) -> CURLcode = { curl_easy_pause($0, CURLPAUSE_CONT) }
    ) {
        self.configuration = configuration
        self.library = library
        self.resume = resume
    }

    // MARK: From any thread

    /// Opens libcurl and starts the thread before the first request. Returns at once.
    func warmUp() {
        let starts = guarded.withLock { guarded in
            guard case .idle = guarded.phase else { return false }
            guarded.phase = .running
            return true
        }
        guard starts else { return }
        library.open { reason in
            if let reason {
                let cause = SafeText("can't be loaded (\(reason)); install libcurl4 to play from the web")
                self.end(in: .unusable(MediaError(.missingLibrary, "libcurl", cause)))
            } else {
                NamedThread.start("http") { self.serve() }
            }
        }
    }

    /// Passes a command to the thread. After `stop`, or without libcurl, starting a transfer fails at once
    /// and other commands do nothing.
    func post(_ command: Command) {
        warmUp()
        let refusal: (any Error)? = guarded.withLock { guarded in
            switch guarded.phase {
            case .idle, .running:
                guarded.commands.append(command)
                guarded.wakeUp?()
                return nil
            case .unusable(let error): return error
            case .stopping, .stopped: return CancellationError()
            }
        }
        if let refusal { Self.refuse(command, refusal) }
    }

    /// Cancels all transfers and ends the thread, without waiting for it. Later requests fail.
    func stop() {
        let isStopped = guarded.withLock { guarded in
            switch guarded.phase {
            case .idle, .unusable: guarded.phase = .stopped
            case .running:
                guarded.phase = .stopping
                guarded.wakeUp?()
            case .stopping, .stopped: break
            }
            return guarded.phase.isStopped
        }
        if isStopped { stopped.give(()) }
    }

    /// Returns when the thread has released libcurl, also in a cancelled task. Call `stop` first; one task
    /// waits.
    func waitUntilStopped() async {
        await Task { [stopped] in await stopped.wait(ifCancelled: ()) }.value
    }

    private static func refuse(_ command: Command, _ error: any Error) {
        guard case .start(let transfer) = command else { return }
        if let error = error as? MediaError { transfer.failed(error) } else { transfer.cancel() }
    }

    // MARK: On the thread

    private func serve() {
        guard makeMulti() else {
            return end(in: .unusable(MediaError(.internalError, "libcurl", "can't start (out of memory)")))
        }
        while let commands = takeCommands() {
            for command in commands { carryOut(command) }
            perform()
            if let milliseconds = Self.longestSleep(until: closesAt, now: configuration.clock.now) {
                // A command, a socket or one of libcurl's own timers ends the sleep earlier.
                curl_multi_poll(multi, nil, 0, milliseconds, nil)
            } else {
                closesAt = nil
                makeMulti()
            }
        }
        for handle in handles.values {
            curl_multi_remove_handle(multi, handle.pointer)
            handle.transfer?.cancel()
        }
        handles = [:]
        ids = [:]
        freeMulti()
        end(in: .stopped)
    }

    /// Replaces the multi handle, which closes all connections: libcurl has no other call for that. None of
    /// them may have a transfer. Returns `false` and changes nothing if memory or file descriptors ran out.
    @discardableResult
    private func makeMulti() -> Bool {
        precondition(handles.isEmpty, "a connection with a transfer is not idle")
        guard let fresh = curl_multi_init() else { return false }
        ccurl_multi_set_long(fresh, CURLMOPT_MAXCONNECTS, Self.mostIdleConnections)
        freeMulti()
        multi = fresh
        guarded.withLock { $0.wakeUp = WakeUp(multi: fresh) }
        return true
    }

    /// Frees the multi handle. A command that is posted in the meantime sends no wake-up; the thread finds it
    /// on its next turn.
    private func freeMulti() {
        guarded.withLock { $0.wakeUp = nil }
        if let multi { curl_multi_cleanup(multi) }
        multi = nil
    }

    /// The commands posted since the last call; `nil` when the thread is to end.
    private func takeCommands() -> [Command]? {
        guarded.withLock { guarded in
            guard case .running = guarded.phase else { return nil }
            return exchange(&guarded.commands, with: [])
        }
    }

    private func carryOut(_ command: Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .resume(let id):
            // The transfer may have ended since the command was posted.
            guard let handle = handles[id] else { return }
            let code = resume(handle.pointer)
            if code != CURLE_OK { end(id, code) }
        case .remove(let id): remove(id)
        }
    }

    private func start(_ transfer: Transfer) {
        // The transfer may have been cancelled before it began.
        guard !transfer.state.isOver else { return }
        guard let handle = EasyHandle(transfer, configuration: configuration),
            curl_multi_add_handle(multi, handle.pointer) == CURLM_OK
        else {
            let cause: SafeText = "can't make the request (out of memory)"
            return transfer.failed(MediaError(.internalError, transfer.request.subject, cause))
        }
        closesAt = nil
        handles[transfer.id] = handle
        ids[handle.pointer] = transfer.id
    }

    private func remove(_ id: Transfer.ID) {
        guard let handle = handles.removeValue(forKey: id) else { return }
        ids[handle.pointer] = nil
        curl_multi_remove_handle(multi, handle.pointer)
        if handles.isEmpty { closesAt = configuration.clock.now + Self.longestIdle }
    }

    /// How long the thread may sleep, in milliseconds, rounded up so that it does not wake too early; `nil`
    /// if it is time to close the connections.
    static func longestSleep(until closesAt: Duration?, now: Duration) -> Int32? {
        guard let closesAt else { return .max }
        guard closesAt > now else { return nil }
        return Int32(clamping: (closesAt - now).wholeMilliseconds + 1)
    }

    /// Performs all work that needs no waiting, and reports the transfers that have ended.
    private func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var code = CURLE_OK
        while let pointer = ccurl_multi_next_finished(multi, &code) {
            if let id = ids[pointer] { end(id, code) }
        }
    }

    /// Ends a transfer and reports `code`, the reason. If libcurl found no host or no connection, first finds
    /// out whose fault that is.
    private func end(_ id: Transfer.ID, _ code: CURLcode) {
        guard let handle = handles[id] else { return }
        var circumstances = handle.circumstances
        handle.deliverChallenge()
        guard code != CURLE_OK, let transfer = handle.transfer else {
            remove(id)
            handle.transfer?.finished(failure: nil)
            return
        }
        let network = configuration.localNetwork
        let request = transfer.request
        circumstances.hasProxy = configuration.hasProxy
        if [CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST].contains(code) {
            circumstances.hasRoute = network.hasRoute()
        }
        guard code == CURLE_COULDNT_RESOLVE_HOST, circumstances.hasRoute else {
            remove(id)
            return transfer.finished(failure: CurlFailure.error(code, circumstances, request: request))
        }
        // The look-up blocks. Meanwhile the transfer can be cancelled or meet its deadline.
        NamedThread.start("name-lookup") { [weak self, weak transfer, circumstances] in
            var circumstances = circumstances
            circumstances.nameStatus = network.nameStatus(request.host.string)
            transfer?.finished(failure: CurlFailure.error(code, circumstances, request: request))
            self?.post(.remove(id))
        }
    }

    /// Runs last on the thread, or instead of it if libcurl cannot be loaded: ends the transfers that never
    /// started, and the wait for the end.
    private func end(in phase: Phase) {
        let (commands, isStopped, error): ([Command], Bool, any Error) = guarded.withLock { guarded in
            // A stop that was requested while libcurl was loading takes precedence.
            if case .stopping = guarded.phase { guarded.phase = .stopped } else { guarded.phase = phase }
            var reason: any Error = CancellationError()
            if case .unusable(let error) = guarded.phase { reason = error }
            return (exchange(&guarded.commands, with: []), guarded.phase.isStopped, reason)
        }
        for command in commands { Self.refuse(command, error) }
        if isStopped { stopped.give(()) }
    }
}
