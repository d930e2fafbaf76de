import Media
import TestSupport
import Testing

@testable import Loading

/// A load state with one reader, and the events of a fetch in one word each.
struct LoadStateStage {
    let reader = ResourceLoadState.ReaderID(1)
    var state: ResourceLoadState

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
        state = ResourceLoadState(
            settings: settings,
            subject: "song",
            description: description,
            stored: set,
            measure: measure,
            seed: 7
        )
        state.readerOpened(reader)
    }

    mutating func read(_ offset: Int64, by id: ResourceLoadState.ReaderID? = nil) -> Actions {
        Actions(state.readRequested(id ?? reader, at: offset))
    }

    mutating func answer(_ plan: FetchPlan, _ answer: RangeAnswer) -> ResourceLoadState.AnswerOutcome {
        state.fetchAnswered(plan.id, answer)
    }

    /// A 206 with just what was asked for.
    mutating func answerPart(_ plan: FetchPlan, of total: Int64?) -> ResourceLoadState.AnswerOutcome {
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
        state.timeIs(state.retry.wait?.retryAt ?? state.now)
        return Actions(state.timeCame())
    }

    mutating func pass(_ time: Duration) { state.timeIs(state.now + time) }
}

/// What the state wants done, by kind.
struct Actions {
    var all: [ResourceLoadState.Action]

    init(_ all: [ResourceLoadState.Action]) { self.all = all }

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
