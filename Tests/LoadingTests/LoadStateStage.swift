import Media
import TestSupport
import Testing

@testable import Loading

/// A load state with one reader, and the events of a fetch in one word each.
struct LoadStateStage {
    let reader = ResourceLoadState.ReaderID(1)
    var state: StagedLoad

    init(
        length: Int64? = nil,
        stored: [ByteRange] = [],
        validators: Validators = Validators(etag: "\"1\""),
        acceptsRanges: Bool? = nil,
        measure: LineMeasure = LineMeasure(),
        settings: LoadSettings = LoadSettings()
    ) {
        var description = EntryDescription()
        description.length = length
        description.validators = validators
        description.acceptsRanges = acceptsRanges
        var set = ByteRangeSet()
        for range in stored { set.insert(contentsOf: range) }
        state = StagedLoad(description, stored: set, settings: settings, measure: measure)
        state.readerOpened(reader)
    }

    mutating func read(_ offset: Int64, by id: ResourceLoadState.ReaderID? = nil) -> Actions {
        Actions(state.readRequested(id ?? reader, at: offset))
    }

    mutating func answer(_ plan: FetchPlan, _ answer: RangeAnswer) -> AnswerOutcome {
        state.fetchAnswered(plan.id, answer)
    }

    /// A 206 with exactly the requested bytes.
    mutating func answerPart(_ plan: FetchPlan, of total: Int64?) -> AnswerOutcome {
        answer(plan, .part(plan.asked ?? 0..<0, of: total, etag: state.description.validators.etag))
    }

    mutating func store(_ range: ByteRange, _ plan: FetchPlan) -> Actions {
        Actions(state.bytesStored(range, by: plan.id))
    }

    mutating func end(_ plan: FetchPlan, _ code: MediaError.Code? = nil) -> Actions {
        Actions(state.fetchEnded(plan.id, error: code.map { MediaError($0, "song", "it went wrong") }))
    }

    /// Answers, stores and ends `plan` in good order.
    mutating func complete(_ plan: FetchPlan, of total: Int64) -> Actions {
        let answered = Actions(answerPart(plan, of: total).actions)
        let stored = store(plan.asked ?? 0..<0, plan)
        return answered + stored + end(plan)
    }

    /// Lets the time pass until the next attempt is due, and says so.
    mutating func untilDue() -> Actions {
        state.now = state.load.attempts.wait?.retryAt ?? state.now
        return Actions(state.replan())
    }

    mutating func pass(_ time: Duration) { state.now += time }
}

/// A load state with the store and the clock that it is asked with.
struct StagedLoad {
    var load: ResourceLoadState
    var stored: ByteRangeSet
    var now = Duration.zero

    init(
        _ description: EntryDescription,
        stored: ByteRangeSet,
        settings: LoadSettings = LoadSettings(),
        measure: LineMeasure = LineMeasure()
    ) {
        load = ResourceLoadState(
            settings: settings,
            subject: "song",
            description: description,
            measure: measure,
            seed: 7
        )
        self.stored = stored
    }

    private var moment: LoadMoment { LoadMoment(now: now, stored: stored) }

    var description: EntryDescription { load.description }
    var length: Int64? { load.length }
    var isComplete: Bool { load.isComplete(stored) }
    var finalError: MediaError? { load.finalError }
    var need: FetchReason? { load.need(moment) }
    var wait: LoadWait? { load.wait(moment) }
    var inFlight: [ByteRange] { load.fetches.inFlight }
    var lacksSecondConnection: Bool {
        load.line.lacksSecondConnection(playing: load.readers.bytesPerSecond, now: now)
    }

    func outlook(at offset: Int64) -> ReadOutlook { load.outlook(at: offset, moment) }
    func isUnderWay(_ id: FetchPlan.ID) -> Bool { load.isUnderWay(id) }
    func isHandingOver(_ id: FetchPlan.ID) -> Bool { load.isHandingOver(id) }
    func wait(of id: LoadReaders.ID) -> LoadReaders.WaitID? { load.readers[id]?.wait }

    mutating func readerOpened(_ id: LoadReaders.ID) { load.readerOpened(id) }
    mutating func readRequested(_ id: LoadReaders.ID, at offset: Int64) -> [LoadAction] {
        load.readRequested(id, at: offset, moment)
    }
    mutating func readCancelled(_ id: LoadReaders.ID) { _ = load.readCancelled(id) }
    mutating func readAheadAllowed(_ id: LoadReaders.ID, bytesPerSecond: Double) -> [LoadAction] {
        load.readerAsked(id, for: .readAhead(bytesPerSecond: bytesPerSecond), moment)
    }
    mutating func prioritySet(_ id: LoadReaders.ID, isLow: Bool) -> [LoadAction] {
        load.readerAsked(id, for: .lowPriority(isLow), moment)
    }
    mutating func prefetchRequested(_ id: LoadReaders.ID, _ range: ByteRange) -> [LoadAction] {
        load.readerAsked(id, for: .prefetch(range), moment)
    }
    mutating func fillRequested(_ id: LoadReaders.ID) -> [LoadAction] {
        load.readerAsked(id, for: .fill, moment)
    }
    mutating func readerClosed(_ id: LoadReaders.ID) -> [LoadAction] { load.readerClosed(id, moment) }
    mutating func replan() -> [LoadAction] { load.replan(moment) }
    mutating func networkReturned() -> [LoadAction] { load.networkReturned(moment) }
    mutating func othersNeedChanged(_ need: FetchReason?, revision: Int) -> [LoadAction] {
        load.othersNeedChanged(need, revision: revision, moment)
    }
    mutating func measured(_ update: (inout LineMeasure) -> Void) { load.measured(update) }

    mutating func fetchAnswered(_ id: FetchPlan.ID, _ answer: RangeAnswer) -> AnswerOutcome {
        load.fetchAnswered(id, answer, moment)
    }

    /// The bytes come into the store, and the state hears of it.
    mutating func bytesStored(_ range: ByteRange, by id: FetchPlan.ID) -> [LoadAction] {
        let isNew = !stored.covers(range)
        stored.insert(contentsOf: range)
        return load.bytesStored(range, by: id, isNew: isNew, moment)
    }

    /// The store was refreshed, and now has bytes that other processes stored.
    mutating func storeLooked(_ id: FetchPlan.ID, nowStored: ByteRangeSet) -> (
        isNeeded: Bool, actions: [LoadAction]
    ) {
        stored.formUnion(nowStored)
        return load.storeLooked(id, moment)
    }

    mutating func overlapDiffered(_ id: FetchPlan.ID) -> [LoadAction] { load.overlapDiffered(id, moment) }
    mutating func fetchEnded(
        _ id: FetchPlan.ID,
        error: MediaError?,
        network: NetworkOutlook = NetworkOutlook()
    ) -> [LoadAction] {
        load.fetchEnded(id, error: error, network: network, moment)
    }
    mutating func handedOver(_ id: FetchPlan.ID) -> [LoadAction] { load.handedOver(id, moment) }
}

/// The actions of the state, by kind.
struct Actions {
    var all: [LoadAction]

    init(_ all: [LoadAction]) { self.all = all }

    static func + (left: Actions, right: Actions) -> Actions { Actions(left.all + right.all) }

    var plans: [FetchPlan] { all.compactMap { if case .startFetch(let plan) = $0 { plan } else { nil } } }
    var asked: [ByteRange?] { plans.map(\.asked) }
    var failures: [MediaError] {
        all.compactMap { if case .failRead(_, let error) = $0 { error } else { nil } }
    }
    var wakeAt: Duration? { all.compactMap { if case .wakeAt(let time) = $0 { time } else { nil } }.last }
    var cancelled: [FetchPlan.ID] {
        all.compactMap { if case .cancelFetch(let id) = $0 { id } else { nil } }
    }
    var woken: Int { all.count { if case .wakeRead = $0 { true } else { false } } }
    var decisions: [JournalRecord.Decision] {
        all.compactMap { if case .decided(let decision, _) = $0 { decision } else { nil } }
    }

    /// The only plan.
    func plan(_ location: SourceLocation = #_sourceLocation) throws -> FetchPlan {
        try #require(plans.count == 1 ? plans.first : nil, "\(all)", sourceLocation: location)
    }
}

extension RangeAnswer {
    static func part(_ range: ByteRange, of total: Int64?, etag: String? = "\"1\"") -> RangeAnswer {
        RangeAnswer(kind: .part(range: range, total: total), validators: Validators(etag: etag))
    }

    static func whole(_ length: Int64?, etag: String? = "\"1\"") -> RangeAnswer {
        RangeAnswer(kind: .whole(length: length), validators: Validators(etag: etag))
    }

    static func refused(_ status: Int, retryAfter: Duration? = nil) -> RangeAnswer {
        RangeAnswer(kind: .refused(status: status), retryAfter: retryAfter)
    }
}
