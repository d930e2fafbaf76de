import Media
import TestSupport
import Testing

@testable import Loading

/// Without validators: windows that are asked for before what they are compared with is here.
@Suite struct LoadStateFollowingTests {
    private static let long: Int64 = 100 << 20

    /// A window ahead that has little left, and the next one.
    private struct Stage {
        var stage: LoadStateStage
        let first: FetchPlan
        let next: FetchPlan
        /// Where the first window ends and the next one begins.
        let edge: Int64
        let here: Int64

        init(left: Int64 = 16_383, measure: LineMeasure = LineMeasure()) throws {
            stage = LoadStateStage(
                length: long,
                stored: [0..<65_536],
                validators: Validators(),
                measure: measure
            )
            first = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
            edge = try #require(first.asked?.upperBound)
            here = edge - left
            #expect(stage.store(65_536..<here, first).plans.isEmpty, "no answer tells yet where it ends")
            next = try Actions(stage.answerPart(first, of: long).actions).plan()
            #expect(next.wanted?.lowerBound == edge)
        }

        mutating func answer() -> ResourceLoadState.AnswerOutcome { stage.answerPart(next, of: long) }

        mutating func storeRest() -> Actions { stage.store(here..<edge, first) }
    }

    @Test func `the next window is asked for while one comes, and held until that is here`() throws {
        var pair = try Stage()
        #expect(pair.next.follows)
        #expect(pair.next.overlap == pair.edge - 4_096..<pair.edge)
        let outcome = pair.answer()
        let end = try #require(pair.next.asked?.upperBound)
        #expect(outcome.use == .store(from: pair.edge - 4_096, upTo: end))
        #expect(outcome.actions.isEmpty && pair.stage.state.isHeld(pair.next.id))
        let most = pair.stage.store(pair.here..<pair.edge - 1, pair.first)
        #expect(most.admitted.isEmpty && most.plans.isEmpty, "nothing is asked for behind what is held")
        let rest = pair.stage.store(pair.edge - 1..<pair.edge, pair.first)
        #expect(rest.admitted == [pair.next.id] && rest.plans.isEmpty)
        #expect(!pair.stage.state.isHeld(pair.next.id))
        let ended = pair.stage.end(pair.first)
        #expect(ended.cancelled.isEmpty && ended.plans.isEmpty)
        #expect(pair.stage.state.isUnderWay(pair.next.id))
    }

    @Test func `one that begins when all before it is here need not be held`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], validators: Validators())
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        #expect(!plan.follows && plan.overlap == 61_440..<65_536)
        #expect(!stage.state.isHeld(plan.id))
    }

    @Test func `after a cut the rest is asked for, and what is held waits on`() throws {
        var pair = try Stage()
        _ = pair.answer()
        let cut = pair.stage.end(pair.first, .cut)
        let rest = try cut.plan()
        #expect(cut.cancelled.isEmpty)
        #expect(rest.wanted == pair.here..<pair.edge && rest.overlap == pair.here - 4_096..<pair.here)
        #expect(!rest.follows)
        #expect(pair.stage.complete(rest, of: Self.long).admitted == [pair.next.id])
    }

    @Test func `what is held is let go of when nothing more comes before it, and asked for again`() throws {
        var pair = try Stage()
        _ = pair.answer()
        let rest = try pair.stage.end(pair.first, .cut).plan()
        let failed = pair.stage.end(rest, .connectionRefused)
        #expect(failed.cancelled == [pair.next.id] && failed.plans.isEmpty)
        #expect(pair.stage.end(pair.next).plans.isEmpty)
        #expect(try pair.stage.untilDue().plan().wanted?.lowerBound == pair.here)
    }

    @Test func `bytes that differ are another file`() throws {
        var pair = try Stage()
        _ = pair.answer()
        _ = pair.storeRest()
        #expect(Actions(pair.stage.state.overlapDiffered(pair.next.id)).all.contains(.declareChanged))
        #expect(pair.stage.state.verdict?.code == .resourceChanged)
    }

    @Test func `a whole body in answer is not held`() throws {
        var pair = try Stage()
        let outcome = pair.stage.answer(pair.next, .whole(Self.long, etag: nil))
        #expect(outcome.use == .store(from: 0, upTo: Self.long) && outcome.comparesStored)
        #expect(!pair.stage.state.isHeld(pair.next.id))
    }

    @Test func `who jumps into what is held waits for what comes before it too`() throws {
        // More is left than a window that nobody wants any more may bring.
        var measure = LineMeasure()
        measure.answered(after: .milliseconds(100))
        measure.received(2_000_000, in: .seconds(1))
        var pair = try Stage(left: 150_000, measure: measure)
        _ = pair.answer()
        let jump = pair.stage.read(pair.edge + 1_000)
        #expect(jump.plans.isEmpty && jump.cancelled.isEmpty)
        #expect(pair.storeRest().admitted == [pair.next.id])
        #expect(pair.stage.store(pair.edge..<pair.edge + 2_000, pair.next).woken == 1)
    }

    @Test func `when what comes before it breaks off then, the place is asked for by itself`() throws {
        var pair = try Stage()
        _ = pair.answer()
        #expect(pair.stage.read(pair.edge + 1_000).plans.isEmpty)
        let cut = pair.stage.end(pair.first, .cut)
        #expect(cut.cancelled == [pair.next.id] && cut.plans.isEmpty)
        #expect(try pair.stage.end(pair.next).plan().wanted?.lowerBound == pair.edge + 1_000)
    }

    @Test func `what another reader fetches before it keeps nobody waiting for what is held`() throws {
        var pair = try Stage()
        _ = pair.answer()
        #expect(pair.stage.read(pair.edge + 1_000).plans.isEmpty)
        let other = ResourceLoadState.ReaderID(2)
        pair.stage.state.readerOpened(other)
        let lost = ByteRangeSet(10_000..<20_000)
        _ = pair.stage.state.bytesLost(nowStored: pair.stage.state.stored.subtracting(lost))
        let low = try pair.stage.read(10_000, by: other).plan()
        #expect(low.wanted == 10_000..<20_000)
        #expect(pair.stage.end(pair.first, .cut).cancelled == [pair.next.id])
        #expect(pair.stage.state.isUnderWay(low.id))
    }

    @Test func `a jump elsewhere ends what is held`() throws {
        var pair = try Stage()
        _ = pair.answer()
        #expect(pair.stage.read(50 << 20).cancelled.contains(pair.next.id))
    }

    @Test func `behind a jump nothing is asked for ahead before the jump is compared`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], validators: Validators())
        let jump = try stage.read(50 << 20).plan()
        #expect(Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans.isEmpty)
        let range = try #require(jump.asked)
        _ = stage.answerPart(jump, of: Self.long)
        #expect(stage.store(range.lowerBound..<range.upperBound - 10, jump).plans.isEmpty)
    }
}
