import Media
import TestSupport
import Testing

@testable import Loading

/// Servers whose ranges, conditions or lengths are not what they should be.
@Suite struct LoadStateFallbackTests {
    @Test(
        arguments: [
            .refused(403), .refused(400), .refused(206), .part(70_000..<80_000, of: 1 << 20),
            RangeAnswer(kind: .unsatisfiable(total: nil)), RangeAnswer(kind: .unsatisfiable(total: 1 << 20)),
        ]
    )
    func `useless ranges lead to one request for the whole, and a second refusal is an error`(
        useless: RangeAnswer
    ) throws {
        var stage = LoadStateStage()
        let first = try stage.read(0).plan()
        let actions = stage.answer(first, useless).actions
        #expect(actions.decisions == [.withoutRanges])
        let whole = try actions.plan()
        #expect(whole.asked == nil && whole.ifRange == nil)
        #expect(stage.end(first).plans.isEmpty)
        var refused = stage
        let second = refused.answer(whole, useless).actions
        #expect(second.failures.map(\.code) == [.httpStatus])
        #expect(second.plans.isEmpty && second.decisions.isEmpty)
        #expect(stage.answer(whole, .whole(1 << 20)).use == .store(from: 0, upTo: 1 << 20))
        #expect(stage.read(900_000).plans.isEmpty, "the body is read on to wherever the reader goes")
    }

    @Test func `the whole that is sent for a gap in the middle wakes the read when it reaches the gap`()
        throws
    {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<500_000], acceptsRanges: true)
        let whole = try stage.answer(try stage.read(500_000).plan(), .refused(403)).actions.plan()
        let outcome = stage.answer(whole, .whole(1 << 20))
        #expect(outcome.use == .store(from: 0, upTo: 1 << 20))
        #expect(!outcome.comparesStored, "its tag is the stored one's")
        #expect(stage.store(0..<500_000, whole).woken == 0)
        #expect(stage.store(500_000..<516_000, whole).woken == 1)
    }

    @Test func `a whole body without a validator is compared with the stored bytes`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<500_000], validators: Validators())
        let first = try stage.read(500_000).plan()
        #expect(stage.answer(first, .whole(1 << 20, etag: nil)).comparesStored)
        let actions = stage.overlapDiffered(first)
        #expect(actions.failures.map(\.code) == [.resourceChanged] && actions.contains(.declareChanged))
        #expect(!actions.cancelled.contains(first.id), "the fetch that saw it ends by itself")
    }

    @Test func `a part that begins earlier is stored at its stated offset`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<100_000])
        let plan = try stage.read(500_000).plan()
        let outcome = stage.answer(plan, .part(400_000..<560_000, of: 1 << 20))
        #expect(outcome.use == .store(from: 400_000, upTo: 560_000))
        #expect(outcome.actions.plans.isEmpty, "nothing is requested beside it")
        #expect(stage.store(400_000..<450_000, plan).plans.isEmpty)
        #expect(stage.store(450_000..<510_000, plan).woken == 1)
    }

    @Test func `a window ahead whose part begins before the reader is not cancelled`() throws {
        var stage = LoadStateStage.begun()
        let plan = try stage.readAhead().plan()
        stage.read(65_535)
        let end = (plan.asked?.upperBound ?? 0) - 1_000
        #expect(stage.answer(plan, .part(64_536..<end, of: stage.length)).actions.cancelled.isEmpty)
        #expect(stage.store(64_536..<65_000, plan).cancelled.isEmpty)
    }

    @Test func `a condition that is not understood is weakened to the date and then to none`() throws {
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        let validators = Validators(etag: "\"1\"", lastModified: date)
        let half: ByteRange = 0..<500_000
        var stage = LoadStateStage(
            length: 1 << 20,
            stored: [half],
            validators: validators,
            acceptsRanges: true
        )
        let whole = RangeAnswer(kind: .whole(length: 1 << 20), validators: validators)
        let first = try stage.read(500_000).plan()
        let second = try stage.answer(first, whole).actions.plan()
        let third = try stage.answer(second, whole).actions.plan()
        #expect([first, second, third].map(\.ifRange) == ["\"1\"", date, nil])
        #expect(second.asked == first.asked && third.asked == first.asked)
        #expect(stage.answer(third, whole).use == .store(from: 0, upTo: 1 << 20))
    }

    @Test func `a total that is not stated is learned at the end, and read-ahead needs none`() throws {
        var stage = LoadStateStage()
        stage.complete(try stage.read(0).plan())
        #expect(stage.length == nil && !stage.isComplete)
        var ahead = stage
        #expect(try ahead.readAhead().plan().asked?.lowerBound == 65_536)
        var plan = try stage.read(65_536).plan()
        stage.answer(plan, .part(65_536..<70_000, of: nil))
        stage.store(65_536..<70_000, plan)
        stage.end(plan)
        plan = try stage.read(70_000).plan()
        let outcome = stage.answer(plan, RangeAnswer(kind: .unsatisfiable(total: nil)))
        #expect(outcome.actions.woken == 1)
        #expect(stage.outlook(at: 70_000) == .end && stage.isComplete)
    }

    @Test func `an offset beyond an unknown end is not requested again until a read brought bytes`() throws {
        var stage = LoadStateStage(stored: [0..<65_536], acceptsRanges: true)
        // The bytes before the requested offset are missing: the end may be anywhere among them.
        let plan = try stage.read(500_000).plan()
        let actions = stage.answer(plan, RangeAnswer(kind: .unsatisfiable(total: nil))).actions
        #expect(actions.failures.map(\.code) == [.cut] && actions.plans.isEmpty)
        #expect(stage.load.retry.isBackgroundHeld && stage.length == nil)
        #expect(stage.readAhead().plans.isEmpty, "there may be nothing to fetch ahead")
        let next = try stage.read(65_536).plan()
        stage.answerPart(next)
        stage.store(65_536..<66_000, next)
        #expect(!stage.load.retry.isBackgroundHeld)
    }

    @Test func `a total that equals the end of the request is verified by a request beyond it`() throws {
        var stage = LoadStateStage()
        stage.complete(try stage.read(0).plan(), of: 65_536)
        #expect(stage.length == nil && !stage.isComplete)
        let second = try stage.read(65_536).plan()
        var honest = stage
        stage.answer(second, .part(65_536..<100_000, of: 100_000))
        #expect(stage.length == 100_000, "the second response ended before its request did")
        honest.answer(second, RangeAnswer(kind: .unsatisfiable(total: 65_536)))
        #expect(honest.outlook(at: 65_536) == .end && honest.isComplete)
    }

    @Test func `a known length is believed if the request ended there`() throws {
        var stage = LoadStateStage()
        stage.complete(try stage.read(0).plan(), of: 100_000)
        let last = try stage.read(65_536).plan()
        #expect(last.asked == 65_536..<100_000)
        stage.complete(last)
        #expect(stage.isComplete && stage.outlook(at: 100_000) == .end)
    }

    @Test func `a body without a length is complete only if it ended well and is not shorter than before`()
        throws
    {
        var stage = LoadStateStage(validators: Validators())
        var plan = try stage.read(0).plan()
        let send = { (stage: inout LoadStateStage, plan: FetchPlan, count: Int64) in
            stage.answer(plan, .whole(nil, etag: nil))
            stage.store(0..<count, plan)
        }
        send(&stage, plan, 300_000)
        stage.read(300_000)
        plan = try stage.end(plan, .cut).plan()
        #expect(plan.asked == nil && stage.length == nil)
        // A connection that closes ends the body without an error, even too early.
        send(&stage, plan, 200_000)
        #expect(stage.end(plan).wakeAt != nil && stage.length == nil)
        plan = try stage.untilDue().plan()
        send(&stage, plan, 400_000)
        stage.read(400_000)
        #expect(stage.end(plan).woken == 1)
        #expect(stage.length == 400_000 && stage.isComplete && stage.outlook(at: 400_000) == .end)
    }

    @Test(
        arguments: [(100_000, .cut), (91_000, .cut), (1 << 40, .timedOut), (nil, .cut), (180_000, .timedOut)]
            as [(Int64?, MediaError.Code)]
    )
    func `two whole bodies that break off at the same byte are the end, whatever length is stated`(
        stated: Int64?,
        code: MediaError.Code
    ) throws {
        var stage = LoadStateStage(validators: Validators())
        var plan = try stage.read(0).plan()
        for end in [60_000, 90_000] as [Int64] {
            stage.answer(plan, .whole(stated, etag: nil))
            stage.store(0..<end, plan)
            stage.read(end)
            plan = try stage.end(plan, code).plan()
            #expect(stage.outlook(at: end) == .missing, "it broke off there for the first time")
        }
        stage.answer(plan, .whole(stated, etag: nil))
        stage.store(0..<90_000, plan)
        let actions = stage.end(plan, code)
        #expect(actions.woken == 1 && actions.plans.isEmpty && actions.failures.isEmpty && stage.wait == nil)
        #expect(stage.length == 90_000 && stage.isComplete && stage.outlook(at: 90_000) == .end)
    }

    @Test func `a whole body that breaks off earlier than another one is not the end`() throws {
        var stage = LoadStateStage(validators: Validators())
        let plan = try stage.read(0).plan()
        stage.answer(plan, .whole(100_000, etag: nil))
        stage.store(0..<90_000, plan)
        stage.read(90_000)
        let second = try stage.end(plan, .cut).plan()
        stage.answer(second, .whole(100_000, etag: nil))
        stage.store(0..<40_000, second)
        #expect(stage.end(second, .cut).wakeAt != nil && stage.outlook(at: 90_000) == .missing)
    }

    @Test(arguments: [101_000, 120_000, 1 << 40] as [Int64])
    func `the tail that a total promises is requested with the bytes before it, and ends if they come alone`(
        total: Int64
    ) throws {
        var stage = LoadStateStage()
        stage.complete(try stage.read(0).plan(), of: total)
        let tail = try stage.read(65_536).plan()
        stage.answerPart(tail, of: total)
        stage.store(65_536..<100_000, tail)
        stage.read(100_000)
        let rest = try stage.end(tail, .cut).plan()
        #expect(rest.asked?.lowerBound == 100_000, "no byte is fetched twice yet")
        stage.answerPart(rest, of: total)
        stage.end(rest, .cut)
        let proof = try stage.untilDue().plan()
        #expect(proof.asked?.lowerBound == 95_904)
        stage.answerPart(proof, of: total)
        stage.store(95_904..<100_000, proof)
        #expect(stage.end(proof, .cut).woken == 1)
        #expect(stage.length == 100_000 && stage.outlook(at: 100_000) == .end && stage.wait == nil)
    }

    @Test func `after the end was found, the false total of a part in a gap is no change of the file`() throws
    {
        var stage = LoadStateStage(
            length: 101_000,
            stored: [0..<20_000, 60_000..<90_000],
            acceptsRanges: true
        )
        var plan = try stage.read(90_000).plan()
        stage.answerPart(plan)
        stage.store(90_000..<100_000, plan)
        stage.read(100_000)
        plan = try stage.end(plan, .cut).plan()
        stage.answerPart(plan)
        stage.end(plan, .cut)
        plan = try stage.untilDue().plan()
        stage.answerPart(plan)
        stage.store(plan.overlap, plan)
        stage.end(plan, .cut)
        #expect(stage.length == 100_000)
        let gap = try stage.read(20_000).plan()
        let outcome = stage.answer(gap, .part(20_000..<60_000, of: 101_000))
        #expect(outcome.use == .store(from: 20_000, upTo: 60_000) && stage.length == 100_000)
        #expect(stage.read(100_000).plans.isEmpty && stage.outlook(at: 100_000) == .end)
    }

    @Test func `a part that is shorter than stated is resumed at the exact byte`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        stage.answerPart(plan, of: 1 << 20)
        stage.store(0..<40_000, plan)
        stage.read(40_000)
        #expect(try stage.end(plan).plan().asked?.lowerBound == 40_000)
    }

    @Test func `reads of a station wait until it is handed over to the live stream`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        #expect(plan.wantsTitles)
        let outcome = stage.answer(plan, RangeAnswer(kind: .whole(length: nil), station: Station()))
        #expect(outcome.use == .live && outcome.forbidsStoring)
        #expect(outcome.actions.decisions == [.live] && outcome.actions.woken == 0)
        #expect(stage.outlook(at: 0) == .missing)
        #expect(stage.handedOver(plan).woken == 1)
        #expect(stage.outlook(at: 0) == .live)
        #expect(stage.end(plan).isEmpty && stage.readAhead().isEmpty && stage.need == nil)
    }

    @Test func `a body of unknown length becomes a live stream when it exceeds the limit for a file`() throws
    {
        var settings = LoadSettings()
        settings.largestUnknownBody = 100_000
        var stage = LoadStateStage(settings: settings)
        let plan = try stage.read(0).plan()
        stage.answer(plan, .whole(nil, etag: nil))
        stage.read(150_000)
        #expect(stage.store(0..<100_000, plan).decisions.isEmpty)
        #expect(!stage.load.isHandingOver(plan.id))
        let actions = stage.store(100_000..<100_001, plan)
        #expect(actions.decisions == [.live] && actions.cancelled.isEmpty)
        #expect(stage.load.isHandingOver(plan.id))
        #expect(stage.handedOver(plan).woken == 1)
        #expect(stage.outlook(at: 50_000) == .stored && stage.outlook(at: 100_001) == .live)
    }

    @Test func `titles are requested only while nothing is stored`() throws {
        var stage = LoadStateStage.begun()
        #expect(try !stage.read(65_536).plan().wantsTitles)
    }

    @Test func `any offset can be reached if the server has ranges or all is stored`() throws {
        var stage = LoadStateStage()
        #expect(stage.isSeekable, "before the first response, ranges are assumed to work")
        var other = stage
        let plan = try stage.read(0).plan()
        stage.answer(plan, .whole(1_000))
        #expect(!stage.isSeekable)
        stage.store(0..<1_000, plan)
        #expect(stage.isSeekable)
        other.answerPart(try other.read(0).plan(), of: 1 << 20)
        #expect(other.isSeekable)
    }

    @Test(arguments: [(false, false), (true, false), (false, true)])
    func `a packed body, and one with no-store, may not be stored`(isForbidden: Bool, isEncoded: Bool) throws
    {
        var stage = LoadStateStage()
        var answer = RangeAnswer.whole(1_000)
        answer.forbidsStoring = isForbidden
        answer.isEncoded = isEncoded
        let outcome = stage.answer(try stage.read(0).plan(), answer)
        #expect(outcome.forbidsStoring == (isForbidden || isEncoded))
    }
}
