import Loading
import Media
import TestSupport
import Testing

@Suite struct ConnectivityStateTests {
    private func error(_ code: MediaError.Code) -> MediaError { MediaError(code, "x", "does not work") }

    private func failed(
        _ state: inout ConnectivityState,
        _ host: String,
        _ code: MediaError.Code,
        at now: Int = 0
    ) {
        let pass = state.requested(host, now: .seconds(now))
        state.failed(host, error(code), as: pass, now: .seconds(now))
    }

    @Test(arguments: [MediaError.Code.unknownHost, .connectionFailed])
    func `the only known host that cannot be reached means offline`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", code)
        #expect(state.report.isOffline)
        #expect(state.report.reason == error(code))
        #expect(state.report.retryAt == .milliseconds(250))
    }

    @Test func `the only known host that refuses means offline when it goes on doing so`() {
        var state = ConnectivityState()
        for attempt in 1...3 {
            #expect(!state.report.isOffline)
            failed(&state, "a", .connectionRefused, at: attempt)
        }
        #expect(state.report.isOffline)
    }

    @Test func `without a way out of this machine it is offline, however many hosts were reached before`() {
        var state = ConnectivityState()
        for host in ["a", "b", "c"] { state.answered(host) }
        failed(&state, "b", .networkUnreachable)
        #expect(state.report.isOffline && state.report.reason?.code == .networkUnreachable)
        state.answered("a")
        #expect(!state.report.isOffline)
    }

    @Test func `a host that was connected to and does not answer says nothing of the network`() {
        var state = ConnectivityState()
        for _ in 0..<10 { failed(&state, "a", .timedOut) }
        failed(&state, "b", .timedOut)
        #expect(!state.report.isOffline)
        for host in ["a", "b"] { failed(&state, host, .unknownHost) }
        #expect(state.report.isOffline)
        #expect(state.requested("a", now: .seconds(1)) == .probe)
        state.failed("a", error(.timedOut), as: .probe, now: .seconds(2))
        #expect(state.report.isOffline, "nor that it is there")
        #expect(state.requested("a", now: .seconds(2)) == .refused)
    }

    @Test func `of two known hosts one that fails is one that fails, two are the network`() {
        var state = ConnectivityState()
        state.answered("a")
        state.answered("b")
        for _ in 0..<10 { failed(&state, "a", .unknownHost) }
        #expect(!state.report.isOffline)
        failed(&state, "b", .connectionRefused)
        #expect(state.report.isOffline)
    }

    @Test func `an answer between two failures says that the network is there`() {
        var state = ConnectivityState()
        state.answered("a")
        failed(&state, "a", .connectionFailed)
        state.answered("c")
        failed(&state, "b", .connectionFailed)
        #expect(!state.report.isOffline)
    }

    @Test(arguments: [MediaError.Code.tlsFailed, .cut, .httpStatus, .tooManyRedirects, .badAnswer])
    func `whatever a host says, it is there`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", .unknownHost)
        failed(&state, "b", code)
        #expect(!state.report.isOffline)
        #expect(state.report.reason == nil)
    }

    @Test func `while offline attempts go ever more seldom, down to one every thirty seconds`() {
        var state = ConnectivityState()
        var now = Duration.seconds(10)
        failed(&state, "a", .unknownHost, at: 10)
        for pause in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(state.report.retryAt == now + .milliseconds(pause))
            #expect(state.requested("a", now: now + .milliseconds(pause - 1)) == .refused)
            now += .milliseconds(pause)
            #expect(state.requested("a", now: now) == .probe)
            #expect(state.requested("a", now: now) == .refused, "one at a time")
            state.failed("a", error(.unknownHost), as: .probe, now: now)
        }
        now += .seconds(30)
        #expect(state.requested("a", now: now) == .probe)
        state.cancelled(as: .probe)
        #expect(state.requested("a", now: now) == .probe, "one that was cancelled has told nothing")
        state.answered("a")
        #expect(!state.report.isOffline)
        #expect(state.requested("a", now: now) == .allowed)
        failed(&state, "a", .unknownHost, at: 200)
        #expect(state.report.retryAt == .milliseconds(200_250), "the next time begins anew")
    }

    @Test func `when nobody asks the watch does, the host that was not asked for longest`() {
        var state = ConnectivityState()
        #expect(state.idleProbeAt == nil)
        failed(&state, "a", .unknownHost, at: 1)
        failed(&state, "a", .unknownHost, at: 2)
        state.answered("a")
        #expect(state.idleProbeAt == nil, "there is nothing to find out while online")
        failed(&state, "a", .unknownHost, at: 10)
        #expect(state.idleProbeAt == .seconds(41))
        #expect(state.idled(now: .seconds(40)) == nil)
        failed(&state, "b", .unknownHost, at: 15)
        #expect(state.idled(now: .seconds(41)) == "a")
        #expect(state.idleProbeAt == nil, "not two at a time")
        #expect(state.requested("b", now: .seconds(41)) == .refused)
        state.failed("a", error(.unknownHost), as: .probe, now: .seconds(42))
        #expect(state.idleProbeAt == .seconds(73))
        #expect(state.idled(now: .seconds(73)) == "b")
        state.answered("b")
        #expect(!state.report.isOffline && state.idleProbeAt == nil)
    }

    @Test func `who wants something has precedence, and puts the watch's own attempt off`() {
        var state = ConnectivityState()
        for second in [0, 1, 2, 4, 8, 16, 32, 64] { failed(&state, "a", .unknownHost, at: second) }
        let due = state.report.retryAt ?? .zero
        #expect(due == .seconds(94))
        #expect(state.idleProbeAt ?? .zero > due)
        failed(&state, "a", .unknownHost, at: 94)
        #expect(state.idled(now: .seconds(95)) == nil)
    }

    @Test func `the listener's wish lets the next attempt go`() {
        var state = ConnectivityState()
        for second in 0...9 { failed(&state, "a", .unknownHost, at: second * 40) }
        #expect(state.requested("a", now: .seconds(361)) == .refused)
        state.retryNow(now: .seconds(362))
        #expect(state.requested("a", now: .seconds(362)) == .probe)
        state.failed("a", error(.unknownHost), as: .probe, now: .seconds(363))
        #expect(state.requested("a", now: .seconds(364)) == .refused)
        #expect(state.report.retryAt == .seconds(393))
    }

    @Test func `a host that was not tried while offline is tried, and may prove that the network is there`() {
        var state = ConnectivityState()
        for host in ["a", "b"] { failed(&state, host, .unknownHost) }
        let due = state.report.retryAt
        #expect(state.report.isOffline)
        #expect(state.requested("c", now: .zero) == .allowed)
        failed(&state, "c", .unknownHost)
        #expect(state.requested("c", now: .zero) == .refused)
        #expect(state.report.retryAt == due, "it puts nothing off")
        #expect(state.requested("d", now: .seconds(2)) == .allowed)
        state.answered("d")
        #expect(!state.report.isOffline)
    }

    @Test func `offline by wish lets nothing through, and nothing changes it`() {
        var state = ConnectivityState(isForced: true)
        #expect(state.report.isOffline && state.report.isForced)
        state.retryNow(now: .seconds(1))
        state.answered("a")
        #expect(state.requested("a", now: .seconds(100)) == .refused)
        #expect(state.report.isOffline && state.report.retryAt == nil)
    }

    /// While offline an attempt is let through in 30 s at the latest, and never two by two for tried hosts.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `whatever happens, an attempt is never far away`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = ConnectivityState()
        var now = Duration.zero
        var probes = 0
        for _ in 0..<200 {
            now += .milliseconds(Int.random(in: 0...20_000, using: &random))
            let host = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
            let pass = state.requested(host, now: now)
            if pass == .probe { probes += 1 }
            #expect(probes <= 1)
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where pass != .refused:
                state.answered(host)
                probes = 0
            case 1 where pass == .probe:
                state.cancelled(as: pass)
                probes = 0
            case 2: state.retryNow(now: now)
            default:
                guard pass != .refused else { continue }
                state.failed(host, error(.unknownHost), as: pass, now: now)
                if pass == .probe { probes = 0 }
            }
            if let retryAt = state.report.retryAt {
                #expect(retryAt <= now + ConnectivityState.longestPause)
            }
            if let idle = state.idleProbeAt {
                #expect(idle <= now + ConnectivityState.longestPause + .seconds(1))
            }
            #expect(state.report.isOffline == (state.report.reason != nil))
        }
    }
}
