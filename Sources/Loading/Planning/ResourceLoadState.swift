package import Media

/// Decides what is fetched of one resource: events in, actions out.
///
/// Knows what is stored, who reads where, and which requests are under way. It holds no task,
/// lock or clock, and never sees a byte of the body.
package struct ResourceLoadState: Sendable {
    /// One listener of the resource.
    package struct ReaderID: Hashable, Sendable, Comparable {
        package var value: Int

        package init(_ value: Int) { self.value = value }

        package static func < (left: ReaderID, right: ReaderID) -> Bool { left.value < right.value }
    }

    /// One wait of a reader; news for an old one are not for the next.
    package struct WaitID: Hashable, Sendable {
        package var value: Int
    }

    package enum Action: Equatable, Sendable {
        case startFetch(FetchPlan)
        case cancelFetch(FetchPlan.ID)
        /// The wait is over: its offset is stored, or lies past the end.
        case wakeRead(WaitID)
        case failRead(WaitID, MediaError)
        /// The resource is another one now; comes once.
        case declareChanged
    }

    struct Reader: Sendable {
        /// Where it read last; read-ahead counts from here.
        var offset: Int64 = 0
        var wait: WaitID?
        var isWaiting: Bool { wait != nil }
        /// Nil until read-ahead is allowed.
        var readAhead: Int64?
        var prefetches: [ByteRange] = []
    }

    struct Fetch: Sendable {
        var plan: FetchPlan
        /// The next byte it will bring.
        var next: Int64
        /// Where it ends; `Int64.max` when that is not known.
        var end: Int64
        var isAnswered = false
        var hasProgress = false

        var isWhole: Bool { plan.wanted == nil }
        var remaining: ByteRange { min(next, end)..<end }
    }

    let settings: LoadSettings
    let subject: SafeText
    /// What the answers and earlier opens said of the resource.
    package internal(set) var description: EntryDescription
    package internal(set) var stored: ByteRangeSet
    /// What requests of this open brought and ended in good order: the next window goes on there without
    /// asking for any of it again.
    var brought = ByteRangeSet()
    var readers: [ReaderID: Reader] = [:]
    var fetches: [FetchPlan.ID: Fetch] = [:]
    var nextFetchID = 1
    var nextWaitID = 1
    /// Set by a failure without progress: nothing is fetched ahead until a read wants something.
    var isBackgroundHeld = false
    /// Bytes per second, as measured by the shell.
    var rate: Double?
    /// Why the resource is of no more use; every further read fails with it.
    package internal(set) var verdict: MediaError?

    /// `subject` names the resource in errors; `stored` is what the store has at the start.
    package init(
        settings: LoadSettings,
        subject: SafeText,
        description: EntryDescription,
        stored: ByteRangeSet
    ) {
        self.settings = settings
        self.subject = subject
        self.description = description
        self.stored = stored
        // A server that had no ranges the last time is asked again: it may have them by now, and asking
        // costs nothing, while the whole from its first byte costs what is stored once more.
        if description.acceptsRanges == false { self.description.acceptsRanges = nil }
    }

    /// The length in bytes, where known.
    package var length: Int64? { description.length }

    /// Whether every byte is stored.
    package var isComplete: Bool { length.map { stored.covers(0..<$0) } ?? false }

    /// What fetches under way are still to bring.
    package var inFlight: [ByteRange] {
        fetches.values.map(\.remaining).filter { !$0.isEmpty && $0.upperBound != .max }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// What a read at `offset` finds now.
    package func outlook(at offset: Int64) -> ReadOutlook {
        if let length, offset >= length { return .end }
        if stored.contains(offset) { return .stored }
        if let verdict { return .failed(verdict) }
        return .missing
    }

    package enum ReadOutlook: Equatable, Sendable {
        case stored
        case end
        case missing
        case failed(MediaError)
    }
}

// What readers do.
extension ResourceLoadState {
    package mutating func readerOpened(_ id: ReaderID) {
        readers[id] = Reader()
    }

    /// A read looks at `offset`. When that is missing, the reader counts as waiting from now on.
    package mutating func readRequested(_ id: ReaderID, at offset: Int64) -> [Action] {
        guard readers[id] != nil else { return [] }
        readers[id]?.offset = offset
        guard outlook(at: offset) == .missing else {
            readers[id]?.wait = nil
            return plan()
        }
        readers[id]?.wait = WaitID(value: nextWaitID)
        nextWaitID += 1
        return plan()
    }

    /// The wait that the reader is in; nil when it waits for nothing.
    package func wait(of id: ReaderID) -> WaitID? { readers[id]?.wait }

    /// Whether the reader is still there.
    package func hasReader(_ id: ReaderID) -> Bool { readers[id] != nil }

    /// Whether the fetch was neither cancelled nor has ended.
    package func isUnderWay(_ id: FetchPlan.ID) -> Bool { fetches[id] != nil }

    /// The waiting task was cancelled. What it wanted goes on until the reader's next read or its close
    /// tells where it wants to be: a seek's first act is to cancel, and its target may lie near.
    package mutating func readCancelled(_ id: ReaderID) {
        readers[id]?.wait = nil
    }

    package mutating func readAheadAllowed(_ id: ReaderID, bytesPerSecond: Double) -> [Action] {
        let ahead = readAhead(bytesPerSecond: bytesPerSecond)
        readers[id]?.readAhead = bytesPerSecond > 0 ? ahead : nil
        return plan()
    }

    package mutating func prefetchRequested(_ id: ReaderID, _ range: ByteRange) -> [Action] {
        guard !range.isEmpty else { return [] }
        readers[id]?.prefetches.append(range)
        return plan()
    }

    /// The reader is gone; what only it wanted ends, also in mid-body.
    package mutating func readerClosed(_ id: ReaderID) -> [Action] {
        readers[id] = nil
        guard readers.isEmpty else { return plan() }
        defer { fetches = [:] }
        return fetches.keys.sorted().map { .cancelFetch($0) }
    }

    private func readAhead(bytesPerSecond: Double) -> Int64 {
        switch settings.readAhead {
        case .all: .max / 4
        case .size(let size): max(0, size)
        case .time(let time):
            max(settings.leastReadAhead, Int64(min(time.seconds * max(0, bytesPerSecond), 1e15)))
        }
    }
}

// What fetches bring.
extension ResourceLoadState {
    /// `range` was written to the store by the fetch `id`.
    ///
    /// Counted also for a fetch that was cancelled meanwhile: its bytes are as good as any.
    package mutating func bytesStored(_ range: ByteRange, by id: FetchPlan.ID) -> [Action] {
        // Bytes that were there before are no progress: a server that always breaks off among them
        // would be asked for ever.
        let isNew = !stored.covers(range)
        stored.insert(contentsOf: range)
        brought.insert(contentsOf: range)
        if isNew { isBackgroundHeld = false }
        if var fetch = fetches[id] {
            fetch.next = max(fetch.next, range.upperBound)
            fetch.hasProgress = fetch.hasProgress || isNew
            fetches[id] = fetch
            if fetch.isWhole, length == nil, fetch.next > settings.largestUnknownBody { return endless(id) }
        }
        return wakes() + plan()
    }

    /// The store no longer has everything it had (a failed check, an eviction): it now has `stored`.
    package mutating func bytesLost(nowStored stored: ByteRangeSet) -> [Action] {
        self.stored = stored
        brought.formIntersection(stored)
        return plan()
    }

    /// The body ended as its framing told, or with `error`.
    package mutating func fetchEnded(_ id: FetchPlan.ID, error: MediaError?) -> [Action] {
        // A cancelled fetch is no longer in the table: its end is no news.
        guard let fetch = fetches.removeValue(forKey: id) else { return [] }
        // A server that broke off may come back with another file.
        if error != nil { brought.remove(contentsOf: max(0, fetch.next - settings.overlap)..<fetch.next) }
        if error == nil, fetch.isWhole, fetch.isAnswered, length == nil {
            // A body without a stated length told it by ending.
            description.length = fetch.next
            return wakes() + plan()
        }
        if fetch.hasProgress { return wakes() + plan() }
        isBackgroundHeld = true
        let reason = error ?? MediaError(.cut, subject, "the server answers without sending anything")
        return failReads(in: fetch, reason) + plan()
    }

    /// The rate of the line, as the shell measured it.
    package mutating func rateMeasured(bytesPerSecond: Double) { rate = bytesPerSecond }

    /// Wakes every read whose wait is over.
    mutating func wakes() -> [Action] {
        var actions: [Action] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], let wait = reader.wait else { continue }
            switch outlook(at: reader.offset) {
            case .missing: continue
            case .stored, .end: actions.append(.wakeRead(wait))
            case .failed(let error): actions.append(.failRead(wait, error))
            }
            readers[id]?.wait = nil
        }
        return actions
    }

    /// Fails the reads that waited for `fetch` (all, when it was to bring everything).
    mutating func failReads(in fetch: Fetch, _ error: MediaError) -> [Action] {
        var actions: [Action] = []
        for id in readers.keys.sorted() {
            guard let reader = readers[id], let wait = reader.wait else { continue }
            guard fetch.isWhole || fetch.remaining.contains(reader.offset) else { continue }
            readers[id]?.wait = nil
            actions.append(.failRead(wait, error))
        }
        return actions
    }
}

// What is kept with the entry besides its bytes.
extension ResourceLoadState {
    mutating func keep(seekTable: [UInt8]) { description.seekTable = seekTable }

    mutating func keep(title: SafeText?, artist: SafeText?, duration: Duration?) {
        description.title = title?.string
        description.artist = artist?.string
        description.durationSeconds = duration?.seconds
    }

    /// A stored length that the stored bytes contradict is from a damaged index: it is asked for anew.
    mutating func forgetImpossibleLength() {
        if let length, length < 0 || stored.ranges.last?.upperBound ?? 0 > length { description.length = nil }
    }
}
