import Media

/// The one place that fetches a resource, shared by everyone who reads it.
///
/// A thin shell: `ResourceLoadState` decides, this carries out. Each step takes the lock, lets the state
/// take one event, releases the lock and performs the actions.
final class ResourceLoader: Sendable {
    struct Guarded {
        var state: ResourceLoadState
        var waiters: [ResourceLoadState.WaitID: CheckedContinuation<Void, any Error>] = [:]
        /// The last wait of each reader, over or not.
        var waits: [ResourceLoadState.ReaderID: ResourceLoadState.WaitID] = [:]
        var tasks: [FetchPlan.ID: Task<Void, Never>] = [:]
        var nextReader = 1
        var counters = LoadCounters()
        /// The last reader has closed; nothing begins any more.
        var isClosed = false
        var isGone = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []

        /// Who waits for bytes on the reader's behalf, to be resumed by the caller.
        mutating func takeWaiter(of id: ResourceLoadState.ReaderID) -> CheckedContinuation<Void, any Error>? {
            waits.removeValue(forKey: id).flatMap { waiters.removeValue(forKey: $0) }
        }
    }

    let url: WebURL
    let store: any ByteStore
    let transport: any RangeTransport
    let clock: any MonotonicClock
    private let onChanged: @Sendable (WebURL) async -> Void
    private let onIdle: @Sendable (WebURL, ResourceLoader) -> Void
    // Guards everything that changes. Nothing foreign is called, and nothing is resumed, while it is held.
    let guarded: Locked<Guarded>
    // Held while a description is copied and handed to the store, so that an older one never comes last.
    private let describing = Locked(())

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
                let left = bytes.isEmpty ? store.stored : ByteRangeSet()
                if left.contains(offset) {
                    // Looking again would find the same for ever.
                    throw MediaError(
                        .damaged,
                        url.safeText,
                        "what is kept of it cannot be read; play it again"
                    )
                }
                let actions = guarded.withLock { guarded in
                    guard !bytes.isEmpty else {
                        // An extent failed its check, or was evicted: plan with what is left.
                        return guarded.state.bytesLost(nowStored: left)
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
            return (actions, guarded.takeWaiter(of: id), isLast)
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
                    if Task.isCancelled || guarded.isClosed || !guarded.state.hasReader(id) {
                        return (.failure(CancellationError()), [])
                    }
                    let actions = guarded.state.readRequested(id, at: offset)
                    switch guarded.state.outlook(at: offset) {
                    case .stored, .end: return (.success(()), actions)
                    case .failed(let error): return (.failure(error), actions)
                    case .missing:
                        guard let wait = guarded.state.wait(of: id) else {
                            preconditionFailure("a read that misses its bytes waits for them")
                        }
                        guarded.waits[id] = wait
                        guarded.waiters[wait] = waiter
                        return (nil, actions)
                    }
                }
                if let result { waiter.resume(with: result) }
                perform(actions)
            }
        } onCancel: {
            let waiter = guarded.withLock { guarded in
                guarded.state.readCancelled(id)
                return guarded.takeWaiter(of: id)
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
            case .declareChanged: break
            }
        }
    }

    /// Performs `actions`, and waits for what takes its time: a changed resource's new entry.
    func performAll(_ actions: [ResourceLoadState.Action]) async {
        perform(actions)
        if actions.contains(.declareChanged) { await onChanged(url) }
    }

    private func takeWaiter(_ id: ResourceLoadState.WaitID) -> CheckedContinuation<Void, any Error>? {
        guarded.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private func startFetch(_ plan: FetchPlan) {
        let mayRun = guarded.withLock { guarded in
            // A seek may have cancelled it between the decision and here.
            guard !guarded.isClosed, guarded.state.isUnderWay(plan.id) else { return false }
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

    /// Keeps what the answers told.
    func keepDescription() {
        describing.withLock { _ in store.describe(guarded.withLock { $0.state.description }) }
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
