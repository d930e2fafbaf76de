import Media
import TestSupport
import Testing

@testable import Loading

/// The loading of a resource while the network is unavailable.
@Suite struct LoadStateOfflineTests {
    private func away(isForced: Bool = false, retryAt: Duration? = nil) -> ConnectivityReport {
        var report = ConnectivityReport()
        report.isOffline = true
        report.isForced = isForced
        report.reason = MediaError(.unknownHost, "another song", "the host cannot be found")
        report.retryAt = retryAt
        return report
    }

    @Test(arguments: [false, true])
    func `offline by request, no read waits`(hasStored: Bool) throws {
        var stage = hasStored ? .begun() : LoadStateStage(length: LoadStateStage.long)
        stage.network = away(isForced: true)
        let actions = stage.end(try stage.read(1 << 20).plan(), .offline)
        #expect(actions.failures.map(\.code) == [.offline])
        #expect(actions.failures.map(\.cause) == [hasStored ? "the rest is it went wrong" : "it went wrong"])
        #expect(actions.wakeAt == nil && stage.wait == nil)
    }

    @Test(arguments: [MediaError.Code.offline, .unknownHost])
    func `a track of which nothing is stored is skipped if it was requested without a network`(
        code: MediaError.Code
    ) throws {
        var stage = LoadStateStage()
        stage.network = away()
        let actions = stage.end(try stage.read(0).plan(), code)
        #expect(actions.failures.map(\.code) == [code])
        #expect(actions.plans.isEmpty && actions.wakeAt == nil)
    }

    @Test func `the request that met the loss of the network goes through all attempts`() throws {
        var stage = LoadStateStage()
        var plan = try stage.read(0).plan()
        for attempt in 1...9 {
            stage.network = away(retryAt: stage.now)
            #expect(stage.end(plan, .unknownHost).failures.isEmpty)
            #expect(stage.wait?.attempt == attempt)
            plan = try stage.untilDue().plan()
        }
        #expect(stage.end(plan, .unknownHost).failures.map(\.code) == [.unknownHost])
    }

    @Test func `a refused attempt does not count, and the next one is made when the network is tried`() throws
    {
        var stage = LoadStateStage()
        let plan = try stage.read(0).plan()
        stage.network = away(retryAt: .milliseconds(250))
        stage.end(plan, .unknownHost)
        for round in 1...20 {
            let plan = try stage.untilDue().plan()
            let due = stage.now + .seconds(30)
            stage.network = away(retryAt: due)
            let actions = stage.end(plan, .offline)
            #expect(actions.wakeAt == due, "round \(round)")
            #expect(stage.wait?.attempt == 1 && stage.wait?.mostAttempts == nil)
            #expect(stage.wait?.error.code == .unknownHost, "the reason, and not that nothing was sent")
            #expect(stage.read(0).plans.count <= 1, "a new read may try once, and not in a circle")
            for open in stage.load.fetches.active.map(\.plan) {
                #expect(stage.end(open, .offline).plans.isEmpty)
            }
        }
    }

    @Test(arguments: [MediaError.Code.offline, .unknownHost, .connectionRefused])
    func `a partly stored track waits for the network without limit`(code: MediaError.Code) throws {
        var stage = LoadStateStage.begun()
        var plan = try stage.read(65_536).plan()
        for _ in 1...50 {
            let due = stage.now + .seconds(30)
            stage.network = away(retryAt: due)
            let actions = stage.end(plan, code)
            #expect(actions.failures.isEmpty && actions.plans.isEmpty && actions.wakeAt == due)
            plan = try stage.untilDue().plan()
        }
        #expect(stage.complete(plan).woken == 1 && stage.wait == nil)
    }

    @Test(arguments: [false, true])
    func
        `while the network is available, a server that cannot be reached is given up unless bytes are stored`(
            hasStored: Bool
        ) throws
    {
        var stage = hasStored ? .begun() : LoadStateStage()
        var plan = try stage.fail(try stage.read(65_536).plan(), .connectionRefused, times: 9)
        guard hasStored else {
            #expect(stage.end(plan, .connectionRefused).failures.count == 1)
            return
        }
        plan = try stage.fail(plan, .connectionRefused, times: 50)
        #expect(stage.wait?.mostAttempts == nil)
        plan = try stage.fail(plan, .timedOut, times: 9)
        #expect(stage.end(plan, .timedOut).failures.count == 1, "a server that does not answer is given up")
    }

    @Test func `read-ahead is postponed too, and begins again by itself`() throws {
        var stage = LoadStateStage.begun()
        let plan = try stage.readAhead().plan()
        stage.network = away(retryAt: .seconds(9))
        #expect(stage.end(plan, .offline).plans.isEmpty)
        #expect(stage.pass(.seconds(8)).plans.isEmpty)
        #expect(try stage.networkReturned().plan().urgency == .readAhead)
    }
}
