import Media
import Testing

@testable import Loading

/// A file that becomes longer while it is read, such as a recording in progress.
@Suite struct LoadStateGrowthTests {
    private static let tagged = Validators(etag: "\"1\"")

    private func part(_ range: ByteRange, of total: Int64, _ validators: Validators) -> RangeAnswer {
        RangeAnswer(kind: .part(range: range, total: total), validators: validators)
    }

    /// 100 kB, of which the first 64 KiB are stored, have grown to 120 kB and are read to that end.
    private func grown(_ validators: Validators = tagged) throws -> LoadStateStage {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536], validators: validators)
        var plan = try stage.read(65_536).plan()
        if !validators.isEmpty {
            plan = try stage.answer(plan, part(65_536..<100_000, of: 120_000, validators)).actions.plan()
        }
        #expect(plan.overlap == 61_440..<65_536, "the stored bytes are compared")
        stage.deliver(plan, of: 120_000)
        while !stage.isComplete { stage.deliver(try stage.read(stage.end).plan(), of: 120_000) }
        #expect(stage.load.finalError == nil && stage.length == 120_000)
        return stage
    }

    @Test(arguments: [tagged, Validators()])
    func `a larger total of the same file is no change, and its last end is requested once more`(
        validators: Validators
    ) throws {
        var stage = try grown(validators)
        let probe = try stage.read(120_000).plan()
        #expect(probe.wanted?.lowerBound == 120_000)
        let outcome = stage.answer(probe, part(115_904..<120_000, of: 120_000, validators))
        #expect(outcome.use == .discard && outcome.actions.woken == 1)
        #expect(stage.outlook(at: 120_000) == .end)
    }

    @Test func `bytes behind the last end are taken, and the new end is requested in turn`() throws {
        var stage = try grown()
        let probe = try stage.read(120_000).plan()
        stage.deliver(probe, of: 150_000)
        #expect(stage.length == 150_000)
        while !stage.isComplete { stage.deliver(try stage.read(stage.end).plan(), of: 150_000) }
        #expect(stage.outlook(at: 150_000) == .missing && stage.outlook(at: 150_001) == .end)
    }

    @Test(arguments: [(Validators(etag: "\"2\""), 120_000), (tagged, 90_000)] as [(Validators, Int64)])
    func `another validator, or a smaller total, is another file`(validators: Validators, total: Int64) throws
    {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536])
        let plan = try stage.read(65_536).plan()
        #expect(stage.answer(plan, part(65_536..<90_000, of: total, validators)).use == .discard)
        #expect(stage.load.finalError?.code == .resourceChanged)
    }

    @Test func `a longer file whose compared bytes differ is another file`() throws {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536])
        let first = try stage.read(65_536).plan()
        let plan = try stage.answer(first, part(65_536..<100_000, of: 120_000, Self.tagged)).actions.plan()
        stage.answerPart(plan, of: 120_000)
        #expect(stage.overlapDiffered(plan).contains(.declareChanged))
        #expect(stage.load.finalError?.code == .resourceChanged)
    }

    @Test func `all of a longer file is compared if the server sends it whole`() throws {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536])
        let plan = try stage.read(65_536).plan()
        let second = try stage.answer(plan, .whole(120_000)).actions.plan()
        #expect(stage.answer(second, .whole(120_000)).comparesStored)
    }

    @Test(arguments: [(true, true), (true, false), (false, true)])
    func `music modified just before is asked for more at its end; older music and lists are not`(
        isFresh: Bool,
        isPlaying: Bool
    ) throws {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536])
        let plan = try stage.read(65_536).plan()
        var answer = part(65_536..<100_000, of: 100_000, Self.tagged)
        answer.isFresh = isFresh
        stage.answer(plan, answer)
        if isPlaying { stage.readAhead() }
        stage.store(65_536..<100_000, plan)
        stage.end(plan)
        #expect(stage.read(100_000).plans.count == (isFresh && isPlaying ? 1 : 0))
        #expect(stage.outlook(at: 100_000) == (isFresh && isPlaying ? .missing : .end))
    }

    @Test(arguments: [MediaError.Code.cut, .offline, .tlsFailed])
    func `if the question for more fails, the known end is the end`(code: MediaError.Code) throws {
        var stage = try grown()
        let probe = try stage.read(120_000).plan()
        let actions = stage.end(probe, code)
        #expect(actions.woken == 1 && actions.failures.isEmpty && stage.wait == nil)
        #expect(stage.outlook(at: 120_000) == .end)
    }

    @Test(
        arguments: [.refused(503), .refused(403), .refused(400), .refused(404), .whole(120_000)]
            as [RangeAnswer]
    )
    func `if the question for more is refused, or answered with all of the file, the known end is the end`(
        answer: RangeAnswer
    ) throws {
        var stage = try grown()
        let probe = try stage.read(120_000).plan()
        let outcome = stage.answer(probe, answer)
        #expect(outcome.use == .discard && outcome.actions.woken == 1)
        #expect(outcome.actions.failures.isEmpty && outcome.actions.plans.isEmpty)
        #expect(stage.outlook(at: 120_000) == .end)
        #expect(stage.load.description.acceptsRanges == true, "ranges still work")
    }

    @Test func `a file that has grown to exactly the end of the request is read to its new end`() throws {
        var stage = try grown()
        let probe = try stage.read(120_000).plan()
        let end = try #require(probe.asked?.upperBound)
        stage.deliver(probe, of: end)
        #expect(stage.length == end)
        #expect(stage.outlook(at: end - 1) == .stored && stage.outlook(at: end) == .missing)
    }

    @Test(arguments: [tagged, Validators()])
    func `of responses of two versions one is cached, even if both were requested before a byte was stored`(
        validators: Validators
    ) throws {
        var stage = LoadStateStage(validators: Validators())
        let first = try stage.read(0).plan()
        var second = try stage.read(500_000, by: stage.open()).plan()
        stage.answer(first, part(0..<65_536, of: 1_000_000, validators))
        let grown = part(try #require(second.asked), of: 1_200_000, validators)
        // With validators, the growth is noticed first, and the request sent again.
        if !validators.isEmpty { second = try stage.answer(second, grown).actions.plan() }
        #expect(stage.answer(second, grown).use != .discard)
        stage.store(0..<65_536, first)
        stage.end(first)
        stage.store(try #require(second.asked), second)
        #expect(stage.proven == ByteRangeSet(0..<65_536))
    }

    @Test func `all of a file that has grown is compared, even if its validators are the known ones`() throws
    {
        var stage = LoadStateStage(length: 100_000, stored: [0..<65_536])
        let first = try stage.read(65_536).plan()
        let second = try stage.answer(first, part(65_536..<100_000, of: 120_000, Self.tagged)).actions.plan()
        stage.answerPart(second, of: 120_000)
        stage.store(61_440..<80_000, second)
        stage.end(second)
        var outcome = stage.answer(try stage.read(80_000).plan(), .whole(120_000))
        while outcome.use == .discard { outcome = stage.answer(try outcome.actions.plan(), .whole(120_000)) }
        #expect(outcome.comparesStored)
    }

    @Test func `a server without ranges is not asked for more, since it would send all of it`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        var answer = RangeAnswer.whole(100_000)
        answer.isFresh = true
        stage.answer(plan, answer)
        stage.readAhead()
        stage.store(0..<100_000, plan)
        stage.end(plan)
        #expect(stage.read(100_000).isEmpty && stage.outlook(at: 100_000) == .end)
    }
}

extension LoadStateStage {
    /// Completes `plan` with as many of the requested bytes as a file of `total` bytes has.
    fileprivate mutating func deliver(_ plan: FetchPlan, of total: Int64) {
        let range = plan.asked?.clamped(to: 0..<total) ?? 0..<0
        answer(
            plan,
            RangeAnswer(kind: .part(range: range, total: total), validators: load.description.validators)
        )
        store(range, plan)
        end(plan)
    }

    /// The end of the stored bytes.
    fileprivate var end: Int64 { stored.ranges.last?.upperBound ?? 0 }
}
