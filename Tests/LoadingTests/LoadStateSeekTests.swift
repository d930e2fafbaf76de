import Media
import TestSupport
import Testing

@testable import Loading

/// The cost of a far seek: the rest of the old window, and a free, warm connection or not.
@Suite struct LoadStateSeekTests {
    private static let long: Int64 = 100 << 20

    private func measured(_ bytesPerSecond: Int64, firstByte: Duration) -> LineMeasure {
        var measure = LineMeasure()
        measure.received(bytesPerSecond, in: .seconds(1))
        measure.answered(after: firstByte)
        return measure
    }

    private func answer(_ plan: FetchPlan, version: String = "HTTP/1.1") -> RangeAnswer {
        var answer = RangeAnswer.part(plan.asked ?? 0..<0, of: Self.long)
        answer.wire.version = version
        return answer
    }

    @Test(
        arguments: [
            (400_000, 50, 20_000, true), (400_000, 50, 20_001, false), (10_000, 50, 4_096, true),
            (10_000, 50, 4_097, false), (50_000_000, 50, 65_536, true), (50_000_000, 50, 65_537, false),
        ] as [(Int64, Int, Int64, Bool)]
    )
    func `what is left of a window ends by itself only if it is here before the next answer can be`(
        rate: Int64,
        milliseconds: Int,
        left: Int64,
        isLeft: Bool
    ) throws {
        let measure = measured(rate, firstByte: .milliseconds(milliseconds))
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measure)
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 400_000)).plan()
        let range = try #require(plan.asked)
        // A window that is shorter than what may be left of one cannot show it.
        guard Int64(range.count) > left else { return #expect(isLeft) }
        _ = stage.answer(plan, answer(plan))
        _ = stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 0)
        _ = stage.store(range.lowerBound..<range.upperBound - left, plan)
        let actions = stage.read(50 << 20)
        #expect(actions.plans.map(\.why) == [.demand])
        #expect(actions.cancelled.contains(plan.id) != isLeft)
    }

    /// Completes a read at the start, so that it is known how the server speaks, and lets it read ahead.
    private func begin(_ stage: inout LoadStateStage, version: String = "HTTP/1.1") throws -> Actions {
        let first = try stage.read(0).plan()
        _ = stage.answer(first, answer(first, version: version))
        _ = stage.store(0..<65_536, first)
        _ = stage.end(first)
        return Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000))
    }

    @Test(arguments: [(159_000, 1), (161_000, 2)])
    func `a thin line is not shared by two windows for the sake of a later seek`(rate: Int64, windows: Int)
        throws
    {
        // 40,000 bytes a second are heard.
        var stage = LoadStateStage(length: Self.long, measure: measured(rate, firstByte: .milliseconds(50)))
        #expect(try begin(&stage).plans.count == windows)
    }

    @Test func `while a first window is under way and nothing is measured nothing is asked for beside it`()
        throws
    {
        var stage = LoadStateStage(length: Self.long)
        let first = try stage.read(0).plan()
        _ = stage.answer(first, answer(first))
        let ahead = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 24_000))
        #expect(ahead.plans.isEmpty)
        #expect(stage.store(0..<49_000, first).plans.isEmpty)
        // Of the last piece the most comes while the answer is on its way.
        #expect(stage.store(49_000..<50_000, first).plans.count == 1)
    }

    @Test func `where a connection takes one request at a time read-ahead begins on two`() throws {
        var stage = LoadStateStage(length: Self.long)
        let pair = try begin(&stage).plans
        #expect(pair.count == 2)
        #expect(pair.first?.asked?.upperBound == pair.last?.asked?.lowerBound)
        #expect(pair.first?.asked?.count == 65_536, "the connection of the first is soon free")
        for plan in pair { _ = stage.answer(plan, answer(plan)) }
        #expect(!stage.state.lacksSecondConnection)
        // From now on one window follows the other.
        #expect(stage.store(pair[0].asked ?? 0..<0, pair[0]).plans.isEmpty)
        #expect(stage.end(pair[0]).plans.isEmpty)
    }

    @Test func `a request that brought its last byte and has not yet ended changes nothing of that`() throws {
        var stage = LoadStateStage(length: Self.long)
        let first = try stage.read(0).plan()
        _ = stage.answer(first, answer(first))
        _ = stage.store(0..<65_536, first)
        let pair = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans
        #expect(pair.count == 2)
        #expect(pair.first?.asked?.count == 65_536)
    }

    @Test(arguments: ["HTTP/2", "HTTP/3", ""])
    func `a connection that carries several requests needs no second one`(version: String) throws {
        var stage = LoadStateStage(length: Self.long)
        #expect(try begin(&stage, version: version).plans.count == 1)
        stage.pass(.seconds(60))
        #expect(!stage.state.lacksSecondConnection)
    }

    @Test func `a second connection is used again before it is closed for being idle`() throws {
        var stage = LoadStateStage(length: Self.long)
        var plans = try begin(&stage).plans
        var pairs: [Duration] = []
        var requests = 0
        for offset in stride(from: Int64(0), to: 8_000_000, by: 20_000) {
            while let plan = plans.popLast() {
                requests += 1
                let others = stage.state.load.fetches.active.filter { $0.plan.id != plan.id }
                if !others.isEmpty { pairs.append(stage.state.now) }
                // A connection that was there before says nothing of a second one.
                var answer = answer(plan)
                answer.wire.reusedConnection = true
                _ = stage.answer(plan, answer)
                plans += stage.store(plan.asked ?? 0..<0, plan).plans + stage.end(plan).plans
            }
            stage.pass(.milliseconds(500))
            plans = stage.read(offset).plans
        }
        #expect(pairs.count >= 10)
        for (earlier, later) in zip(pairs, pairs.dropFirst()) { #expect(later - earlier < .seconds(30)) }
        #expect(requests < 8_000_000 / 65_536, "it costs few requests")
    }

    @Test func `a connection that was made beside a request under way is a second one`() throws {
        var stage = LoadStateStage(
            length: Self.long,
            measure: measured(1_000_000, firstByte: .milliseconds(50))
        )
        let first = try stage.read(0).plan()
        _ = stage.answer(first, answer(first))
        #expect(Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans.isEmpty)
        let second = try stage.store(0..<60_000, first).plan()
        #expect(stage.state.lacksSecondConnection)
        var fresh = answer(second)
        fresh.wire.reusedConnection = false
        _ = stage.answer(second, fresh)
        #expect(!stage.state.lacksSecondConnection)
        // A window that a seek ends takes its connection along.
        _ = stage.end(first)
        #expect(stage.read(50 << 20).cancelled == [second.id])
        #expect(stage.state.lacksSecondConnection)
    }
}
