import System

internal import Media
internal import Synchronization

/// One request and the body of its response, shared by the thread `http`, one reader and the clock.
///
/// The transfer ends when its reader releases it: once the transfer has begun, the thread only has a weak
/// reference.
final class Transfer: ResponseBody {
    /// Identifies a transfer; never used twice in a process.
    struct ID: Hashable, Sendable {
        var value: UInt64
    }

    private struct Guarded {
        var state: TransferState
        /// Separates the titles of a live stream from its music; `nil` for a body without titles.
        var splitter: ICYSplitter?
        var waiter: Waiter?
        var watchdog: Task<Void, Never>?
    }

    /// The reader that waits, and its continuation.
    private struct Waiter {
        var need: TransferState.Need
        var continuation: CheckedContinuation<Void, Never>
    }

    private static let lastID = Atomic<UInt64>(0)

    let id: ID
    let request: WireRequest
    private let clock: any MonotonicClock
    private let loop: CurlLoop
    // Guards all mutable state; no other code is called while it is held.
    private let guarded: Locked<Guarded>

    init(request: WireRequest, configuration: HTTPConfiguration, loop: CurlLoop) {
        id = ID(value: Self.lastID.add(1, ordering: .relaxed).newValue)
        self.request = request
        self.loop = loop
        clock = configuration.clock
        let now = configuration.clock.now
        let state = TransferState(request: request, timeouts: configuration.timeouts, now: now)
        guarded = Locked(Guarded(state: state))
    }

    /// Frees the bytes that have arrived; libcurl ends the transfer a moment later.
    deinit {
        if change({ $0.released() }) { loop.post(.remove(id)) }
    }

    // MARK: From the reader

    /// Passes the request to the thread, and starts the watchdog for its deadlines.
    func start() {
        loop.post(.start(self))
        // Sleeps from deadline to deadline until the transfer is over.
        let watchdog = Task { [weak self, clock] in
            while !Task.isCancelled, let time = self?.nextLook() { try? await clock.sleep(until: time) }
        }
        let isOver = guarded.withLock { guarded in
            guarded.watchdog = watchdog
            return guarded.state.isOver
        }
        if isOver { watchdog.cancel() }
    }

    /// Returns the head of the response. Cancelling the task cancels the transfer.
    func head() async throws -> ResponseHead {
        while true {
            if let head = try guarded.withLock({ try $0.state.receivedHead() }) { return head }
            await wait(for: .head)
        }
    }

    /// Declares that a title follows each `interval` bytes of music in the body. Call it before the first
    /// `next`.
    func separateTitles(every interval: Int64) {
        guarded.withLock { $0.splitter = ICYSplitter(interval: interval) }
    }

    func next() async throws -> [UInt8]? {
        while true {
            if let music = guarded.withLock({ $0.splitter?.takeMusic() }) { return music }
            if Task.isCancelled { cancel() }
            let now = clock.now
            switch try guarded.withLock({ try $0.state.takeChunk(now: now) }) {
            case .chunk(let bytes, let resumes):
                if resumes { loop.post(.resume(id)) }
                let isSplit = guarded.withLock { guarded in
                    guarded.splitter?.append(bytes)
                    return guarded.splitter != nil
                }
                if !isSplit { return bytes }
            case .end: return nil
            case .wait: await wait(for: .chunk)
            }
        }
    }

    func takeTitle() -> SafeText? { guarded.withLock { $0.splitter?.takeTitle() } }

    /// Ends the transfer; may be called from any thread. Wakes the reader at once; libcurl ends the request a
    /// moment later.
    func cancel() { if change({ $0.cancelled() }) { loop.post(.remove(id)) } }

    var state: TransferState { guarded.withLock { $0.state } }

    private func wait(for need: TransferState.Need) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = guarded.withLock { guarded in
                    if guarded.state.hasAnswer(to: need) { return true }
                    precondition(guarded.waiter == nil, "a body has one reader")
                    guarded.waiter = Waiter(need: need, continuation: continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    // MARK: Events on the thread `http`

    func lookedUp() { change { $0.lookedUp() } }

    func connected() {
        let now = clock.now
        change { $0.connected(at: now) }
    }

    func headReceived(_ head: ResponseHead) {
        let owed = head.promisedLength
        let now = clock.now
        change { $0.headReceived(head, owed: owed, at: now) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> TransferState.Intake {
        let now = clock.now
        // Unsafe: the lock's closure may not capture a pointer. The bytes stay valid during the call, which
        // copies them.
        nonisolated(unsafe) let bytes = bytes
        return change { $0.received(bytes, at: now) }
    }

    func finished(failure: MediaError?) { change { $0.finished(failure: failure) } }

    func failed(_ error: MediaError) { change { $0.failed(error) } }

    /// Fails the transfer if its deadline has passed. Returns the time of the next check; `nil` if the
    /// transfer is over.
    private func nextLook() -> Duration? {
        let now = clock.now
        switch change({ $0.timePassed(now: now) }) {
        case .look(let time): return time
        case .expired:
            loop.post(.remove(id))
            return nil
        case .over: return nil
        }
    }

    /// Handles one event: lock, step, unlock, and resume the reader if its wait is over.
    @discardableResult
    private func change<Result: Sendable>(_ event: (inout TransferState) -> Result) -> Result {
        let (result, woken, watchdog) = guarded.withLock { guarded in
            let result = event(&guarded.state)
            var woken: CheckedContinuation<Void, Never>?
            if let waiter = guarded.waiter, guarded.state.hasAnswer(to: waiter.need) {
                woken = waiter.continuation
                guarded.waiter = nil
            }
            var watchdog: Task<Void, Never>?
            if guarded.state.isOver {
                watchdog = guarded.watchdog
                guarded.watchdog = nil
            }
            return (result, woken, watchdog)
        }
        watchdog?.cancel()
        woken?.resume()
        return result
    }
}
