import Media
import TestSupport
import Testing

@testable import Loading

/// What becomes of a resource while the network is away.
@Suite struct LoadStateOfflineTests {
    private typealias Outlook = NetworkOutlook

    private func away(isForced: Bool = false, retryAt: Duration? = nil, wasAway: Bool = false) -> Outlook {
        var report = ConnectivityReport()
        report.isOffline = true
        report.isForced = isForced
        report.reason = MediaError(.unknownHost, "another song", "the host cannot be found")
        report.retryAt = retryAt
        return Outlook(report: report, wasAway: wasAway)
    }

    private func fail(
        _ stage: inout LoadStateStage,
        _ plan: FetchPlan,
        _ code: MediaError.Code,
        _ network: Outlook
    ) -> Actions {
        let error = MediaError(code, "song", "it went wrong")
        return Actions(stage.state.fetchEnded(plan.id, error: error, network: network))
    }

    @Test(arguments: [false, true])
    func `offline by request, no read waits`(hasStored: Bool) throws {
        var stage = LoadStateStage(length: 10 << 20, stored: hasStored ? [0..<65_536] : [])
        let plan = try stage.read(1 << 20).plan()
        let actions = fail(&stage, plan, .offline, away(isForced: true, wasAway: true))
        #expect(actions.failures.map(\.code) == [.offline])
        #expect(actions.wakeAt == nil && stage.state.wait == nil)
    }

    @Test(arguments: [MediaError.Code.offline, .unknownHost])
    func `a track of which nothing is stored is skipped if it was requested without a network`(
        code: MediaError.Code
    ) throws {
        var stage = LoadStateStage()
        let actions = fail(&stage, try stage.read(0).plan(), code, away(wasAway: true))
        #expect(actions.failures.map(\.code) == [code])
        #expect(actions.plans.isEmpty && actions.wakeAt == nil)
    }

    @Test func `the request that met the loss of the network goes through all attempts`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for attempt in 1...9 {
            let actions = fail(
                &stage,
                plan,
                .unknownHost,
                away(retryAt: stage.state.now, wasAway: attempt > 1)
            )
            #expect(actions.failures.isEmpty)
            #expect(stage.state.wait?.attempt == attempt)
            plan = try stage.untilDue().plan()
        }
        #expect(fail(&stage, plan, .unknownHost, away(wasAway: true)).failures.map(\.code) == [.unknownHost])
    }

    @Test func `a refused attempt does not count, and the next one is made when the network is tried`() throws
    {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        _ = fail(&stage, plan, .unknownHost, away(retryAt: .milliseconds(250)))
        for round in 1...20 {
            plan = try stage.untilDue().plan()
            let due = stage.state.now + .seconds(30)
            let actions = fail(&stage, plan, .offline, away(retryAt: due, wasAway: true))
            #expect(actions.wakeAt == due, "round \(round)")
            #expect(stage.state.wait?.attempt == 1 && stage.state.wait?.mostAttempts == nil)
            #expect(stage.state.wait?.error.code == .unknownHost, "it says why, not that it was spared")
            #expect(stage.read(0).plans.count <= 1, "a newcomer may look, and nobody asks in a circle")
            for open in stage.state.load.fetches.active.map(\.plan) {
                #expect(fail(&stage, open, .offline, away(retryAt: due, wasAway: true)).plans.isEmpty)
            }
        }
    }

    @Test(arguments: [MediaError.Code.offline, .unknownHost, .connectionRefused])
    func `a partly stored track waits for the network without limit`(
        code: MediaError.Code
    ) throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<65_536])
        var plan = try stage.read(65_536).plan()
        for _ in 1...50 {
            let due = stage.state.now + .seconds(30)
            let actions = fail(&stage, plan, code, away(retryAt: due, wasAway: true))
            #expect(actions.failures.isEmpty && actions.plans.isEmpty)
            #expect(actions.wakeAt == due)
            plan = try stage.untilDue().plan()
        }
        #expect(stage.complete(plan, of: 10 << 20).woken == 1)
        #expect(stage.state.wait == nil)
    }

    @Test func `a dead server is given up while the network is available, whatever is stored`() throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<65_536])
        var plan = try stage.read(65_536).plan()
        for _ in 1...9 {
            #expect(fail(&stage, plan, .connectionRefused, Outlook()).failures.isEmpty)
            plan = try stage.untilDue().plan()
        }
        #expect(fail(&stage, plan, .connectionRefused, Outlook()).failures.count == 1)
    }

    @Test func `read-ahead is postponed too, and begins again by itself`() throws {
        var stage = LoadStateStage(length: 10 << 20, stored: [0..<65_536])
        let plan = try Actions(stage.state.readAheadAllowed(stage.reader, bytesPerSecond: 40_000)).plan()
        #expect(fail(&stage, plan, .offline, away(retryAt: .seconds(9))).plans.isEmpty)
        stage.pass(.seconds(8))
        #expect(Actions(stage.state.replan()).plans.isEmpty)
        #expect(try Actions(stage.state.networkReturned()).plan().why == .readAhead)
    }
}
