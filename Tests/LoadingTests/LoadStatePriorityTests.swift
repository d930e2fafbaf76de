import Media
import TestSupport
import Testing

@testable import Loading

/// Windows, read-ahead and priorities.
@Suite struct LoadStatePriorityTests {
    private static let long: Int64 = 100 << 20

    private func measured(_ bytesPerSecond: Int64, firstByte: Duration = .milliseconds(80)) -> LineMeasure {
        var measure = LineMeasure()
        measure.received(bytesPerSecond, in: .seconds(1))
        measure.answered(after: firstByte)
        return measure
    }

    /// One more reader.
    private func other(_ stage: inout LoadStateStage, _ number: Int = 2) -> ResourceLoadState.ReaderID {
        let id = ResourceLoadState.ReaderID(number)
        stage.state.readerOpened(id)
        return id
    }

    @Test(
        arguments: [(20_000, 65_536), (100_000, 200_000), (400_000, 800_000), (5_000_000, 1 << 20)]
            as [(Int64, Int64)]
    )
    func `windows grow with the rate of the line`(rate: Int64, window: Int64) throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measured(rate))
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        let count = Int64(plan.asked?.count ?? 0)
        #expect(plan.why == .readAhead)
        // It may end at the edge of a block before that.
        #expect(count <= window && count > window - 65_536)
    }

    @Test(
        arguments: [(500_000, 80, 40_000), (2_000_000, 100, 200_000), (50_000_000, 100, 524_288)]
            as [(Int64, Int, Int64)]
    )
    func `the next window is asked for while the current one fills the line`(
        rate: Int64,
        milliseconds: Int,
        left: Int64
    ) throws {
        let measure = measured(rate, firstByte: .milliseconds(milliseconds))
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measure)
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 400_000)).plan()
        let end = try #require(plan.asked?.upperBound)
        _ = stage.answerPart(plan, of: Self.long)
        #expect(stage.store(65_536..<end - left, plan).plans.isEmpty)
        let next = try stage.store(end - left..<end - left + 1, plan).plan()
        #expect(next.asked?.lowerBound == end)
    }

    @Test func `read-ahead is taken up again when a window of it is heard, not with each read`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<3_000_000], measure: measured(200_000))
        // 60 s are 2.4 MB, and an eighth of it in reserve.
        #expect(Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans.isEmpty)
        #expect(stage.read(400_000).plans.isEmpty)
        #expect(stage.read(590_000).plans.isEmpty && stage.state.need == nil)
        let plan = try stage.read(600_000).plan()
        #expect(plan.asked?.lowerBound == 3_000_000)
        #expect(plan.asked?.upperBound ?? 0 <= 600_000 + 2_700_000)
    }

    @Test func `the rest of a track is fetched as soon as it is near`() throws {
        var stage = LoadStateStage(length: 3_000_100, stored: [0..<3_000_000])
        let actions = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 80_000))
        #expect(actions.asked == [3_000_000..<3_000_100])
    }

    @Test func `with all as read-ahead the whole track is fetched`() throws {
        var settings = LoadSettings()
        settings.readAhead = .all
        var stage = LoadStateStage(length: 5_000_000, stored: [0..<65_536], settings: settings)
        var plans = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans
        var rounds = 0
        while let plan = plans.popLast(), rounds < 200 {
            rounds += 1
            plans += stage.complete(plan, of: 5_000_000).plans
        }
        #expect(stage.state.isComplete)
    }

    @Test func `where windows come too fast to be measured each is twice as long, up to the largest`() throws
    {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        var plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 400_000)).plan()
        var windows: [Int64] = []
        while windows.count < 6 {
            windows.append(Int64(plan.asked?.count ?? 0))
            plan = try stage.complete(plan, of: Self.long).plan()
        }
        #expect(windows == [131_072, 262_144, 524_288, 1 << 20, 1 << 20, 1 << 20])
    }

    @Test func `a short jump is read through on a fast line and a new request on a slow one`() throws {
        for (rate, isReadThrough) in [(2_000_000, true), (100_000, false)] as [(Int64, Bool)] {
            var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measured(rate))
            let ahead = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000))
            let plan = try ahead.plan()
            _ = stage.answerPart(plan, of: Self.long)
            _ = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 0))
            // 80 ms at 2 MB/s are 160 kB, at 100 kB/s 8 kB.
            let actions = stage.read(65_536 + 100_000)
            if isReadThrough {
                #expect(actions.plans.isEmpty && actions.cancelled.isEmpty)
                #expect(actions.decisions == [.readThrough])
                continue
            }
            #expect(actions.cancelled == [plan.id])
            #expect(actions.decisions == [.reconnect])
            #expect(actions.plans.isEmpty, "its last bytes may still come")
            let next = try stage.end(plan).plan()
            #expect(next.asked?.lowerBound == 165_536 && next.why == .demand)
        }
    }

    @Test func `what came of a cancelled request until its end is not asked for again`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        _ = stage.answerPart(plan, of: Self.long)
        _ = stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 0)
        let jump = stage.read(50 << 20)
        #expect(jump.cancelled == [plan.id] && jump.plans.count == 1)
        stage.state.readCancelled(stage.reader)
        let back = stage.read(65_536)
        #expect(back.plans.isEmpty)
        _ = stage.store(65_536..<81_920, plan)
        #expect(stage.state.outlook(at: 65_536) == .stored)
        #expect(stage.read(81_920).plans.isEmpty)
        #expect(try stage.end(plan).plan().asked?.lowerBound == 81_920)
    }

    @Test func `a jump into a window that another reader needs waits for it`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measured(100_000))
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        _ = stage.answerPart(plan, of: Self.long)
        let actions = stage.read((plan.asked?.upperBound ?? 0) - 10, by: other(&stage))
        #expect(actions.plans.isEmpty && actions.cancelled.isEmpty)
    }

    @Test(arguments: [false, true])
    func `with several readers, a jump of one of them ends no request`(isAnswered: Bool) throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        let second = other(&stage)
        let ahead = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        let demand = try stage.read(40 << 20).plan()
        if isAnswered {
            _ = stage.answerPart(ahead, of: Self.long)
            _ = stage.answerPart(demand, of: Self.long)
        }
        let jump = stage.read(80 << 20)
        #expect(jump.cancelled.isEmpty && jump.plans.first?.asked?.lowerBound == 80 << 20)
        #expect(stage.read(65_536, by: second).plans.isEmpty, "what was left is still coming")
        // Who is left alone is served alone.
        let closed = Actions(stage.state.readerClosed(second))
        #expect(closed.cancelled.contains(ahead.id))
    }

    @Test(
        arguments: [
            (.demand, .prefetch, false), (.readAhead, .prefetch, false), (.prefetch, .prefetch, true),
            (.fill, .prefetch, true), (nil, .prefetch, true), (.demand, .readAhead, false),
            (.readAhead, .readAhead, true), (.prefetch, .readAhead, true), (.prefetch, .fill, false),
            (.readAhead, .fill, false), (.fill, .fill, true), (.demand, .demand, true),
        ] as [(FetchReason?, FetchReason, Bool)]
    )
    func `what others need more urgently keeps this from beginning`(
        othersNeed: FetchReason?,
        why: FetchReason,
        begins: Bool
    ) throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        _ = stage.state.othersNeedChanged(othersNeed, revision: 1)
        let actions: Actions
        switch why {
        case .demand: actions = stage.read(1 << 20)
        case .readAhead: actions = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000))
        case .prefetch: actions = Actions(stage.state.prefetchRequested(stage.reader, 65_536..<400_000))
        default: actions = Actions(stage.state.fillRequested(stage.reader))
        }
        #expect(actions.plans.map(\.why) == (begins ? [why] : []))
        #expect(stage.state.need == why, "it is needed all the same")
        let freed = Actions(stage.state.othersNeedChanged(nil, revision: 2))
        #expect(freed.plans.map(\.why) == (begins ? [] : [why]))
    }

    @Test func `a late update of the others' need changes nothing`() {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        _ = stage.state.othersNeedChanged(.demand, revision: 5)
        _ = stage.state.othersNeedChanged(nil, revision: 4)
        #expect(Actions(stage.state.fillRequested(stage.reader)).plans.isEmpty)
    }

    @Test func `a waiting read precedes everything else of its resource, too`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536])
        let second = other(&stage)
        let demand = try stage.read(1 << 20).plan()
        #expect(Actions(stage.state.prefetchRequested(second, 50 << 20..<51 << 20)).plans.isEmpty)
        #expect(Actions(stage.state.fillRequested(second)).plans.isEmpty)
        #expect(stage.state.need == .demand)
        // The read is answered: the head of the next comes, and gaps only after that.
        let after = stage.complete(demand, of: Self.long)
        #expect(after.plans.map(\.why) == [.prefetch])
        #expect(stage.state.need == .prefetch)
    }

    @Test func `a read of low priority counts as the head of the next track`() throws {
        var stage = LoadStateStage()
        #expect(Actions(stage.state.prioritySet(stage.reader, isLow: true)).plans.isEmpty)
        _ = stage.state.othersNeedChanged(.readAhead, revision: 1)
        #expect(stage.read(0).plans.isEmpty && stage.state.need == .prefetch)
        let plan = try Actions(stage.state.othersNeedChanged(.prefetch, revision: 2)).plan()
        #expect(plan.asked == 0..<65_536 && plan.why == .prefetch && stage.state.need == .prefetch)
        // Its body may be the only source of these bytes, but no reader wants it.
        _ = stage.answer(plan, .whole(Self.long))
        #expect(stage.state.need == .prefetch)
    }

    @Test func `a reader whose priority becomes normal is served at once`() throws {
        var stage = LoadStateStage()
        _ = stage.state.prioritySet(stage.reader, isLow: true)
        _ = stage.state.othersNeedChanged(.demand, revision: 1)
        #expect(stage.read(0).plans.isEmpty)
        let plan = try Actions(stage.state.prioritySet(stage.reader, isLow: false)).plan()
        #expect(plan.why == .demand && stage.state.need == .demand)
    }

    @Test func `a reader of low priority waits for the read-ahead of another reader`() throws {
        var stage = LoadStateStage(length: 5_000_000, stored: [0..<65_536])
        let next = other(&stage)
        _ = stage.state.prioritySet(next, isLow: true)
        var plans = Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plans
        #expect(stage.read(4_000_000, by: next).plans.isEmpty)
        while let plan = plans.popLast(), plan.why == .readAhead {
            plans += stage.complete(plan, of: 5_000_000).plans
            if let last = plans.last, last.why != .readAhead {
                #expect(last.why == .prefetch && last.asked?.lowerBound == 4_000_000)
            }
        }
        // A minute of music, and no less.
        #expect(stage.state.stored.covers(0..<2_400_000) && stage.state.need == .prefetch)
    }

    @Test func `filling goes on through every gap and then needs nothing`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<65_536, 300_000..<500_000])
        var plans = Actions(stage.state.fillRequested(stage.reader)).plans
        var rounds = 0
        while let plan = plans.popLast(), rounds < 100 {
            rounds += 1
            #expect(plan.why == .fill && plan.asked?.count ?? 0 <= 65_536)
            plans += stage.complete(plan, of: 1 << 20).plans
        }
        #expect(stage.state.isComplete && stage.state.need == nil)
    }

    @Test func `filling begins with nothing known, and learns the length`() throws {
        var stage = LoadStateStage()
        let plan = try Actions(stage.state.fillRequested(stage.reader)).plan()
        #expect(plan.asked == 0..<65_536 && plan.why == .fill)
        #expect(stage.complete(plan, of: 1 << 20).plans.first?.asked?.lowerBound == 65_536)
    }

    @Test(arguments: [(881, 881), (32_767, 32_767), (32_768, 0), (100_000, 0)] as [(Int64, Int64)])
    func `the last few bytes of a head come along with the request before`(rest: Int64, joined: Int64) throws
    {
        var stage = LoadStateStage(length: Self.long, measure: measured(2_000_000))
        let plan = try Actions(stage.state.prefetchRequested(stage.reader, 0..<262_144 + rest)).plan()
        #expect(plan.asked == 0..<262_144 + joined)
    }

    @Test func `windows for later are half a second of the line, and bounded`() throws {
        for (rate, most) in [(20_000, 65_536), (300_000, 150_000), (9_000_000, 262_144)] as [(Int64, Int64)] {
            var stage = LoadStateStage(length: Self.long, measure: measured(rate))
            let prefetch = Actions(stage.state.prefetchRequested(stage.reader, 0..<10 << 20))
            let asked = try prefetch.plan().asked
            #expect(Int64(asked?.count ?? 0) <= most)
        }
    }

    @Test func `a far seek costs one request of one window before the first bytes`() throws {
        var stage = LoadStateStage(length: Self.long, stored: [0..<65_536], measure: measured(2_000_000))
        let ahead = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        _ = stage.answerPart(ahead, of: Self.long)
        stage.state.readCancelled(stage.reader)
        _ = stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 0)
        let plan = try stage.read(80 << 20).plan()
        #expect(plan.asked?.count == 65_536 && plan.why == .demand)
        #expect(Actions(stage.answerPart(plan, of: Self.long).actions).plans.isEmpty)
        #expect(stage.store(80 << 20..<(80 << 20) + 30_000, plan).plans.isEmpty)
    }

    @Test func `the whole of a long body is ahead of the listener, and not all waited for`() throws {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        _ = stage.answer(plan, .whole(Self.long))
        #expect(stage.state.need == .demand)
        _ = stage.store(0..<65_536, plan)
        #expect(stage.state.need == .prefetch)
        _ = stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)
        #expect(stage.state.need == .readAhead)
    }
}
