import Media
import TestSupport
import Testing

@testable import Loading

@Suite struct ResourceLoadStateTests {
    @Test func `a cold read requests one window and nothing more, also for reads inside it`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        #expect(plan.asked == 0..<65_536)
        #expect(stage.read(30_000).isEmpty)
        let answered = stage.answerPart(plan, of: 1_000_000)
        #expect(answered.use == .store(from: 0, upTo: 65_536) && answered.actions.plans.isEmpty)
        #expect(stage.store(0..<65_536, plan).plans.isEmpty && stage.end(plan).plans.isEmpty)
    }

    @Test func `read-ahead begins when it is allowed and ends after its time of music`() {
        var stage = LoadStateStage.begun()
        stage.read(0)
        let end = stage.completeAll(stage.readAhead()).compactMap { $0.asked?.upperBound }.max() ?? 0
        // At most one window beyond, so that there are never less.
        #expect(end >= 60 * 40_000 && end <= 60 * 40_000 + LoadSettings().largestWindow)
    }

    @Test func `closing the last reader cancels every fetch`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        #expect(stage.close(stage.reader) == [.cancelFetch(plan.id)])
    }

    @Test func `a server that had no ranges the last time is asked for the gap all the same`() throws {
        var stage = LoadStateStage(length: 1_000_000, stored: [0..<500_000], acceptsRanges: false)
        #expect(try stage.read(500_000).plan().asked?.lowerBound == 500_000)
    }

    @Test func `a change fails the reads and is declared once, however many fetches see it`() throws {
        var stage = LoadStateStage.begun()
        let open = stage.read(1 << 20).plans + stage.read(5 << 20, by: stage.open()).plans
        let outcomes = open.map {
            stage.answer($0, .part($0.asked ?? 0..<0, of: stage.length, etag: "\"2\""))
        }
        #expect(outcomes.map(\.use) == [.discard, .discard])
        let actions = outcomes.flatMap(\.actions)
        #expect(actions.count { $0 == .declareChanged } == 1)
        #expect(actions.failures.map(\.code) == [.resourceChanged, .resourceChanged])
        #expect(stage.load.finalError?.code == .resourceChanged)
    }

    @Test func `two responses before the first stored byte must be of one file`() throws {
        var stage = LoadStateStage()
        let first = try stage.read(0).plan()
        let second = try stage.read(5 << 20, by: stage.open()).plan()
        #expect(stage.answerPart(first, of: 10 << 20).use == .store(from: 0, upTo: 65_536))
        let other = RangeAnswer.part(second.asked ?? 0..<0, of: 10 << 20, etag: "\"2\"")
        #expect(stage.answer(second, other).use == .discard)
        #expect(stage.load.finalError?.code == .resourceChanged)
    }

    @Test func `of a part that is longer than requested only the requested bytes are stored`() throws {
        var stage = LoadStateStage(length: 10 << 20)
        let outcome = stage.answer(try stage.read(0).plan(), .part(0..<10 << 20, of: 10 << 20))
        #expect(outcome.use == .store(from: 0, upTo: 65_536))
    }

    @Test func `of two whole bodies the second is discarded`() throws {
        var stage = LoadStateStage.begun()
        let open = stage.read(1 << 20).plans + stage.read(5 << 20, by: stage.open()).plans
        let uses = open.map { stage.answer($0, .whole(LoadStateStage.long)).use }
        #expect(uses == [.store(from: 0, upTo: LoadStateStage.long), .discard])
    }

    @Test(arguments: [404, 200, 416, 503])
    func `only a response that brings the music can forbid storing`(status: Int) throws {
        var stage = LoadStateStage.begun()
        var answer = RangeAnswer(kind: .refused(status: status), forbidsStoring: true)
        if status == 416 { answer.kind = .unsatisfiable(total: nil) }
        if status == 200 {
            answer.kind = .whole(length: 18)
            answer.contentType = "text/html"
        }
        let outcome = stage.answer(try stage.read(65_536).plan(), answer)
        #expect(!outcome.forbidsStoring && outcome.use == .discard)
    }

    @Test func `without validators each window begins with 4 KiB that are requested again and compared`()
        throws
    {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<100_000], validators: Validators())
        let first = try stage.read(100_000).plan()
        #expect(first.overlap == 95_904..<100_000 && first.asked == 95_904..<165_536 && first.ifRange == nil)
        #expect(stage.answerPart(first).use == .store(from: 95_904, upTo: 165_536))
        stage.store(95_904..<165_536, first)
        stage.end(first)
        // The file may have changed between two windows, too.
        let second = try stage.read(165_536).plan()
        #expect(second.asked?.lowerBound == 161_440)
        _ = stage.overlapDiffered(second)
        #expect(stage.load.finalError?.code == .resourceChanged)
    }

    @Test func `an empty resource is at its end at once`() throws {
        var stage = LoadStateStage()
        let outcome = stage.answer(try stage.read(0).plan(), RangeAnswer(kind: .unsatisfiable(total: 0)))
        #expect(outcome.actions.woken == 1 && stage.outlook(at: 0) == .end)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `no byte that is stored or under way is ever requested`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let length = Int64.random(in: 1...2_000_000, using: &random)
        let pieces = (0..<Int.random(in: 0...12, using: &random)).map { _ in
            let start = Int64.random(in: 0..<length, using: &random)
            return start..<min(length, start + Int64.random(in: 1...300_000, using: &random))
        }
        var stage = LoadStateStage(length: length, stored: pieces)
        var asked = stage.stored
        var open: [FetchPlan] = []
        var pending = stage.readAhead()
        var steps = 0
        while !stage.isComplete, steps < 3_000 {
            steps += 1
            while let plan = pending.plans.first {
                pending.removeFirst(pending.firstIndex(of: .startFetch(plan)).map { $0 + 1 } ?? 0)
                guard let range = plan.asked else { continue }
                #expect(asked.intersection(RangeSet(range)).isEmpty, "a part of \(range) was requested twice")
                asked.insert(contentsOf: range)
                pending += stage.answerPart(plan).actions
                open.append(plan)
            }
            if let plan = open.popLast(), let range = plan.asked {
                pending = stage.store(range, plan) + stage.end(plan)
            } else {
                pending = stage.read(stage.stored.gaps(in: 0..<length).first?.lowerBound ?? 0)
            }
        }
        let isComplete = stage.isComplete
        #expect(isComplete)
    }
}
