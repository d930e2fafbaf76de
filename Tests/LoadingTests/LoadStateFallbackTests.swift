import Media
import TestSupport
import Testing

@testable import Loading

/// Servers whose ranges, conditions or lengths are not what they should be.
@Suite struct LoadStateFallbackTests {
    static let useless: [RangeAnswer] = [
        .refused(403), .refused(400), .refused(206), .part(70_000..<80_000, of: 1 << 20),
        RangeAnswer(kind: .unsatisfiable(total: nil)), RangeAnswer(kind: .unsatisfiable(total: 1 << 20)),
    ]

    @Test(arguments: useless)
    func `ranges of no use lead to one request for the whole, which is read to its end`(answer: RangeAnswer)
        throws
    {
        var stage = LoadStateStage()
        let first = try stage.read(0).plan()
        let actions = Actions(stage.answer(first, answer).actions)
        #expect(actions.decisions == [.withoutRanges])
        let whole = try actions.plan()
        #expect(whole.asked == nil && whole.ifRange == nil)
        #expect(stage.end(first).plans.isEmpty)
        #expect(stage.answer(whole, .whole(1 << 20)).use == .store(from: 0, upTo: 1 << 20))
        #expect(stage.read(900_000).plans.isEmpty, "it is read on to wherever the reader goes")
    }

    @Test(arguments: useless)
    func `the whole is asked for once: a second refusal is an error`(answer: RangeAnswer) throws {
        var stage = LoadStateStage()
        let whole = try Actions(stage.answer(try stage.read(0).plan(), answer).actions).plan()
        let actions = Actions(stage.answer(whole, answer).actions)
        #expect(actions.failures.map(\.code) == [.httpStatus])
        #expect(actions.plans.isEmpty && actions.decisions.isEmpty)
    }

    @Test func `in the middle the whole is discarded up to what is missing`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<500_000], acceptsRanges: true)
        let first = try stage.read(500_000).plan()
        let whole = try Actions(stage.answer(first, .refused(403)).actions).plan()
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
        let actions = Actions(stage.state.overlapDiffered(first.id))
        #expect(actions.failures.map(\.code) == [.resourceChanged])
        #expect(actions.all.contains(.declareChanged))
        #expect(!actions.cancelled.contains(first.id), "the fetch that saw it ends by itself")
    }

    @Test func `a part that begins earlier is stored where it says`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<100_000])
        let plan = try stage.read(500_000).plan()
        let outcome = stage.answer(plan, .part(400_000..<560_000, of: 1 << 20))
        #expect(outcome.use == .store(from: 400_000, upTo: 560_000))
        #expect(Actions(outcome.actions).plans.isEmpty, "nothing is asked for beside it")
        #expect(stage.store(400_000..<450_000, plan).plans.isEmpty)
        #expect(stage.store(450_000..<510_000, plan).woken == 1)
    }

    @Test func `a window ahead that begins before its reader goes on`() throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<65_536])
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        _ = stage.read(65_535)
        let end = (plan.asked?.upperBound ?? 0) - 1_000
        let outcome = stage.answer(plan, .part(64_536..<end, of: 10 << 20))
        #expect(Actions(outcome.actions).cancelled.isEmpty)
        #expect(stage.store(64_536..<65_000, plan).cancelled.isEmpty)
    }

    @Test func `a condition that is not understood goes down to the date and to none`() throws {
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        let validators = Validators(etag: "\"1\"", lastModified: date)
        var stage = LoadStateStage(
            length: 1 << 20,
            stored: [0..<500_000],
            validators: validators,
            acceptsRanges: true
        )
        let whole = RangeAnswer(kind: .whole(length: 1 << 20), validators: validators)
        let first = try stage.read(500_000).plan()
        #expect(first.ifRange == "\"1\"")
        let second = try Actions(stage.answer(first, whole).actions).plan()
        #expect(second.ifRange == date && second.asked == first.asked)
        let third = try Actions(stage.answer(second, whole).actions).plan()
        #expect(third.ifRange == nil && third.asked == first.asked)
        #expect(stage.answer(third, whole).use == .store(from: 0, upTo: 1 << 20))
    }

    @Test func `a total that is not stated is learned at the end`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        _ = stage.answerPart(plan, of: nil)
        _ = stage.store(0..<65_536, plan)
        _ = stage.end(plan)
        #expect(stage.state.length == nil && !stage.state.isComplete)
        plan = try stage.read(65_536).plan()
        _ = stage.answer(plan, .part(65_536..<70_000, of: nil))
        _ = stage.store(65_536..<70_000, plan)
        _ = stage.end(plan)
        plan = try stage.read(70_000).plan()
        let outcome = stage.answer(plan, RangeAnswer(kind: .unsatisfiable(total: nil)))
        #expect(Actions(outcome.actions).woken == 1)
        #expect(stage.state.outlook(at: 70_000) == .end && stage.state.isComplete)
    }

    @Test func `a place beyond an unknown end is not requested again until a read brought bytes`() throws {
        var stage = LoadStateStage(stored: [0..<65_536], acceptsRanges: true)
        // What lies before the place asked for is not here: the end may be anywhere before it.
        let plan = try stage.read(500_000).plan()
        let actions = Actions(stage.answer(plan, RangeAnswer(kind: .unsatisfiable(total: nil))).actions)
        #expect(actions.failures.map(\.code) == [.cut] && actions.plans.isEmpty)
        #expect(stage.state.load.attempts.isBackgroundHeld && stage.state.length == nil)
        let ahead = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000))
        #expect(ahead.plans.isEmpty, "nothing is fetched ahead of a place where nothing is")
        let next = try stage.read(65_536).plan()
        _ = stage.answerPart(next, of: nil)
        _ = stage.store(65_536..<66_000, next)
        #expect(!stage.state.load.attempts.isBackgroundHeld)
    }

    @Test func `an end exactly where the request ended is verified by a request beyond it`() throws {
        var stage = LoadStateStage()
        let first = try stage.read(0).plan()
        #expect(first.asked == 0..<65_536)
        _ = stage.answer(first, .part(0..<65_536, of: 65_536))
        _ = stage.store(0..<65_536, first)
        _ = stage.end(first)
        #expect(stage.state.length == nil && !stage.state.isComplete)
        let second = try stage.read(65_536).plan()
        _ = stage.answer(second, .part(65_536..<100_000, of: 100_000))
        #expect(stage.state.length == 100_000, "here the server stopped by itself")
        // Where it is the end indeed, one more request says so.
        var honest = LoadStateStage()
        _ = honest.complete(try honest.read(0).plan(), of: 65_536)
        let last = try honest.read(65_536).plan()
        _ = honest.answer(last, RangeAnswer(kind: .unsatisfiable(total: 65_536)))
        #expect(honest.state.outlook(at: 65_536) == .end && honest.state.isComplete)
    }

    @Test func `a known length is believed if the request ended there`() throws {
        var stage = LoadStateStage()
        let first = try stage.read(0).plan()
        _ = stage.answer(first, .part(0..<65_536, of: 100_000))
        _ = stage.store(0..<65_536, first)
        _ = stage.end(first)
        let last = try stage.read(65_536).plan()
        #expect(last.asked == 65_536..<100_000)
        _ = stage.complete(last, of: 100_000)
        #expect(stage.state.isComplete && stage.state.outlook(at: 100_000) == .end)
    }

    @Test func `read-ahead needs no stated total`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        _ = stage.answerPart(plan, of: nil)
        _ = stage.store(0..<65_536, plan)
        _ = stage.end(plan)
        let ahead = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        #expect(ahead.asked?.lowerBound == 65_536)
    }

    @Test func `a body without a length that is cut is not taken for complete`() throws {
        var stage = LoadStateStage(validators: Validators())
        let first = try stage.read(0).plan()
        _ = stage.answer(first, .whole(nil, etag: nil))
        _ = stage.store(0..<300_000, first)
        _ = stage.read(300_000)
        let again = try stage.end(first, .cut).plan()
        #expect(again.asked == nil && stage.state.length == nil)
        // One that ends by the closing of its connection can end too early without a word.
        _ = stage.answer(again, .whole(nil, etag: nil))
        _ = stage.store(0..<200_000, again)
        #expect(stage.end(again).wakeAt != nil && stage.state.length == nil)
        let last = try stage.untilDue().plan()
        _ = stage.answer(last, .whole(nil, etag: nil))
        _ = stage.store(0..<400_000, last)
        _ = stage.end(last)
        #expect(stage.state.length == 400_000 && stage.state.isComplete)
    }

    @Test func `a length that is longer than the truth is resumed and then given up`() throws {
        var stage = LoadStateStage(validators: Validators())
        var plan = try stage.read(0).plan()
        var failures: [MediaError] = []
        var requests = 1
        for _ in 0..<11 {
            _ = stage.answer(plan, .whole(100_000, etag: nil))
            _ = stage.store(0..<90_000, plan)
            _ = requests == 1 ? stage.read(90_000) : Actions([])
            let actions = stage.end(plan, .cut)
            failures += actions.failures
            guard let next = (actions.plans + stage.untilDue().plans).first else { break }
            plan = next
            requests += 1
        }
        #expect(failures.map(\.code) == [.cut])
        #expect(requests == 11, "one that brought bytes and ten that brought none")
    }

    @Test func `a part that is shorter than it says is gone on with at the exact byte`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        _ = stage.answerPart(plan, of: 1 << 20)
        _ = stage.store(0..<40_000, plan)
        _ = stage.read(40_000)
        #expect(try stage.end(plan).plan().asked?.lowerBound == 40_000)
    }

    @Test func `a station goes over to the live stream, and its reads wait for that`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        #expect(plan.wantsTitles)
        let outcome = stage.answer(plan, RangeAnswer(kind: .whole(length: nil), station: Station()))
        #expect(outcome.use == .live && outcome.forbidsStoring)
        #expect(Actions(outcome.actions).decisions == [.live])
        #expect(Actions(outcome.actions).woken == 0 && stage.state.outlook(at: 0) == .missing)
        #expect(Actions(stage.state.handedOver(plan.id)).woken == 1)
        #expect(stage.state.outlook(at: 0) == .live)
        #expect(stage.end(plan).all.isEmpty)
        #expect(Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 16_000)).all.isEmpty)
        #expect(stage.state.need == nil)
    }

    @Test func `a body that goes on and on goes over to the live stream where it is`() throws {
        var settings = LoadSettings()
        settings.largestUnknownBody = 100_000
        var stage = LoadStateStage(settings: settings)
        let plan = try stage.read(0).plan()
        _ = stage.answer(plan, .whole(nil, etag: nil))
        _ = stage.read(150_000)
        #expect(stage.store(0..<100_000, plan).decisions.isEmpty)
        #expect(!stage.state.isHandingOver(plan.id))
        let actions = stage.store(100_000..<100_001, plan)
        #expect(actions.decisions == [.live] && actions.cancelled.isEmpty)
        #expect(stage.state.isHandingOver(plan.id))
        #expect(Actions(stage.state.handedOver(plan.id)).woken == 1)
        #expect(stage.state.outlook(at: 50_000) == .stored)
        #expect(stage.state.outlook(at: 100_001) == .live)
    }

    @Test func `only with nothing stored are titles wanted`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<65_536])
        #expect(try !stage.read(65_536).plan().wantsTitles)
    }

    @Test func `any offset can be reached if the server has ranges or all is stored`() throws {
        var stage = LoadStateStage()
        let isSeekable = { (stage: LoadStateStage) in stage.state.load.isSeekable(stage.state.stored) }
        #expect(isSeekable(stage), "before the first response, ranges are assumed to work")
        let plan = try stage.read(0).plan()
        _ = stage.answer(plan, .whole(1_000))
        #expect(!isSeekable(stage))
        _ = stage.store(0..<1_000, plan)
        #expect(isSeekable(stage))
        var other = LoadStateStage()
        _ = other.answerPart(try other.read(0).plan(), of: 1 << 20)
        #expect(isSeekable(other))
    }

    @Test(arguments: [(false, false), (true, false), (false, true)])
    func `a packed body, and one with no-store, may not be stored`(isForbidden: Bool, isEncoded: Bool) throws
    {
        var stage = LoadStateStage()
        var answer = RangeAnswer.whole(1_000)
        (answer.forbidsStoring, answer.isEncoded) = (isForbidden, isEncoded)
        let outcome = stage.answer(try stage.read(0).plan(), answer)
        #expect(outcome.forbidsStoring == (isForbidden || isEncoded))
    }
}
