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
            #expect(actions.wakeAt == stage.wait?.retryAt)
            #expect(stage.wait?.attempt == attempt && stage.wait?.error.code == code)
            plan = try stage.untilDue().plan()
            #expect(plan.asked == 0..<65_536)
        }
        let last = stage.end(plan, code)
        #expect(last.failures.map(\.code) == [code])
        #expect(last.failures.first?.description.contains("song") == true)
        #expect(last.failures.first?.description.contains("10 attempts") == true)
        #expect(last.decisions == [.gaveUp])
        #expect(stage.wait == nil && last.plans.isEmpty && last.wakeAt == nil)
    }

    @Test(arguments: [.tlsFailed, .tooManyRedirects, .badURL, .missingLibrary] as [MediaError.Code])
    func `an error that waiting cannot change fails the read at once`(code: MediaError.Code) throws {
        var stage = LoadStateStage()
        let actions = stage.end(try stage.read(0).plan(), code)
        #expect(actions.failures.map(\.code) == [code])
        #expect(actions.plans.isEmpty && actions.wakeAt == nil && stage.wait == nil)
    }

    @Test(arguments: [301, 401, 404, 407, 410, 451])
    func `a permanent refusal fails the read at once with its status`(status: Int) throws {
        var stage = LoadStateStage()
        let actions = stage.answer(try stage.read(0).plan(), .refused(status)).actions
        let error = try #require(actions.failures.first)
        #expect(error.code == .httpStatus && error.description.hasPrefix("song"))
        #expect(error.description.contains("\(status)"))
        #expect(actions.plans.isEmpty && actions.wakeAt == nil)
    }

    @Test(arguments: [(429, 20), (500, nil), (503, 40), (503, 600)] as [(Int, Int?)])
    func `after a temporary refusal the read waits as long as the server wishes`(status: Int, after: Int?)
        throws
    {
        var stage = LoadStateStage()
        let answer = RangeAnswer.refused(status, retryAfter: after.map { .seconds($0) })
        let actions = stage.answer(try stage.read(0).plan(), answer).actions
        #expect(actions.failures.isEmpty && actions.plans.isEmpty)
        let delay = try #require(actions.wakeAt)
        if let after {
            #expect(delay == .seconds(min(after, 60)))
        } else {
            #expect(delay < .milliseconds(320))
        }
        #expect(stage.complete(try stage.untilDue().plan(), of: 1_000_000).woken == 1)
        #expect(stage.wait == nil)
    }

    @Test func `a cut with progress is resumed at the exact byte without a delay, any number of times`()
        throws
    {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for next in stride(from: Int64(1_000), through: 200_000, by: 1_000) {
            stage.answerPart(plan, of: 10 << 20)
            stage.store(next - 1_000..<next, plan)
            stage.read(next)
            let actions = stage.end(plan, .cut)
            plan = try actions.plan()
            #expect(plan.asked?.lowerBound == next)
            #expect(actions.wakeAt == nil && stage.wait == nil)
        }
    }

    @Test func `new bytes restart the count of attempts`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for offset in stride(from: Int64(100), through: 500, by: 100) {
            plan = try stage.fail(plan, .timedOut, times: 9)
            stage.answerPart(plan, of: 1 << 20)
            stage.store(offset - 100..<offset, plan)
            #expect(stage.wait == nil)
            stage.read(offset)
            plan = try stage.end(plan, .cut).plan()
        }
    }

    @Test func `ten empty parts in a row are given up with a clear error`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        var failures: [MediaError] = []
        for _ in 1...10 {
            stage.answerPart(plan, of: 1 << 20)
            failures = stage.end(plan).failures
            if let next = stage.untilDue().plans.first { plan = next }
        }
        #expect(failures.map(\.code) == [.cut])
        #expect(failures.first?.description.contains("without sending anything") == true)
    }

    @Test func `bytes that are already stored are no progress`() throws {
        var stage = LoadStateStage(length: 1 << 20, stored: [0..<500_000])
        var plan = try stage.read(500_000).plan()
        var failures = 0
        for _ in 1...10 {
            stage.answer(plan, .whole(1 << 20))
            stage.store(0..<400_000, plan)
            failures += stage.end(plan, .cut).failures.count
            if let next = stage.untilDue().plans.first { plan = next }
        }
        #expect(failures == 1)
    }

    @Test func `while an attempt is awaited, stored bytes are read and nothing is requested`() throws {
        var stage = LoadStateStage(length: LoadStateStage.long, stored: [0..<200_000])
        #expect(stage.end(try stage.readAhead().plan(), .connectionRefused).plans.isEmpty)
        for offset in stride(from: Int64(0), to: 200_000, by: 20_000) {
            #expect(stage.outlook(at: offset) == .stored)
            #expect(stage.read(offset).plans.isEmpty)
        }
        #expect(stage.wait?.attempt == 1)
        #expect(stage.need == nil, "while it waits it leaves the connection to others")
    }

    @Test func `twenty seeks on a dead server send few requests`() throws {
        var stage = LoadStateStage.begun()
        var requests = 0
        var open = stage.read(1 << 20).plans
        for step in 0..<20 {
            requests += open.count
            for plan in open { #expect(stage.end(plan, .connectionRefused).failures.isEmpty) }
            _ = stage.pass(.milliseconds(250))
            stage.cancelRead()
            open = stage.read(Int64(step + 2) << 20).plans
        }
        // Five seconds: one early attempt a second, and those that were due.
        #expect(requests <= 10)
    }

    @Test func `a new read does not wait for the delay of a failed window`() throws {
        var stage = LoadStateStage.begun()
        stage.end(try stage.fail(try stage.readAhead().plan(), .timedOut, times: 6), .timedOut)
        let due = try #require(stage.wait?.retryAt)
        #expect(stage.pass(.seconds(2)).plans.isEmpty)
        #expect(due - stage.now > .seconds(5))
        let early = try stage.read(50 << 20).plan()
        #expect(early.urgency == .demand)
        #expect(stage.complete(early).woken == 1)
        #expect(stage.wait == nil)
    }

    @Test func `new reads obey the server's Retry-After too`() throws {
        var stage = LoadStateStage.begun()
        stage.answer(try stage.read(1 << 20).plan(), .refused(429, retryAfter: .seconds(30)))
        #expect(stage.pass(.seconds(20)).plans.isEmpty && stage.read(2 << 20).plans.isEmpty)
        #expect(stage.untilDue().plans.count == 1)
    }

    @Test func `requests that fail together count as one attempt, and the next attempt is a single one`()
        throws
    {
        var stage = LoadStateStage.begun()
        var plans = stage.read(1 << 20).plans
        for number in 2...5 { plans += stage.read(Int64(number) << 21, by: stage.open(number)).plans }
        #expect(plans.count == 5)
        for plan in plans { stage.end(plan, .connectionRefused) }
        #expect(stage.wait?.attempt == 1)
        #expect(stage.complete(try stage.untilDue().plan()).plans.count == 4, "the server is back: all go on")
    }

    @Test func `after the loader gave up each new read tries once, but not in the same second`() throws {
        var stage = LoadStateStage.begun()
        let plan = try stage.fail(try stage.readAhead().plan(), .timedOut, times: 9)
        #expect(stage.end(plan, .timedOut).decisions == [.gaveUp])
        #expect(stage.read(1 << 20).plans.isEmpty)
        guard case .failed(let error) = stage.outlook(at: 1 << 20) else {
            Issue.record("a read in the same second is not failed")
            return
        }
        #expect(error.code == .timedOut)
        _ = stage.pass(.seconds(1))
        let actions = stage.end(try stage.read(1 << 20).plan(), .connectionRefused)
        #expect(actions.failures.map(\.code) == [.connectionRefused])
        #expect(actions.wakeAt == nil && actions.plans.isEmpty)
        _ = stage.pass(.seconds(1))
        #expect(stage.complete(try stage.read(1 << 20).plan()).woken == 1)
        #expect(stage.outlook(at: 5 << 20) == .missing, "further reads wait again")
    }

    @Test func `a final answer ends every wait`() throws {
        var stage = LoadStateStage.begun()
        stage.end(try stage.read(1 << 20).plan(), .timedOut)
        let actions = stage.answer(try stage.untilDue().plan(), .refused(410)).actions
        #expect(actions.failures.count == 1 && stage.wait == nil)
    }

    @Test func `when the network is back, a waiting read tries at once`() throws {
        var stage = LoadStateStage.begun()
        stage.end(try stage.fail(try stage.read(1 << 20).plan(), .unknownHost, times: 5), .unknownHost)
        #expect(try stage.networkReturned().plan().asked?.lowerBound == 1 << 20)
        #expect(stage.wait == nil)
    }

    @Test func `a retry that no reader needs any more is not shown`() throws {
        var stage = LoadStateStage.begun()
        stage.end(try stage.read(1 << 20).plan(), .timedOut)
        #expect(stage.wait != nil)
        stage.read(0)
        #expect(stage.wait == nil)
        #expect(stage.untilDue().plans.isEmpty)
    }
}
