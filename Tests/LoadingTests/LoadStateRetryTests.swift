import Media
import TestSupport
import Testing

@testable import Loading

@Suite struct LoadStateRetryTests {
    @Test(
        arguments: [
            .connectionRefused, .unknownHost, .timedOut, .cut, .connectionFailed, .networkUnreachable,
        ]
            as [MediaError.Code]
    )
    func `a read waits through nine failures and fails with the tenth`(code: MediaError.Code) throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for attempt in 1...9 {
            let actions = stage.end(plan, code)
            #expect(actions.failures.isEmpty && actions.plans.isEmpty)
            #expect(actions.decisions == [.retryLater])
            #expect(actions.wakeAt == stage.state.wait?.retryAt)
            #expect(stage.state.wait?.attempt == attempt)
            #expect(stage.state.wait?.error.code == code)
            plan = try stage.untilDue().plan()
            #expect(plan.asked == 0..<65_536)
        }
        let last = stage.end(plan, code)
        #expect(last.failures.map(\.code) == [code])
        #expect(last.failures.first?.description.contains("song") == true)
        #expect(last.failures.first?.description.contains("10 attempts") == true)
        #expect(last.decisions == [.gaveUp])
        #expect(stage.state.wait == nil)
        #expect(last.plans.isEmpty && last.wakeAt == nil)
    }

    @Test(arguments: [.tlsFailed, .tooManyRedirects, .badURL, .missingLibrary] as [MediaError.Code])
    func `an error that waiting cannot change fails the read at once`(code: MediaError.Code) throws {
        var stage = LoadStateStage()
        let actions = stage.end(try stage.read(0).plan(), code)
        #expect(actions.failures.map(\.code) == [code])
        #expect(actions.plans.isEmpty && actions.wakeAt == nil && stage.state.wait == nil)
    }

    @Test(arguments: [401, 404, 407, 410, 451])
    func `a refusal for good fails the read at once with its status`(status: Int) throws {
        var stage = LoadStateStage()
        let actions = Actions(stage.answer(try stage.read(0).plan(), .refused(status)).actions)
        #expect(actions.failures.first?.description.contains("\(status)") == true)
        #expect(actions.failures.first?.description.hasPrefix("song") == true)
        #expect(actions.plans.isEmpty && actions.wakeAt == nil)
    }

    @Test(arguments: [(429, 20), (500, nil), (503, 40), (503, 600)] as [(Int, Int?)])
    func `a refusal for now is waited for, as long as the server wishes`(status: Int, after: Int?) throws {
        var stage = LoadStateStage()
        let answer = RangeAnswer.refused(status, retryAfter: after.map { .seconds($0) })
        let actions = Actions(stage.answer(try stage.read(0).plan(), answer).actions)
        #expect(actions.failures.isEmpty && actions.plans.isEmpty)
        let delay = try #require(actions.wakeAt)
        if let after {
            #expect(delay == .seconds(min(after, 60)))
        } else {
            #expect(delay < .milliseconds(320))
        }
        let again = try stage.untilDue().plan()
        #expect(stage.complete(again, of: 1_000_000).woken == 1)
        #expect(stage.state.wait == nil)
    }

    @Test func `a cut with progress goes on at the exact byte without a delay, for ever`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        var next: Int64 = 0
        for _ in 0..<200 {
            _ = stage.answerPart(plan, of: 10 << 20)
            _ = stage.store(next..<next + 1_000, plan)
            next += 1_000
            _ = stage.read(next)
            let actions = stage.end(plan, .cut)
            plan = try actions.plan()
            #expect(plan.asked?.lowerBound == next)
            #expect(actions.wakeAt == nil && stage.state.wait == nil)
        }
    }

    @Test func `new bytes begin the count anew`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for round in 1...5 {
            for _ in 1...9 {
                #expect(stage.end(plan, .timedOut).failures.isEmpty)
                plan = try stage.untilDue().plan()
            }
            _ = stage.answerPart(plan, of: 1 << 20)
            let offset = Int64(round) * 100
            _ = stage.store(offset - 100..<offset, plan)
            #expect(stage.state.wait == nil)
            _ = stage.read(offset)
            plan = try stage.end(plan, .cut).plan()
        }
    }

    @Test func `an empty part again and again is given up with a clear error`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        var failures: [MediaError] = []
        for _ in 1...10 {
            _ = stage.answerPart(plan, of: 1 << 20)
            let actions = stage.end(plan)
            failures = actions.failures
            if let next = stage.untilDue().plans.first { plan = next }
        }
        #expect(failures.map(\.code) == [.cut])
        #expect(failures.first?.description.contains("without sending anything") == true)
    }

    @Test func `bytes that are stored already are no progress`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<500_000], acceptsRanges: nil)
        var plan = try stage.read(500_000).plan()
        var failures = 0
        for _ in 1...10 {
            _ = stage.answer(plan, .whole(1 << 20))
            _ = stage.store(0..<500_000, plan)
            failures += stage.end(plan, .cut).failures.count
            if let next = stage.untilDue().plans.first { plan = next }
        }
        #expect(failures == 1)
    }

    @Test func `while an attempt is awaited, stored bytes are read and nothing is requested`() throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<200_000])
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        #expect(stage.end(plan, .connectionRefused).plans.isEmpty)
        for offset in stride(from: 0, to: 200_000, by: 20_000) as StrideTo<Int64> {
            #expect(stage.state.outlook(at: offset) == .stored)
            #expect(stage.read(offset).plans.isEmpty)
        }
        #expect(stage.state.wait?.attempt == 1)
        #expect(stage.state.need == nil, "a server that is left alone needs no line")
    }

    @Test func `twenty seeks on a dead server make few requests, and none of them waits longer for it`()
        throws
    {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        var requests = 0
        var open = stage.read(1 << 20).plans
        for step in 0..<20 {
            requests += open.count
            for plan in open { #expect(stage.end(plan, .connectionRefused).failures.isEmpty) }
            stage.pass(.milliseconds(250))
            stage.state.readCancelled(stage.reader)
            open = stage.read(Int64(step + 2) << 20).plans
        }
        // Five seconds: one attempt a second out of turn, and those that were due.
        #expect(requests <= 10)
        #expect(
            stage.state.load.attempts.wait?.attempt ?? 0 <= 5,
            "attempts out of turn do not bring the end nearer"
        )
    }

    @Test func `a new read does not wait for the delay of a failed window`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        var plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        for _ in 1...6 {
            _ = stage.end(plan, .timedOut)
            plan = try stage.untilDue().plan()
        }
        _ = stage.end(plan, .timedOut)
        let due = try #require(stage.state.wait?.retryAt)
        stage.pass(.seconds(2))
        #expect(due - stage.state.now > .seconds(5))
        let early = try stage.read(50 << 20).plan()
        #expect(early.why == .demand)
        #expect(stage.complete(early, of: 100 << 20).woken == 1)
        #expect(stage.state.wait == nil)
    }

    @Test func `new reads obey the server's Retry-After too`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        _ = stage.answer(try stage.read(1 << 20).plan(), .refused(429, retryAfter: .seconds(30)))
        stage.pass(.seconds(20))
        #expect(stage.read(2 << 20).plans.isEmpty)
        #expect(stage.untilDue().plans.count == 1)
    }

    @Test func `of requests that fail together one counts, and afterwards there is one at a time`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        var plans = stage.read(1 << 20).plans
        for number in 2...5 {
            let other = ResourceLoadState.ReaderID(number)
            stage.state.readerOpened(other)
            plans += stage.read(Int64(number) << 21, by: other).plans
        }
        #expect(plans.count == 5)
        for plan in plans { _ = stage.end(plan, .connectionRefused) }
        #expect(stage.state.wait?.attempt == 1)
        let plan = try stage.untilDue().plan()
        #expect(stage.complete(plan, of: 100 << 20).plans.count == 4, "the server is back: all go on")
    }

    @Test func `after it was given up each new read tries once, and not in the same second`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        var plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        for _ in 1...9 {
            _ = stage.end(plan, .timedOut)
            plan = try stage.untilDue().plan()
        }
        #expect(stage.end(plan, .timedOut).decisions == [.gaveUp])
        #expect(stage.read(1 << 20).plans.isEmpty)
        guard case .failed(let error) = stage.state.outlook(at: 1 << 20) else {
            Issue.record("a read in the same second is not failed")
            return
        }
        #expect(error.code == .timedOut)
        stage.pass(.seconds(1))
        let early = try stage.read(1 << 20).plan()
        let actions = stage.end(early, .connectionRefused)
        #expect(actions.failures.map(\.code) == [.connectionRefused])
        #expect(actions.wakeAt == nil && actions.plans.isEmpty)
        stage.pass(.seconds(1))
        #expect(stage.complete(try stage.read(1 << 20).plan(), of: 100 << 20).woken == 1)
        #expect(stage.state.outlook(at: 5 << 20) == .missing, "it lives again")
    }

    @Test func `a final answer ends the waiting of all`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        _ = stage.end(try stage.read(1 << 20).plan(), .timedOut)
        let actions = Actions(stage.answer(try stage.untilDue().plan(), .refused(410)).actions)
        #expect(actions.failures.count == 1 && stage.state.wait == nil)
    }

    @Test func `when the network is back, a waiting read tries at once`() throws {
        var stage = LoadStateStage(length: 100 << 20, stored: [0..<65_536])
        var plan = try stage.read(1 << 20).plan()
        for _ in 1...5 {
            _ = stage.end(plan, .unknownHost)
            plan = try stage.untilDue().plan()
        }
        _ = stage.end(plan, .unknownHost)
        #expect(try Actions(stage.state.networkReturned()).plan().asked?.lowerBound == 1 << 20)
        #expect(stage.state.wait == nil)
    }

    @Test func `a retry that no reader needs any more is not shown`() throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<65_536])
        _ = stage.end(try stage.read(1 << 20).plan(), .timedOut)
        #expect(stage.state.wait != nil)
        _ = stage.read(0)
        #expect(stage.state.wait == nil)
        #expect(stage.untilDue().plans.isEmpty)
    }
}
