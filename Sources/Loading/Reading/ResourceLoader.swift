import Media

/// The one place that fetches a resource, shared by everyone who reads it.
///
/// A thin shell: `ResourceLoadState` decides, this carries out. Each step takes the lock, lets the state
/// take one event, releases the lock and performs the actions.
final class ResourceLoader: Sendable {
    struct Guarded {
        var state: ResourceLoadState
        var waiters: [ResourceLoadState.ReaderID: CheckedContinuation<Void, any Error>] = [:]
        var tasks: [FetchPlan.ID: Task<Void, Never>] = [:]
        var nextReader = 1
        var counters = LoadCounters()
        /// The last reader has closed; nothing begins any more.
        var isClosed = false
        var isGone = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    let url: WebURL
    let store: any ByteStore
    let transport: any RangeTransport
    let clock: any MonotonicClock
    private let onChanged: @Sendable (WebURL) async -> Void
    private let onIdle: @Sendable (WebURL, ResourceLoader) -> Void
    // Guards everything that changes. Nothing foreign is called, and nothing is resumed, while it is held.
    let guarded: Locked<Guarded>

    /// `onChanged` makes the next open start anew; `onIdle` is called when the last reader has closed.
    init(
        url: WebURL,
        store: any ByteStore,
        transport: any RangeTransport,
        clock: any MonotonicClock,
        settings: LoadSettings,
        onChanged: @escaping @Sendable (WebURL) async -> Void,
        onIdle: @escaping @Sendable (WebURL, ResourceLoader) -> Void
    ) {
        self.url = url
        self.store = store
        self.transport = transport
        self.clock = clock
        self.onChanged = onChanged
        self.onIdle = onIdle
        let stored = store.stored
        var state = ResourceLoadState(
            settings: settings,
            subject: url.safeText,
            description: store.description,
            stored: stored
        )
        state.forgetImpossibleLength()
        guarded = Locked(Guarded(state: state, counters: LoadCounters(storedAtOpen: stored)))
    }

    // MARK: Readers

    /// Takes one more reader; nil when the loader has closed meanwhile.
    func addReader() -> ResourceLoadState.ReaderID? {
        guarded.withLock { guarded in
            guard !guarded.isClosed else { return nil }
            let id = ResourceLoadState.ReaderID(guarded.nextReader)
            guarded.nextReader += 1
            guarded.state.readerOpened(id)
            return id
        }
    }

    func read(_ id: ResourceLoadState.ReaderID, at offset: Int64, count: Int) async throws -> [UInt8] {
        precondition(offset >= 0 && count > 0, "a read asks for bytes at an offset of the resource")
        while true {
            try Task.checkCancellation()
            switch guarded.withLock({ $0.state.outlook(at: offset) }) {
            case .end: return []
            case .missing, .failed: try await waitForBytes(id, at: offset)
            case .stored:
                let bytes = try await store.read(at: offset, count: count)
                let actions = guarded.withLock { guarded in
                    guard !bytes.isEmpty else {
                        // An extent failed its check, or was evicted: plan with what is left.
                        return guarded.state.bytesLost(nowStored: store.stored)
                    }
                    guarded.counters.read(offset..<offset + Int64(bytes.count))
                    return guarded.state.readRequested(id, at: offset + Int64(bytes.count) - 1)
                }
                perform(actions)
                if !bytes.isEmpty { return bytes }
            }
        }
    }

    func step(_ event: (inout ResourceLoadState) -> [ResourceLoadState.Action]) {
        perform(guarded.withLock { event(&$0.state) })
    }

    func close(_ id: ResourceLoadState.ReaderID) async {
        let (actions, waiter, isLast) = guarded.withLock { guarded in
            let actions = guarded.state.readerClosed(id)
            let isLast = guarded.state.readers.isEmpty && !guarded.isClosed
            if isLast { guarded.isClosed = true }
            return (actions, guarded.waiters.removeValue(forKey: id), isLast)
        }
        waiter?.resume(throwing: CancellationError())
        perform(actions)
        guard isLast else { return }
        let tasks = guarded.withLock { Array($0.tasks.values) }
        // A cancelled fetch may still be writing what came; the store closes after it.
        for task in tasks { await task.value }
        await store.close()
        onIdle(url, self)
        let waiting = guarded.withLock { guarded in
            guarded.isGone = true
            defer { guarded.waitingForEnd = [] }
            return guarded.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the store is closed. Only for a loader that takes no more readers.
    func closed() async {
        await withCheckedContinuation { continuation in
            let isGone = guarded.withLock { guarded in
                if !guarded.isGone { guarded.waitingForEnd.append(continuation) }
                return guarded.isGone
            }
            if isGone { continuation.resume() }
        }
    }

    /// Forgets all bytes of the resource when none were kept before this open.
    func reject() async {
        let wasEmpty = guarded.withLock { $0.counters.storedAtOpen.isEmpty }
        if wasEmpty { await store.discard() }
    }

    private func waitForBytes(_ id: ResourceLoadState.ReaderID, at offset: Int64) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, any Error>) in
                let (result, actions) = guarded.withLock {
                    guarded -> (Result<Void, any Error>?, [ResourceLoadState.Action]) in
                    // The handler below may have run before there was a waiter to find.
                    if Task.isCancelled || guarded.isClosed { return (.failure(CancellationError()), []) }
                    let actions = guarded.state.readRequested(id, at: offset)
                    switch guarded.state.outlook(at: offset) {
                    case .stored, .end: return (.success(()), actions)
                    case .failed(let error): return (.failure(error), actions)
                    case .missing:
                        precondition(guarded.waiters[id] == nil, "a reader reads one thing at a time")
                        guarded.waiters[id] = waiter
                        return (nil, actions)
                    }
                }
                if let result { waiter.resume(with: result) }
                perform(actions)
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded in
                guarded.state.readCancelled(id)
                return guarded.waiters.removeValue(forKey: id)
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    // MARK: Actions

    func perform(_ actions: [ResourceLoadState.Action]) {
        for action in actions {
            switch action {
            case .startFetch(let plan): startFetch(plan)
            case .cancelFetch(let id): guarded.withLock { $0.tasks[id] }?.cancel()
            case .wakeRead(let id): takeWaiter(id)?.resume()
            case .failRead(let id, let error): takeWaiter(id)?.resume(throwing: error)
            }
        }
    }

    private func takeWaiter(_ id: ResourceLoadState.ReaderID) -> CheckedContinuation<Void, any Error>? {
        guarded.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private func startFetch(_ plan: FetchPlan) {
        let mayRun = guarded.withLock { guarded in
            guard !guarded.isClosed else { return false }
            // Started under the lock, so that a cancel which follows finds the task.
            guarded.tasks[plan.id] = Task { await self.run(plan) }
            return true
        }
        if !mayRun { step { $0.fetchEnded(plan.id, error: nil) } }
    }

    /// The end of a fetch's task, whatever ended it.
    func finish(_ id: FetchPlan.ID, error: MediaError?) {
        let actions = guarded.withLock { guarded in
            guarded.tasks[id] = nil
            return guarded.state.fetchEnded(id, error: error)
        }
        perform(actions)
    }

    /// The resource is another one now.
    func resourceChanged() async {
        await onChanged(url)
    }

    /// Keeps what the answers told.
    func keepDescription() {
        store.describe(guarded.withLock { $0.state.description })
    }

    // MARK: Report

    var report: LoadReport {
        let isKept = store.isPersistent
        return guarded.withLock { guarded in
            var report = LoadReport()
            report.length = guarded.state.length
            report.stored = guarded.state.stored
            report.inFlight = guarded.state.inFlight
            report.cachedBytes = guarded.counters.cachedBytes
            report.fetchedBytes = guarded.counters.fetchedBytes
            report.requestCount = guarded.counters.requestCount
            report.bytesPerSecond = guarded.state.rate
            report.isSeekable = guarded.state.description.acceptsRanges != false || guarded.state.isComplete
            report.isKept = isKept
            return report
        }
    }
}
