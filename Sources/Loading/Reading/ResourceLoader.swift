import Media
import System

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
        /// Sleeps until the state wants to know that a time has come.
        var timer: Task<Void, Never>?
        /// Set once a body without end has gone over to it.
        var live: LiveStream?
        /// This loader among those that share the line, and how often it told them what it needs.
        var lineUser: LinePriorities.User?
        var needRevision = 0
        var nextReader = 1
        var counters = LoadCounters()
        /// The last reader has closed; nothing begins any more.
        var isClosed = false
        var isGone = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
        /// The last commit that a cancel asked for, begun or not; each waits for the one before it.
        var commit: Task<Void, Never>?
        var isCommitQueued = false

        /// Who waits for bytes on the reader's behalf, to be resumed by the caller.
        mutating func takeWaiter(of id: ResourceLoadState.ReaderID) -> CheckedContinuation<Void, any Error>? {
            waits.removeValue(forKey: id).flatMap { waiters.removeValue(forKey: $0) }
        }
    }

    let url: WebURL
    let store: any ByteStore
    let parts: LoaderParts
    let onChanged: @Sendable (WebURL, ResourceLoader) async -> Void
    private let onIdle: @Sendable (WebURL, ResourceLoader) -> Void
    // Guards everything that changes. Nothing foreign is called, and nothing is resumed, while it is held.
    let guarded: Locked<Guarded>
    // Held while a description is copied and handed to the store, so that an older one never comes last.
    let describing = Locked(())

    /// `measure` is what is known of the line to its server. `onChanged` makes the next open start anew; `onIdle`
    /// is called when the last reader has closed.
    init(
        url: WebURL,
        store: any ByteStore,
        parts: LoaderParts,
        measure: LineMeasure = LineMeasure(),
        seed: UInt64,
        onChanged: @escaping @Sendable (WebURL, ResourceLoader) async -> Void,
        onIdle: @escaping @Sendable (WebURL, ResourceLoader) -> Void
    ) {
        self.url = url
        self.store = store
        self.parts = parts
        self.onChanged = onChanged
        self.onIdle = onIdle
        let stored = store.stored
        var state = ResourceLoadState(
            settings: parts.settings,
            subject: url.safeText,
            description: store.description,
            stored: stored,
            measure: measure,
            seed: seed
        )
        state.forgetImpossibleLength()
        guarded = Locked(Guarded(state: state, counters: LoadCounters(storedAtOpen: stored)))
    }

    /// Takes its place among those that share the line. Once, before the first reader.
    func joinLine() {
        let user = parts.line.join { [weak self] need, revision in
            self?.step { $0.othersNeedChanged(need, revision: revision) }
        }
        guarded.withLock { $0.lineUser = user }
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

    /// Lets the state take one event and performs what it wants.
    func step(_ event: (inout ResourceLoadState) -> [ResourceLoadState.Action]) {
        perform(decide { event(&$0.state) })
    }

    /// Lets the state take one event; those that share the line learn what is needed here now.
    func decide<Result: Sendable>(_ event: (inout Guarded) -> Result) -> Result {
        let now = parts.clock.now
        let (result, user, need, revision) = guarded.withLock { guarded in
            guarded.state.timeIs(now)
            let result = event(&guarded)
            guarded.needRevision += 1
            return (result, guarded.lineUser, guarded.state.need, guarded.needRevision)
        }
        if let user { parts.line.needs(need, of: user, revision: revision) }
        return result
    }

    /// The network is there again: whoever waits for it tries at once, a live stream too.
    func networkIsBack() {
        step { $0.networkReturned() }
        guarded.withLock { $0.live }?.networkReturned()
    }

    func close(_ id: ResourceLoadState.ReaderID) async {
        let (actions, waiter, isLast) = decide { guarded in
            let actions = guarded.state.readerClosed(id)
            let isLast = guarded.state.readers.isEmpty && !guarded.isClosed
            if isLast { guarded.isClosed = true }
            return (actions, guarded.takeWaiter(of: id), isLast)
        }
        waiter?.resume(throwing: CancellationError())
        perform(actions)
        if isLast { await end() }
    }

    /// Lets go of everything. Only once, after the last reader.
    private func end() async {
        let (tasks, timer, live, user, commit) = guarded.withLock { guarded in
            defer {
                guarded.timer = nil
                guarded.lineUser = nil
            }
            let tasks = Array(guarded.tasks.values)
            return (tasks, guarded.timer, guarded.live, guarded.lineUser, guarded.commit)
        }
        if let user { parts.line.leave(user) }
        timer?.cancel()
        await live?.close()
        // A cancelled fetch may still be writing what came; the store closes after it.
        for task in tasks { await task.value }
        await commit?.value
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
}
