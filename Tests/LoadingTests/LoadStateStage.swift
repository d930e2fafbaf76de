import Media
import TestSupport
import Testing

@testable import Loading

/// A load state with a store, a clock and one reader, and its events in one word each.
struct LoadStateStage {
    static let long: Int64 = 100 << 20

    let reader = LoadReaders.ID(1)
    private(set) var load: ResourceLoadState
    private(set) var stored = ByteRangeSet()
    private(set) var now = Duration.zero

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
        for range in stored { self.stored.insert(contentsOf: range) }
        load = ResourceLoadState(
            settings: settings,
            subject: "song",
            description: description,
            stored: self.stored,
            measure: measure,
            seed: 7
        )
        load.readerOpened(reader)
    }

    /// 100 MiB of which the first window is stored.
    static func begun(_ measure: LineMeasure = LineMeasure()) -> LoadStateStage {
        LoadStateStage(length: long, stored: [0..<65_536], measure: measure)
    }

    var network = ConnectivityReport()
    private var othersNeed: Urgency?

    private var moment: LoadMoment {
        var moment = LoadMoment(now: now, stored: stored)
        moment.network = network
        moment.othersNeed = othersNeed
        return moment
    }

    var length: Int64? { load.length }
    var isComplete: Bool { load.length.map { stored.covers(0..<$0) } ?? false }
    var isSeekable: Bool { load.isSeekable(stored) }
    var need: Urgency? { load.need(moment) }
    var wait: LoadWait? { load.wait(moment) }
    var proven: ByteRangeSet? { load.proven(moment) }
    var lacksSecondConnection: Bool {
        load.line.lacksSecondConnection(playing: load.readers.bytesPerSecond, now: now)
    }

    func outlook(at offset: Int64) -> ReadOutlook { load.outlook(at: offset, moment) }

    // MARK: Readers

    /// Opens one more reader.
    mutating func open(_ number: Int = 2) -> LoadReaders.ID {
        let id = LoadReaders.ID(number)
        load.readerOpened(id)
        return id
    }

    @discardableResult
    mutating func read(_ offset: Int64, by id: LoadReaders.ID? = nil) -> [LoadAction] {
        load.readRequested(id ?? reader, at: offset, moment)
    }

    mutating func cancelRead() { _ = load.readCancelled(reader) }

    @discardableResult
    mutating func readAhead(_ bytesPerSecond: Double = 40_000) -> [LoadAction] {
        ask(.readAhead(bytesPerSecond: bytesPerSecond))
    }

    @discardableResult
    mutating func ask(_ wish: LoadReaders.Wish, by id: LoadReaders.ID? = nil) -> [LoadAction] {
        load.readerAsked(id ?? reader, for: wish, moment)
    }

    mutating func close(_ id: LoadReaders.ID) -> [LoadAction] { load.readerClosed(id, moment) }

    // MARK: The network and the clock

    @discardableResult
    mutating func othersNeed(_ need: Urgency?) -> [LoadAction] {
        othersNeed = need
        return load.replan(moment)
    }

    mutating func networkReturned() -> [LoadAction] { load.networkReturned(moment) }

    mutating func pass(_ time: Duration) -> [LoadAction] {
        now += time
        return load.replan(moment)
    }

    /// Lets the time pass until the next attempt is due.
    mutating func untilDue() -> [LoadAction] {
        now = load.retry.wait?.retryAt ?? now
        return load.replan(moment)
    }

    // MARK: A fetch

    /// The request leaves.
    mutating func send(_ plan: FetchPlan) { _ = load.storeLooked(plan.id, moment) }

    @discardableResult
    mutating func answer(_ plan: FetchPlan, _ answer: RangeAnswer) -> AnswerOutcome {
        load.fetchAnswered(plan.id, answer, moment)
    }

    /// A 206 with exactly the requested bytes of `total`, or else of the known length.
    @discardableResult
    mutating func answerPart(_ plan: FetchPlan, of total: Int64? = nil) -> AnswerOutcome {
        answer(plan, .part(plan.asked ?? 0..<0, of: total ?? length, etag: load.description.validators.etag))
    }

    /// The bytes of `range` come into the store.
    @discardableResult
    mutating func store(_ range: ByteRange, _ plan: FetchPlan) -> [LoadAction] {
        let isNew = !stored.covers(range)
        stored.insert(contentsOf: range)
        return load.bytesStored(range, by: plan.id, isNew: isNew, moment)
    }

    mutating func overlapDiffered(_ plan: FetchPlan) -> [LoadAction] {
        load.overlapDiffered(plan.id, moment)
    }

    mutating func handedOver(_ plan: FetchPlan) -> [LoadAction] { load.handedOver(plan.id, moment) }

    @discardableResult
    mutating func end(_ plan: FetchPlan, _ code: MediaError.Code? = nil) -> [LoadAction] {
        let error = code.map { MediaError($0, "song", "it went wrong") }
        return load.fetchEnded(plan.id, error: error, moment)
    }

    /// Answers and stores all of `plan`, and ends it well.
    @discardableResult
    mutating func complete(_ plan: FetchPlan, of total: Int64? = nil) -> [LoadAction] {
        let answered = answerPart(plan, of: total).actions
        let stored = store(plan.asked ?? 0..<0, plan)
        return answered + stored + end(plan)
    }

    /// Completes the fetches of `actions` and all that follow them, and returns them.
    mutating func completeAll(_ actions: [LoadAction]) -> [FetchPlan] {
        var open = actions.plans
        var done = [FetchPlan]()
        while let plan = open.popLast(), done.count < 1_000 {
            done.append(plan)
            open += complete(plan).plans
        }
        return done
    }

    /// Fails `plan` and the attempts after it, each when it is due, and returns the next.
    mutating func fail(_ plan: FetchPlan, _ code: MediaError.Code, times: Int) throws -> FetchPlan {
        var plan = plan
        for attempt in 1...times {
            #expect(end(plan, code).failures.isEmpty, "attempt \(attempt)")
            plan = try untilDue().plan()
        }
        return plan
    }
}

extension LineMeasure {
    /// A measured connection.
    static func line(_ bytesPerSecond: Int64, firstByte milliseconds: Int = 80) -> LineMeasure {
        var measure = LineMeasure()
        measure.received(bytesPerSecond, in: .seconds(1))
        measure.answered(after: .milliseconds(milliseconds))
        return measure
    }
}

extension [LoadAction] {
    var plans: [FetchPlan] { compactMap { if case .startFetch(let plan) = $0 { plan } else { nil } } }
    var failures: [MediaError] { compactMap { if case .failRead(_, let error) = $0 { error } else { nil } } }
    var wakeAt: Duration? { compactMap { if case .wakeAt(let time) = $0 { time } else { nil } }.last }
    var cancelled: [FetchPlan.ID] { compactMap { if case .cancelFetch(let id) = $0 { id } else { nil } } }
    var woken: Int { count { if case .wakeRead = $0 { true } else { false } } }
    var decisions: [JournalRecord.Decision] {
        compactMap { if case .decided(let decision, _) = $0 { decision } else { nil } }
    }

    /// The only plan.
    func plan(_ location: SourceLocation = #_sourceLocation) throws -> FetchPlan {
        try #require(plans.count == 1 ? plans.first : nil, "\(self)", sourceLocation: location)
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
