import System

internal import Media
internal import Synchronization

/// One request and its answer, between the curl thread, one reader and the clock.
///
/// The methods named after events are called on the curl thread.
final class Transfer: Sendable {
    /// Recognises a transfer for good; never used twice in a process.
    struct ID: Hashable, Sendable {
        var value: UInt64
    }

    private struct Guarded {
        var state: TransferState
        var waiter: Waiter?
        var watchdog: Task<Void, Never>?
    }

    /// The one reader asleep, and what wakes it.
    private struct Waiter {
        var need: TransferState.Need
        var continuation: CheckedContinuation<Void, Never>
    }

    private static let lastID = Atomic<UInt64>(0)

    let id: ID
    let request: WireRequest
    private let clock: any MonotonicClock
    private let loop: CurlLoop
    // Guards everything that changes; nothing foreign is called while it is held.
    private let guarded: Locked<Guarded>

    init(request: WireRequest, configuration: HTTPConfiguration, loop: CurlLoop) {
        id = ID(value: Self.lastID.add(1, ordering: .relaxed).newValue)
        self.request = request
        self.loop = loop
        clock = configuration.clock
        let state = TransferState(
            subject: request.subject,
            timeouts: configuration.timeouts,
            now: configuration.clock.now
        )
        guarded = Locked(Guarded(state: state))
    }

    /// Hands the request to the curl thread and starts to watch the time.
    func start() {
        loop.post(.start(self))
        let watchdog = Task { await watch() }
        let isOver = guarded.withLock { guarded in
            guarded.watchdog = watchdog
            return guarded.state.isOver
        }
        if isOver { watchdog.cancel() }
    }

    /// Whether libcurl has nothing more to do for it.
    var isOver: Bool { guarded.withLock { $0.state.isOver } }

    /// The head of the answer. Cancelling the task cancels the transfer.
    func head() async throws -> ResponseHead {
        while true {
            switch guarded.withLock({ $0.state.takeHead() }) {
            case .head(let head): return head
            case .failure(let error): throw error
            case .wait: await wait(for: .head)
            case .chunk, .end: preconditionFailure("the head is no part of the body")
            }
        }
    }

    /// The next bytes of the body; nil at its end. Cancelling the task cancels the transfer; what had
    /// come is still handed out.
    func next() async throws -> [UInt8]? {
        while true {
            if Task.isCancelled { cancel() }
            let now = clock.now
            switch guarded.withLock({ $0.state.takeChunk(now: now) }) {
            case .chunk(let bytes, let resumes):
                if resumes { loop.post(.resume(id)) }
                return bytes
            case .end: return nil
            case .failure(let error): throw error
            case .wait: await wait(for: .chunk)
            case .head: preconditionFailure("the body holds no head")
            }
        }
    }

    /// Ends it from any thread. Wakes the reader at once; libcurl hears of it a moment later.
    func cancel() {
        if change({ $0.cancelled() }) { loop.post(.remove(id)) }
    }

    /// Whether `next` would return without a wait.
    var hasChunk: Bool { guarded.withLock { $0.state.hasAnswer(to: .chunk) } }

    /// Whether libcurl has been told to take nothing more for now.
    var isHeldUp: Bool { guarded.withLock { $0.state.isPaused } }

    /// Ends it and frees what came, from any thread. For a reader that is gone.
    func release() {
        if change({ $0.released() }) { loop.post(.remove(id)) }
    }

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

    func connected() {
        let now = clock.now
        change { $0.connected(at: now) }
    }

    func headReceived(_ head: ResponseHead) {
        let owed = ResponseAlgebra.promisedLength(of: ResponseAlgebra.kind(for: head))
        let now = clock.now
        change { $0.headReceived(head, owed: owed, at: now) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> TransferState.Intake {
        let now = clock.now
        // The lock's closure may not capture a pointer; the bytes outlive the call, which is all it needs.
        nonisolated(unsafe) let bytes = bytes
        return change { $0.received(bytes, at: now) }
    }

    func finished(failure: MediaError?) {
        change { $0.finished(failure: failure) }
    }

    func failed(_ error: MediaError) {
        change { $0.failed(error) }
    }

    /// Sleeps from deadline to deadline until the transfer is over.
    private func watch() async {
        while !Task.isCancelled {
            let now = clock.now
            switch change({ $0.timePassed(now: now) }) {
            case .look(let time): try? await clock.sleep(until: time)
            case .expired:
                loop.post(.remove(id))
                return
            case .over: return
            }
        }
    }

    /// One event: lock, step, unlock, wake whom it concerns.
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
