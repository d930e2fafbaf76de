import Media
import TestSupport
import Testing

@testable import Loading

/// Windows, read-ahead and priorities.
@Suite struct LoadStatePriorityTests {
    @Test(
        arguments: [(20_000, 65_536), (100_000, 200_000), (400_000, 800_000), (5_000_000, 1 << 20)]
            as [(Int64, Int64)]
    )
    func `windows grow with the rate of the connection`(rate: Int64, window: Int64) throws {
        var stage = LoadStateStage.begun(.line(rate))
        let plan = try stage.readAhead().plan()
        let count = Int64(plan.asked?.count ?? 0)
        #expect(plan.urgency == .readAhead)
        // It may end at the edge of a block before that.
        #expect(count <= window && count > window - 65_536)
    }

    /// 250 ms of stereo with 24 bits and 96 kHz, which are needed for the first sound, are 144 kB.
    @Test(
        arguments: [
            ("/a.wav", 524_288), ("/b/C.AIFF", 524_288), ("/song.mp3", 65_536), ("/wav", 65_536),
        ] as [(String, Int64)]
    )
    func `the first window of uncompressed music is longer, and none of it is given up`(
        path: String,
        window: Int64
    ) throws {
        let url = try #require(WebURL("http://example.com" + path))
        var stage = LoadStateStage(settings: LoadSettings().adapted(to: url))
        let plan = try stage.read(0).plan()
        #expect(plan.wanted == 0..<window && plan.urgency == .demand)
    }

    @Test(
        arguments: [(500_000, 80, 40_000), (2_000_000, 100, 200_000), (50_000_000, 100, 524_288)]
            as [(Int64, Int, Int64)]
    )
    func `the next window is requested while the current one fills the connection`(
        rate: Int64,
        milliseconds: Int,
        left: Int64
    ) throws {
        var stage = LoadStateStage.begun(.line(rate, firstByte: milliseconds))
        let plan = try stage.readAhead(400_000).plan()
        let end = try #require(plan.asked?.upperBound)
        stage.answerPart(plan)
        #expect(stage.store(65_536..<end - left, plan).plans.isEmpty)
        #expect(try stage.store(end - left..<end - left + 1, plan).plan().asked?.lowerBound == end)
    }

    @Test func `read-ahead resumes when the music has used up a window of it, not with each read`() throws {
        var stage = LoadStateStage(
            length: LoadStateStage.long,
            stored: [0..<3_000_000],
            measure: .line(200_000)
        )
        // 60 s are 2.4 MB, and an eighth of it in reserve.
        #expect(stage.readAhead().plans.isEmpty)
        #expect(stage.read(400_000).plans.isEmpty)
        #expect(stage.read(590_000).plans.isEmpty && stage.need == nil)
        let plan = try stage.read(600_000).plan()
        #expect(plan.asked?.lowerBound == 3_000_000)
        #expect(plan.asked?.upperBound ?? 0 <= 600_000 + 2_700_000)
    }

    @Test func `the rest of a track is fetched as soon as it is near`() throws {
        var stage = LoadStateStage(length: 3_000_100, stored: [0..<3_000_000])
        #expect(try stage.readAhead(80_000).plan().asked == 3_000_000..<3_000_100)
    }

    @Test func `with all as read-ahead the whole track is fetched`() throws {
        var settings = LoadSettings()
        settings.readAhead = .all
        var stage = LoadStateStage(length: 5_000_000, stored: [0..<65_536], settings: settings)
        _ = stage.completeAll(stage.readAhead())
        #expect(stage.isComplete)
    }

    @Test func `windows that come too fast to be measured double, up to the largest`() throws {
        var stage = LoadStateStage.begun()
        var plan = try stage.readAhead(400_000).plan()
        var windows: [Int64] = []
        while windows.count < 6 {
            windows.append(Int64(plan.asked?.count ?? 0))
            plan = try stage.complete(plan).plan()
        }
        #expect(windows == [131_072, 262_144, 524_288, 1 << 20, 1 << 20, 1 << 20])
    }

    @Test func `a short jump is read through on a fast connection`() throws {
        // 80 ms at 2 MB/s are 160 kB.
        var stage = LoadStateStage.begun(.line(2_000_000))
        stage.answerPart(try stage.readAhead().plan())
        stage.readAhead(0)
        let actions = stage.read(165_536)
        #expect(actions.plans.isEmpty && actions.cancelled.isEmpty && actions.decisions == [.readThrough])
    }

    @Test func `a short jump costs a new request on a slow connection`() throws {
        // 80 ms at 100 kB/s are 8 kB.
        var stage = LoadStateStage.begun(.line(100_000))
        let plan = try stage.readAhead().plan()
        stage.answerPart(plan)
        stage.readAhead(0)
        let actions = stage.read(165_536)
        #expect(actions.cancelled == [plan.id] && actions.decisions == [.reconnect])
        #expect(actions.plans.isEmpty, "the last bytes of the old request may still come")
        let next = try stage.end(plan).plan()
        #expect(next.asked?.lowerBound == 165_536 && next.urgency == .demand)
    }

    @Test func `a far seek cancels read-ahead, requests one window, and keeps the bytes that still come`()
        throws
    {
        var stage = LoadStateStage.begun()
        let ahead = try stage.readAhead().plan()
        stage.answerPart(ahead)
        stage.cancelRead()
        stage.readAhead(0)
        let jump = stage.read(50 << 20)
        let far = try jump.plan()
        #expect(jump.cancelled == [ahead.id] && far.asked?.count == 65_536 && far.urgency == .demand)
        var stays = stage
        #expect(stays.answerPart(far).actions.plans.isEmpty)
        #expect(stays.store(50 << 20..<(50 << 20) + 30_000, far).plans.isEmpty)
        stage.cancelRead()
        #expect(stage.read(65_536).plans.isEmpty)
        stage.store(65_536..<81_920, ahead)
        #expect(stage.outlook(at: 65_536) == .stored)
        #expect(stage.read(81_920).plans.isEmpty)
        #expect(try stage.end(ahead).plan().asked?.lowerBound == 81_920)
    }

    @Test func `a jump into a window that another reader needs waits for it`() throws {
        var stage = LoadStateStage.begun(.line(100_000))
        let plan = try stage.readAhead().plan()
        stage.answerPart(plan)
        let actions = stage.read((plan.asked?.upperBound ?? 0) - 10, by: stage.open())
        #expect(actions.plans.isEmpty && actions.cancelled.isEmpty)
    }

    @Test(arguments: [false, true])
    func `with several readers, a jump of one of them cancels no request`(isAnswered: Bool) throws {
        var stage = LoadStateStage.begun()
        let second = stage.open()
        let ahead = try stage.readAhead().plan()
        let demand = try stage.read(40 << 20).plan()
        if isAnswered { for plan in [ahead, demand] { stage.answerPart(plan) } }
        let jump = stage.read(80 << 20)
        #expect(jump.cancelled.isEmpty && jump.plans.first?.asked?.lowerBound == 80 << 20)
        #expect(stage.read(65_536, by: second).plans.isEmpty, "the old window still comes")
        #expect(stage.close(second).cancelled.contains(ahead.id), "the last reader does not need it")
    }

    @Test(
        arguments: [
            (.demand, .prefetch, false), (.readAhead, .prefetch, false), (.prefetch, .prefetch, true),
            (.fill, .prefetch, true), (nil, .prefetch, true), (.demand, .readAhead, false),
            (.readAhead, .readAhead, true), (.prefetch, .readAhead, true), (.prefetch, .fill, false),
            (.readAhead, .fill, false), (.fill, .fill, true), (.demand, .demand, true),
        ] as [(Urgency?, Urgency, Bool)]
    )
    func `a fetch begins only if other resources need nothing more urgently`(
        othersNeed: Urgency?,
        urgency: Urgency,
        begins: Bool
    ) throws {
        var stage = LoadStateStage.begun()
        stage.othersNeed(othersNeed)
        let actions =
            switch urgency {
            case .demand: stage.read(1 << 20)
            case .readAhead: stage.readAhead()
            case .prefetch: stage.ask(.prefetch(65_536..<400_000))
            default: stage.ask(.fill)
            }
        #expect(actions.plans.map(\.urgency) == (begins ? [urgency] : []))
        #expect(stage.need == urgency, "it is needed all the same")
        #expect(stage.othersNeed(nil).plans.map(\.urgency) == (begins ? [] : [urgency]))
    }

    @Test func `a waiting read precedes everything else of its resource, too`() throws {
        var stage = LoadStateStage.begun()
        let second = stage.open()
        let demand = try stage.read(1 << 20).plan()
        #expect(stage.ask(.prefetch(50 << 20..<51 << 20), by: second).plans.isEmpty)
        #expect(stage.ask(.fill, by: second).plans.isEmpty)
        #expect(stage.need == .demand)
        // The read is answered: the head of the next track comes, and gaps only after that.
        #expect(stage.complete(demand).plans.map(\.urgency) == [.prefetch])
        #expect(stage.need == .prefetch)
    }

    @Test func `a read of low priority counts as the head of the next track`() throws {
        var stage = LoadStateStage()
        #expect(stage.ask(.lowPriority(true)).plans.isEmpty)
        stage.othersNeed(.readAhead)
        #expect(stage.read(0).plans.isEmpty && stage.need == .prefetch)
        let plan = try stage.othersNeed(.prefetch).plan()
        #expect(plan.asked == 0..<65_536 && plan.urgency == .prefetch && stage.need == .prefetch)
        // Its body may be the only source of these bytes, but no reader of normal priority needs it.
        stage.answer(plan, .whole(LoadStateStage.long))
        #expect(stage.need == .prefetch)
    }

    @Test func `a reader whose priority becomes normal is served at once`() throws {
        var stage = LoadStateStage()
        stage.ask(.lowPriority(true))
        stage.othersNeed(.demand)
        #expect(stage.read(0).plans.isEmpty)
        #expect(try stage.ask(.lowPriority(false)).plan().urgency == .demand && stage.need == .demand)
    }

    @Test func `a reader of low priority waits for the read-ahead of another reader`() throws {
        var stage = LoadStateStage(length: 5_000_000, stored: [0..<65_536])
        let next = stage.open()
        stage.ask(.lowPriority(true), by: next)
        var plans = stage.readAhead().plans
        #expect(stage.read(4_000_000, by: next).plans.isEmpty)
        while let plan = plans.popLast(), plan.urgency == .readAhead {
            plans += stage.complete(plan).plans
            if let last = plans.last, last.urgency != .readAhead {
                #expect(last.urgency == .prefetch && last.asked?.lowerBound == 4_000_000)
            }
        }
        // A minute of music, and no less.
        #expect(stage.stored.covers(0..<2_400_000) && stage.need == .prefetch)
    }

    @Test func `filling requests one gap after the other and then needs nothing`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<65_536, 300_000..<500_000])
        let plans = stage.completeAll(stage.ask(.fill))
        #expect(
            plans.map(\.asked) == [65_536..<196_608, 196_608..<300_000, 500_000..<983_040, 983_040..<1 << 20]
        )
        #expect(plans.allSatisfy { $0.urgency == .fill })
        #expect(stage.isComplete && stage.need == nil)
    }

    @Test func `filling begins without a known length, and learns it`() throws {
        var stage = LoadStateStage()
        let plan = try stage.ask(.fill).plan()
        #expect(plan.asked == 0..<131_072 && plan.urgency == .fill)
        #expect(stage.complete(plan, of: 1 << 20).plans.first?.asked?.lowerBound == 131_072)
    }

    @Test(arguments: [(881, 881), (32_767, 32_767), (32_768, 0), (100_000, 0)] as [(Int64, Int64)])
    func `the last few bytes of a head come with the request before them`(rest: Int64, joined: Int64) throws {
        var stage = LoadStateStage(length: LoadStateStage.long, measure: .line(2_000_000))
        #expect(try stage.ask(.prefetch(0..<262_144 + rest)).plan().asked == 0..<262_144 + joined)
    }

    @Test(arguments: [(20_000, 65_536), (300_000, 150_000), (9_000_000, 262_144)] as [(Int64, Int64)])
    func `windows for later are at most half a second of the connection`(rate: Int64, most: Int64) throws {
        var stage = LoadStateStage(length: LoadStateStage.long, measure: .line(rate))
        #expect(Int64(try stage.ask(.prefetch(0..<10 << 20)).plan().asked?.count ?? 0) <= most)
    }

    @Test func `the whole of a long body counts as read-ahead, and not as bytes for which a read waits`()
        throws
    {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        stage.answer(plan, .whole(LoadStateStage.long))
        #expect(stage.need == .demand)
        stage.store(0..<65_536, plan)
        #expect(stage.need == .prefetch)
        stage.readAhead()
        #expect(stage.need == .readAhead)
    }
}
