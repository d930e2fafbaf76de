import Media
import TestSupport
import Testing

@testable import Loading

/// The cost of a far seek: the rest of the old window, and whether a free, warm connection exists.
@Suite struct LoadStateSeekTests {
    /// Answers `plan` with the requested bytes.
    private func answer(
        _ stage: inout LoadStateStage,
        _ plan: FetchPlan,
        version: String = "HTTP/1.1",
        reusedConnection: Bool? = nil
    ) {
        var answer = RangeAnswer.part(plan.asked ?? 0..<0, of: LoadStateStage.long)
        answer.wire.version = version
        if let reusedConnection { answer.wire.reusedConnection = reusedConnection }
        stage.answer(plan, answer)
    }

    @Test(
        arguments: [
            (400_000, 50, 20_000, true), (400_000, 50, 20_001, false), (10_000, 50, 4_096, true),
            (10_000, 50, 4_097, false), (50_000_000, 50, 65_536, true), (50_000_000, 50, 65_537, false),
        ] as [(Int64, Int, Int64, Bool)]
    )
    func `a window runs to its end only if its rest comes before the next answer can`(
        rate: Int64,
        milliseconds: Int,
        left: Int64,
        isLeft: Bool
    ) throws {
        var stage = LoadStateStage.begun(.line(rate, firstByte: milliseconds))
        let plan = try stage.readAhead(400_000).plan()
        let range = try #require(plan.asked)
        // A window that is shorter than the permitted rest cannot show it.
        guard Int64(range.count) > left else { return #expect(isLeft) }
        answer(&stage, plan)
        stage.readAhead(0)
        stage.store(range.lowerBound..<range.upperBound - left, plan)
        let actions = stage.read(50 << 20)
        #expect(actions.plans.map(\.urgency) == [.demand])
        #expect(actions.cancelled.contains(plan.id) != isLeft)
    }

    /// The rates of MP3, CD audio, and 24 bits at 96 kHz.
    @Test(
        arguments: [40_000, 176_400, 576_000, 1e9],
        [50 << 20, (50 << 20) + 24_000, (50 << 20) + 65_535] as [Int64]
    )
    func `one request of a seek has a quarter of a second of music`(rate: Double, offset: Int64) throws {
        var stage = LoadStateStage.begun()
        stage.readAhead(rate)
        stage.readAhead(0)
        let plans = stage.read(offset).plans.filter { $0.urgency == .demand }
        let count = try #require(plans.first?.asked).count
        #expect(Double(count) >= min(rate / 4, 524_288))
        #expect(count <= max(64 << 10, min(Int(rate / 2), 1 << 20)))
    }

    @Test(
        arguments: [
            (1_000_000, 1_400_000, 1_000_000..<1_400_000), (1_000_000, 1_010_000, 1_000_000..<1_048_576),
            (1_000_000, 9_000_000, 1_000_000..<2_048_576), (0, 1_000_000, 1_000_000..<1_048_576),
            (1_000_000, 1_004_096, 1_000_000..<1_004_096), (1_000_000, 1_004_097, 1_000_000..<1_048_576),
            (999_900, 1_003_996, 1_000_000..<1_003_996), (900_000, 1_003_996, 1_000_000..<1_048_576),
        ] as [(Int64, Int64, ByteRange)]
    )
    func
        `a read within an announced range requests all of it, up to the largest window, and nothing behind a sample`(
            start: Int64,
            end: Int64,
            expected: ByteRange
        ) throws
    {
        var stage = LoadStateStage.begun()
        #expect(stage.ask(.reading(start..<end)).plans.isEmpty)
        #expect(try stage.read(1_000_000).plan().asked == expected)
    }

    @Test func `a long window of a seek is not left when its first part comes at once`() throws {
        var stage = LoadStateStage.begun()
        stage.readAhead(576_000)
        stage.readAhead(0)
        let plans = stage.read(50 << 20).plans.filter { $0.urgency == .demand }
        let plan = try #require(plans.first)
        answer(&stage, plan)
        let start: Int64 = 50 << 20
        #expect(stage.store(start..<start + 80_000, plan).cancelled.isEmpty)
        // The reader takes all of it, and waits for the rest.
        #expect(stage.read(start + 80_000).isEmpty)
    }

    /// A search goes back to the music that a window has shown, or to another window before it.
    @Test(arguments: [(10_000, 0), (-76_000, 1)])
    func `what a reader has announced still comes after it went back`(back: Int64, requests: Int) throws {
        var stage = LoadStateStage.begun()
        let start: Int64 = 50 << 20
        stage.ask(.reading(start..<start + 200_000))
        let window = try stage.read(start).plan()
        answer(&stage, window)
        stage.store(start..<start + 100_000, window)
        stage.ask(.reading(start + back..<start + 150_000))
        let actions = stage.read(start + back)
        #expect(actions.cancelled.isEmpty && actions.plans.count == requests)
        #expect(actions.plans.allSatisfy { $0.asked == start + back..<start })
        #expect(stage.read(start + 100_000).isEmpty)
    }

    /// Completes a read at the start, so that the server's protocol is known, and allows read-ahead.
    private func begin(_ stage: inout LoadStateStage, version: String = "HTTP/1.1") throws -> [FetchPlan] {
        let first = try stage.read(0).plan()
        answer(&stage, first, version: version)
        stage.store(0..<65_536, first)
        stage.end(first)
        return stage.readAhead().plans
    }

    @Test(arguments: [(159_000, 1), (161_000, 2)])
    func `a slow connection is not shared by two windows for the sake of a later seek`(
        rate: Int64,
        windows: Int
    ) throws {
        // The music needs 40,000 bytes a second.
        var stage = LoadStateStage(length: LoadStateStage.long, measure: .line(rate, firstByte: 50))
        #expect(try begin(&stage).count == windows)
    }

    @Test func `nothing is requested beside an unmeasured first window until little of it is left`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long)
        let first = try stage.read(0).plan()
        answer(&stage, first)
        #expect(stage.readAhead(24_000).plans.isEmpty)
        #expect(stage.store(0..<49_000, first).plans.isEmpty)
        // Most of the rest comes while the next request is on its way.
        #expect(stage.store(49_000..<50_000, first).plans.count == 1)
    }

    @Test func `if a connection takes one request at a time, read-ahead begins on two`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long)
        let pair = try begin(&stage)
        #expect(pair.count == 2)
        #expect(pair.first?.asked?.upperBound == pair.last?.asked?.lowerBound)
        #expect(pair.first?.asked?.count == 65_536, "the connection of the first is soon free")
        for plan in pair { answer(&stage, plan) }
        #expect(!stage.lacksSecondConnection)
        // From now on one window follows the other.
        #expect(
            stage.store(pair[0].asked ?? 0..<0, pair[0]).plans.isEmpty && stage.end(pair[0]).plans.isEmpty
        )
    }

    @Test func `read-ahead begins on two connections before the last byte's request has ended, too`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long)
        let first = try stage.read(0).plan()
        answer(&stage, first)
        stage.store(0..<65_536, first)
        let pair = stage.readAhead().plans
        #expect(pair.count == 2 && pair.first?.asked?.count == 65_536)
    }

    @Test func `a request that is under way when another shows that ranges are useless fails no read`() throws
    {
        var stage = LoadStateStage(length: LoadStateStage.long)
        let pair = try begin(&stage)
        #expect(pair.count == 2 && stage.read(65_536).plans.isEmpty)
        let useless = RangeAnswer.part(0..<100, of: LoadStateStage.long)
        let first = stage.answer(pair[1], useless).actions
        #expect(first.decisions == [.withoutRanges] && first.failures.isEmpty)
        let second = stage.answer(pair[0], useless).actions
        #expect(second.failures.isEmpty)
        let whole = try #require((first.plans + second.plans).last)
        #expect(whole.asked == nil && (first.plans + second.plans).count == 1)
    }

    @Test(arguments: ["HTTP/2", "HTTP/3", ""])
    func `a connection that carries several requests needs no second one`(version: String) throws {
        var stage = LoadStateStage(length: LoadStateStage.long)
        #expect(try begin(&stage, version: version).count == 1)
        _ = stage.pass(.seconds(60))
        #expect(!stage.lacksSecondConnection)
    }

    @Test func `a second connection is used again before it is closed for being idle`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long)
        var plans = try begin(&stage)
        var pairs: [Duration] = []
        var requests = 0
        for offset in stride(from: Int64(0), to: 8_000_000, by: 20_000) {
            while let plan = plans.popLast() {
                requests += 1
                if stage.load.fetches.active.contains(where: { $0.plan.id != plan.id }) {
                    pairs.append(stage.now)
                }
                // A connection that existed before does not prove a second one.
                answer(&stage, plan, reusedConnection: true)
                plans += stage.store(plan.asked ?? 0..<0, plan).plans + stage.end(plan).plans
            }
            plans = stage.pass(.milliseconds(500)).plans + stage.read(offset).plans
        }
        #expect(pairs.count >= 10)
        for (earlier, later) in zip(pairs, pairs.dropFirst()) { #expect(later - earlier < .seconds(30)) }
        #expect(requests < 8_000_000 / 65_536, "it costs few requests")
    }

    @Test(arguments: [(false, 50), (true, 50)])
    func `a request that a server with one connection lets starve is sent again, and none beside another`(
        isFirst: Bool,
        firstByte: Int
    ) throws {
        var stage = LoadStateStage(
            length: LoadStateStage.long,
            measure: .line(1_000_000, firstByte: firstByte)
        )
        var pair = try begin(&stage)
        #expect(pair.count == 2)
        if isFirst { pair.reverse() }
        for plan in pair { stage.send(plan) }
        answer(&stage, pair[0])
        stage.store(pair[0].asked ?? 0..<0, pair[0])
        let patience = Duration.milliseconds(max(1_000, 4 * firstByte))
        let actions = stage.end(pair[0])
        #expect(actions.wakeAt == patience)
        // What the read-ahead wants next may be requested meanwhile, on the first connection.
        for plan in actions.plans {
            answer(&stage, plan)
            stage.store(plan.asked ?? 0..<0, plan)
            stage.end(plan)
        }
        #expect(stage.pass(patience - .milliseconds(1)).cancelled.isEmpty)
        #expect(stage.pass(.milliseconds(1)).cancelled == [pair[1].id])
        let again = try stage.end(pair[1]).plan()
        #expect(again.asked?.lowerBound == pair[1].asked?.lowerBound)
        answer(&stage, again)
        let start = again.asked?.lowerBound ?? 0
        let end = again.asked?.upperBound ?? 0
        #expect(
            stage.store(start..<end - 1, again).plans.isEmpty,
            "the next window waits for the end of this one"
        )
        stage.store(end - 1..<end, again)
        #expect(stage.end(again).plans.count <= 1)
        _ = stage.pass(.seconds(60))
        #expect(!stage.lacksSecondConnection)
    }

    @Test func `a request that is slow, but not overtaken, is waited for`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long, measure: .line(1_000_000))
        let pair = try begin(&stage)
        for plan in pair { stage.send(plan) }
        #expect(stage.pass(.seconds(9)).cancelled.isEmpty)
        for plan in pair { answer(&stage, plan) }
        #expect(stage.pass(.seconds(9)).cancelled.isEmpty)
    }

    @Test func `a new connection beside a request under way counts as the second one`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long, measure: .line(1_000_000, firstByte: 50))
        let first = try stage.read(0).plan()
        answer(&stage, first)
        #expect(stage.readAhead().plans.isEmpty)
        let second = try stage.store(0..<60_000, first).plan()
        #expect(stage.lacksSecondConnection)
        answer(&stage, second, reusedConnection: false)
        #expect(!stage.lacksSecondConnection)
        // A window that a seek cancels closes its connection.
        stage.end(first)
        #expect(stage.read(50 << 20).cancelled == [second.id])
        #expect(stage.lacksSecondConnection)
    }
}
