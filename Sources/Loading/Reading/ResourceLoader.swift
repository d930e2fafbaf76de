import Media
import System

/// Fetches a resource; shared by all its readers.
///
/// A thin shell: `ResourceLoadState` decides, and this class performs its actions. Each step takes the lock,
/// passes one event to the state, with the current time and the stored ranges, releases the lock and
/// performs the actions.
final class ResourceLoader: Sendable {
    struct Guarded {
        var state: ResourceLoadState
        /// The body bytes received and the requests sent since this open, and by a revalidation directly
        /// before it.
        var fetchedBytes: Int64 = 0
        var requestCount = 0
        /// The time of the last answer.
        var answeredAt: Duration?
        /// Set once a body without end was handed over.
        var live: LiveStream?
        fileprivate var waiters: [LoadReaders.WaitID: Waiter] = [:]
        /// The tasks of the fetches; `nil` until the task is known. `Task.immediate` runs it up to its first
        /// wait before returning, so a fetch can end or be cancelled before that.
        fileprivate var fetches: [FetchPlan.ID: Task<Void, Never>?] = [:]
        /// Sleeps until the time that the state has requested.
        fileprivate var timer: Task<Void, Never>?
        /// Identifies this loader among those that share the connection.
        fileprivate var lineUser: SharedLine.User?
        /// The need that was reported last.
        fileprivate var need: Urgency?
        fileprivate var lastReader = 0
        /// The bytes that the store may commit; `nil` for all.
        fileprivate var proven: ByteRangeSet?
        /// Releases everything; set once the last reader has closed.
        fileprivate var closing: Task<Void, Never>?
        /// The continuation of the close, while it waits for the last fetch to end.
        fileprivate var waitingForFetches: CheckedContinuation<Void, Never>?

        var isOpen: Bool { closing == nil }

        fileprivate mutating func takeWaiter(_ id: LoadReaders.WaitID?) -> Waiter? {
            id.flatMap { waiters.removeValue(forKey: $0) }
        }
    }

    /// The outcome of a wait for a byte that the store did not return.
    enum Found {
        /// The byte is stored by now.
        case stored
        /// The byte was missing; the wait is over, and the reader must look again.
        case missing
        case end
        case live(LiveStream)
    }

    fileprivate typealias Waiter = CheckedContinuation<Found, any Error>

    let url: WebURL
    let store: any ByteStore
    let parts: LoaderParts
    /// The bytes that were stored before this open.
    let storedAtOpen: ByteRangeSet
    private let onChanged: @Sendable (ResourceLoader) async -> Void
    private let onIdle: @Sendable (ResourceLoader) -> Void
    // Guards all mutable state. While it is held, only the clock, the store's `stored` and `commitOnly`, the
    // network's report and the line are called, which take no locks but their own, and no continuation is
    // resumed.
    private let guarded: Locked<Guarded>
    // Held while a description is copied and passed to the store, so that an older one never arrives last.
    private let describing = Locked(())

    /// `measure` is the known measure of the connection to the server. Without `trustsValidators`, only the
    /// bytes identify the resource. `onChanged` makes the next open start with an empty entry; `onIdle` is
    /// called when the last reader has closed.
    init(
        url: WebURL,
        store: any ByteStore,
        parts: LoaderParts,
        measure: LineMeasure = LineMeasure(),
        trustsValidators: Bool = true,
        seed: UInt64,
        onChanged: @escaping @Sendable (ResourceLoader) async -> Void,
        onIdle: @escaping @Sendable (ResourceLoader) -> Void
    ) {
        self.url = url
        self.store = store
        self.parts = parts
        self.onChanged = onChanged
        self.onIdle = onIdle
        storedAtOpen = store.stored
        let state = ResourceLoadState(
            settings: parts.settings.adapted(to: url),
            subject: url.safeText,
            description: store.description,
            stored: storedAtOpen,
            measure: measure,
            seed: seed,
            hasUserInfo: url.userInfo != nil,
            trustsValidators: trustsValidators
        )
        guarded = Locked(Guarded(state: state))
        let user = parts.line.join { [weak self] in self?.step { $0.replan($1) } }
        guarded.withLock { $0.lineUser = user }
    }

    // MARK: Steps

    func step(_ event: (inout ResourceLoadState, LoadMoment) -> [LoadAction]) {
        perform(decide { event(&$0.state, $1) })
    }

    /// Passes one event to the state. If other loaders share the connection and the need of the resource has
    /// changed, reports it to them.
    func decide<Result: Sendable>(_ event: (inout Guarded, LoadMoment) -> Result) -> Result {
        let (result, listeners) = guarded.withLock { guarded -> (Result, [SharedLine.Listener]) in
            let moment = moment(guarded.lineUser)
            let result = event(&guarded, moment)
            // Without validators, only proven bytes may be committed: otherwise an entry could hold bytes of
            // two versions of the resource.
            let proven = guarded.state.proven(moment)
            if proven != guarded.proven { store.commitOnly(proven) }
            guarded.proven = proven
            guard let user = guarded.lineUser, parts.line.isShared,
                case let need = guarded.state.need(moment), need != guarded.need
            else { return (result, []) }
            guarded.need = need
            return (result, parts.line.setNeed(need, of: user))
        }
        for listener in listeners { listener() }
        return result
    }

    /// The present moment. Read under the lock, so that it is never older than the state it is used with.
    private func moment(_ user: SharedLine.User?) -> LoadMoment {
        var moment = LoadMoment(now: parts.clock.now, stored: store.stored)
        moment.network = parts.network
        moment.othersNeed = user.flatMap { parts.line.othersNeed(of: $0) }
        return moment
    }

    /// Records a fact that changes no plan.
    func note<Result: Sendable>(_ change: (inout Guarded) -> Result) -> Result {
        guarded.withLock { change(&$0) }
    }

    func perform(_ actions: [LoadAction]) {
        for action in actions {
            switch action {
            case .startFetch(let plan): startFetch(plan)
            case .cancelFetch(let id): guarded.withLock { $0.fetches[id] ?? nil }?.cancel()
            case .wakeRead(let id): guarded.withLock { $0.takeWaiter(id) }?.resume(returning: .missing)
            case .failRead(let id, let error): guarded.withLock { $0.takeWaiter(id) }?.resume(throwing: error)
            case .wakeAt(let time): wake(at: time)
            case .decided(let decision, let text):
                parts.decided(decision, text, about: url.safeText)
            case .declareChanged: break
            }
        }
    }

    /// Performs `actions`, and waits for the only one that takes time: opening a new entry for a changed
    /// resource.
    func performAll(_ actions: [LoadAction]) async {
        perform(actions)
        if actions.contains(.declareChanged) { await onChanged(self) }
    }

    private func wake(at time: Duration) {
        let earlier = guarded.withLock { guarded -> Task<Void, Never>? in
            guard guarded.isOpen else { return nil }
            let earlier = guarded.timer
            guarded.timer = Task { [weak self, clock = parts.clock] in
                guard (try? await clock.sleep(until: time)) != nil else { return }
                self?.step { $0.replan($1) }
            }
            return earlier
        }
        earlier?.cancel()
    }

    // MARK: Fetches

    private func startFetch(_ plan: FetchPlan) {
        let mayRun = guarded.withLock { guarded in
            // A seek may have cancelled the fetch since the decision.
            guard guarded.isOpen, guarded.state.isUnderWay(plan.id) else { return false }
            guarded.fetches[plan.id] = .some(nil)
            return true
        }
        guard mayRun else { return step { $0.fetchEnded(plan.id, error: nil, $1) } }
        let fetch = ResourceFetch(plan: plan, loader: self)
        // A waiting read can send its request on its own thread at once; other callers must not be delayed.
        let task = plan.urgency == .demand ? Task.immediate { await fetch.run() } : Task { await fetch.run() }
        let isCancelled = guarded.withLock { guarded in
            // The fetch may have ended already.
            guard guarded.fetches[plan.id] != nil else { return false }
            guarded.fetches[plan.id] = task
            return guarded.state.fetches.find(plan.id)?.phase == .cancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Handles the end of a fetch, for any reason.
    func finish(_ id: FetchPlan.ID, error: MediaError?) {
        let actions = decide { $0.state.fetchEnded(id, error: error, $1) }
        // The end of a body can show the length of the resource.
        storeDescription()
        perform(actions)
        let closing = guarded.withLock { guarded in
            guarded.fetches[id] = nil
            return guarded.fetches.isEmpty ? guarded.waitingForFetches.take() : nil
        }
        closing?.resume()
    }

    /// Changes the description of the resource, and stores it.
    func describe(_ edit: (inout EntryDescription) -> Void) {
        guarded.withLock { $0.state.describe(edit) }
        storeDescription()
    }

    /// Stores the description from the responses.
    func storeDescription() {
        describing.withLock { _ in store.describe(guarded.withLock { $0.state.description }) }
    }

    // MARK: Readers

    /// Adds a reader; `nil` if the loader was closed in the meantime.
    func addReader() -> LoadReaders.ID? {
        guarded.withLock { guarded in
            guard guarded.isOpen else { return nil }
            guarded.lastReader += 1
            let id = LoadReaders.ID(guarded.lastReader)
            guarded.state.readerOpened(id)
            return id
        }
    }

    /// Waits for the byte at `offset`, which the store did not return. If the outcome is known already,
    /// returns it at once.
    func waitForBytes(_ id: LoadReaders.ID, at offset: Int64) async throws -> Found {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let (result, actions) = decide { guarded, moment in
                    guarded.look(id, at: offset, moment, waiter)
                }
                if let result { waiter.resume(with: result) }
                perform(actions)
            }
        } onCancel: {
            let waiter = decide { guarded, _ in guarded.takeWaiter(guarded.state.readCancelled(id)) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// The network is back: waiting reads retry at once, and so does a live stream.
    func networkIsBack() {
        step { $0.networkReturned($1) }
        guarded.withLock { $0.live }?.networkReturned()
    }

    // MARK: Reports

    /// Adds to the totals of the report: bytes just received, or what a revalidation took before this open.
    func count(requests: Int, bytes: Int64) {
        guarded.withLock { guarded in
            guarded.requestCount += requests
            guarded.fetchedBytes += bytes
        }
    }

    var length: Int64? { guarded.withLock { $0.state.length } }
    var isSeekable: Bool { guarded.withLock { $0.state.isSeekable(store.stored) } }
    var measure: LineMeasure { guarded.withLock { $0.state.measure } }

    var report: LoadReport {
        let isCached = store.isPersistent
        var (report, live) = guarded.withLock { guarded in
            let state = guarded.state
            let moment = moment(guarded.lineUser)
            var report = LoadReport()
            report.length = state.length
            report.contentType = state.description.contentType
            report.redirectedTo = state.description.redirectedTo
            report.stored = moment.stored
            report.inFlight = state.fetches.inFlight
            report.wanted = state.wanted(moment)
            report.fetchedBytes = guarded.fetchedBytes
            report.requestCount = guarded.requestCount
            report.isShared = state.readers.count > 1
            report.answeredAt = guarded.answeredAt
            report.bytesPerSecond = state.measure.bytesPerSecond
            report.wait = state.wait(moment)
            report.isSeekable = state.isSeekable(moment.stored)
            report.isCached = isCached
            return (report, guarded.live)
        }
        live?.add(to: &report)
        return report
    }

    // MARK: Closing

    func close(_ id: LoadReaders.ID) async {
        let (actions, waiter, closing) = decide { guarded, moment in
            let wait = guarded.state.readers[id]?.wait
            let actions = guarded.state.readerClosed(id, moment)
            if guarded.state.readers.isEmpty, guarded.isOpen { guarded.closing = Task { await end() } }
            return (actions, guarded.takeWaiter(wait), guarded.closing)
        }
        waiter?.resume(throwing: CancellationError())
        perform(actions)
        await closing?.value
    }

    /// `true` if some reader is open.
    var hasReaders: Bool { guarded.withLock { !$0.state.readers.isEmpty } }

    /// Returns when the store is closed. Only for a loader that accepts no more readers.
    func closed() async { await guarded.withLock { $0.closing }?.value }

    /// Releases everything. Called once, after the last reader has closed.
    private func end() async {
        let (timer, live, user) = guarded.withLock { guarded in
            (guarded.timer.take(), guarded.live, guarded.lineUser.take())
        }
        if let user { parts.line.leave(user) }
        timer?.cancel()
        await live?.close()
        // A cancelled fetch may still be writing its last bytes; the store is closed after that.
        await withCheckedContinuation { continuation in
            let isIdle = guarded.withLock { guarded in
                if !guarded.fetches.isEmpty { guarded.waitingForFetches = continuation }
                return guarded.fetches.isEmpty
            }
            if isIdle { continuation.resume() }
        }
        await store.close()
        onIdle(self)
    }
}

extension ResourceLoader.Guarded {
    /// Looks for the byte at `offset`; if it is missing, returns no result and resumes `waiter` later.
    fileprivate mutating func look(
        _ id: LoadReaders.ID,
        at offset: Int64,
        _ moment: LoadMoment,
        _ waiter: ResourceLoader.Waiter
    ) -> (Result<ResourceLoader.Found, any Error>?, [LoadAction]) {
        // The task may have been cancelled before there was a waiter to resume.
        guard !Task.isCancelled, isOpen, state.readers[id] != nil else {
            return (.failure(CancellationError()), [])
        }
        let outlook = state.outlook(at: offset, moment)
        switch outlook {
        case .end: return (.success(.end), [])
        case .stored: return (.success(.stored), [])
        case .live: return (live.map { .success(.live($0)) } ?? .failure(CancellationError()), [])
        case .missing, .failed: break
        }
        let actions = state.readRequested(id, at: offset, moment)
        if case .failed(let error) = outlook { return (.failure(error), actions) }
        guard let wait = state.readers[id]?.wait else {
            preconditionFailure("a read that misses its bytes waits for them")
        }
        waiters[wait] = waiter
        return (nil, actions)
    }
}
