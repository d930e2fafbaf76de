import Media

/// One request for a resource, from the decision to send it to its last byte.
struct LoadFetch: Sendable {
    enum Phase: Sendable, Equatable {
        /// There is no response yet.
        case requested
        /// The body is arriving; none of its bytes were missing so far.
        case answered
        /// The body has delivered at least one byte that was missing.
        case progressing
        /// Cancelled: its last bytes may still be on their way into the store, so they are not requested
        /// again until it has ended.
        case cancelled
    }

    fileprivate(set) var plan: FetchPlan
    /// The offset of the next byte that it will deliver.
    fileprivate(set) var next: Int64
    /// `Int64.max` if unknown.
    fileprivate(set) var end: Int64
    fileprivate(set) var phase = Phase.requested
    /// The offset after the last byte that arrived; `nil` if none has.
    fileprivate(set) var reached: Int64?
    fileprivate(set) var sentAt: Duration?
    /// The time at which another request was completed, while this one had no response; `nil` if none was.
    fileprivate(set) var overtakenAt: Duration?
    fileprivate var watch = BodyWatch()
    /// `true` if no other request was in progress when it began.
    let beganAlone: Bool
    /// `true` if another request had no response yet when it began, so that the two needed two connections.
    let neededConnection: Bool
    let attempt: RetryState.Attempt

    var isWhole: Bool { plan.wanted == nil }
    var isAnswered: Bool { phase == .answered || phase == .progressing }
    var remaining: ByteRange { min(next, end)..<end }

    /// `true` while the body has not reached the requested bytes: some servers send more bytes before them.
    var isBeforeAsked: Bool { plan.asked.map { isAnswered && next < $0.lowerBound } ?? false }
}

/// The requests for one resource that are in progress.
struct LoadFetches: Sendable {
    private var fetches: [FetchPlan.ID: LoadFetch] = [:]
    private var lastID = 0

    /// The requests that were not cancelled, the oldest first.
    var active: [LoadFetch] {
        fetches.values.filter { $0.phase != .cancelled }.sorted { $0.plan.id < $1.plan.id }
    }
    private var cancelled: [LoadFetch] { fetches.values.filter { $0.phase == .cancelled } }

    var isEmpty: Bool { active.isEmpty }
    /// `true` if any request still has bytes to deliver; one that has delivered its last byte ends in a
    /// moment.
    var isBusy: Bool { active.contains { !$0.remaining.isEmpty } }
    var hasWhole: Bool { active.contains(where: \.isWhole) }

    /// The ranges still to come, without those whose end is unknown.
    var inFlight: [ByteRange] {
        active.map(\.remaining).filter { !$0.isEmpty && $0.upperBound != .max }
            .sorted { $0.lowerBound < $1.lowerBound }
    }

    /// The bytes of `gap` that no request, active or cancelled, will deliver.
    func uncovered(of gap: ByteRange) -> [ByteRange] {
        var coming = ByteRangeSet()
        for fetch in fetches.values { coming.insert(contentsOf: fetch.remaining) }
        return coming.gaps(in: gap)
    }

    /// The request with this number, unless it was cancelled.
    subscript(id: FetchPlan.ID) -> LoadFetch? {
        find(id).flatMap { $0.phase == .cancelled ? nil : $0 }
    }

    /// The request with this number, also if it was cancelled.
    func find(_ id: FetchPlan.ID) -> LoadFetch? { fetches[id] }

    /// The oldest request in progress whose remaining bytes include `offset`.
    func bringing(_ offset: Int64) -> LoadFetch? { active.first { $0.remaining.contains(offset) } }

    /// A cancelled request whose last bytes, still on their way into the store, may include `offset`.
    func cancelledBringing(_ offset: Int64) -> LoadFetch? {
        cancelled.first { $0.remaining.contains(offset) }
    }

    var nextID: FetchPlan.ID { FetchPlan.ID(value: lastID + 1) }

    mutating func began(_ plan: FetchPlan, end: Int64, attempt: RetryState.Attempt) {
        precondition(plan.id == nextID, "fetches are numbered in the order in which they begin")
        lastID = plan.id.value
        fetches[plan.id] = LoadFetch(
            plan: plan,
            next: plan.wanted?.lowerBound ?? 0,
            end: end,
            beganAlone: isEmpty,
            neededConnection: !active.allSatisfy(\.isAnswered),
            attempt: attempt
        )
    }

    mutating func sent(_ id: FetchPlan.ID, at now: Duration) { fetches[id]?.sentAt = now }

    /// The body of the response begins at `start` and ends at `end` at the latest.
    mutating func answered(_ id: FetchPlan.ID, from start: Int64, upTo end: Int64) {
        guard var fetch = fetches[id] else { return }
        fetch.next = fetch.plan.asked.map { start < $0.lowerBound } ?? true ? start : fetch.next
        fetch.end = end
        fetch.phase = .answered
        fetches[id] = fetch
    }

    /// The body is the whole resource, whatever was requested.
    mutating func becameWhole(_ id: FetchPlan.ID) { fetches[id]?.plan.wanted = nil }

    /// The bytes up to `offset` were stored; `isNew` if any of them was missing. Returns the fetch as it is
    /// now, unless it was cancelled.
    mutating func stored(_ id: FetchPlan.ID, upTo offset: Int64, isNew: Bool) -> LoadFetch? {
        guard var fetch = fetches[id] else { return nil }
        fetch.next = max(fetch.next, offset)
        fetch.reached = offset
        if isNew, fetch.phase != .cancelled { fetch.phase = .progressing }
        fetches[id] = fetch
        return self[id]
    }

    /// `count` bytes arrived at `now`. Returns a measurement of the rate once there are enough of them.
    mutating func received(_ id: FetchPlan.ID, _ count: Int, at now: Duration) -> BodyWatch.Piece? {
        fetches[id]?.watch.received(Int64(count), at: now)
    }

    /// Another request was completed at `now`. Returns `true` if any request has no response yet.
    mutating func overtaken(at now: Duration) -> Bool {
        let waiting = fetches.values.filter { $0.phase == .requested && $0.sentAt != nil }
        for fetch in waiting where fetch.overtakenAt == nil { fetches[fetch.plan.id]?.overtakenAt = now }
        return !waiting.isEmpty
    }

    mutating func ended(_ id: FetchPlan.ID) -> LoadFetch? { fetches.removeValue(forKey: id) }

    mutating func cancel(_ id: FetchPlan.ID) { fetches[id]?.phase = .cancelled }

    /// Cancels every request but `kept`. Returns the cancelled ones.
    mutating func cancelAll(but kept: FetchPlan.ID?) -> [FetchPlan.ID] {
        let ids = active.map(\.plan.id).filter { $0 != kept }
        for id in ids { cancel(id) }
        return ids
    }
}
