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
        fail(&state, host, error(code), as: pass, at: .seconds(now))
    }

    /// A request fails at once.
    private func fail(
        _ state: inout ConnectivityState,
        _ host: String,
        _ error: MediaError,
        as pass: ConnectivityState.Pass,
        at now: Duration
    ) {
        state.failed(host, error, as: pass, sentAt: now, now: now)
    }

    @Test(arguments: [MediaError.Code.unknownHost, .connectionFailed])
    func `the only known host that cannot be reached means offline`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", code)
        #expect(state.report.isOffline)
        #expect(state.report.reason == error(code))
        #expect(state.report.retryAt == .milliseconds(250))
    }

    @Test func `three refusals of the only known host mean offline`() {
        var state = ConnectivityState()
        for attempt in 1...3 {
            #expect(!state.report.isOffline)
            failed(&state, "a", .connectionRefused, at: attempt)
        }
        #expect(state.report.isOffline)
    }

    @Test func `an unreachable network means offline, however many hosts were reached before`() {
        var state = ConnectivityState()
        for host in ["a", "b", "c"] { state.answered(host) }
        failed(&state, "b", .networkUnreachable)
        #expect(state.report.isOffline && state.report.reason?.code == .networkUnreachable)
        state.answered("a")
        #expect(!state.report.isOffline)
    }

    @Test func `a host that accepts a connection and does not answer proves nothing about the network`() {
        var state = ConnectivityState()
        for _ in 0..<10 { failed(&state, "a", .timedOut) }
        failed(&state, "b", .timedOut)
        #expect(!state.report.isOffline)
        for host in ["a", "b"] { failed(&state, host, .unknownHost) }
        #expect(state.report.isOffline)
        #expect(state.requested("a", now: .seconds(1)) == .probe)
        fail(&state, "a", error(.timedOut), as: .probe, at: .seconds(2))
        #expect(state.report.isOffline, "a time-out does not prove that the network is back")
        #expect(state.requested("a", now: .seconds(2)) == .refused)
    }

    @Test func `of two known hosts the failure of one means nothing, that of both means offline`() {
        var state = ConnectivityState()
        state.answered("a")
        state.answered("b")
        for _ in 0..<10 { failed(&state, "a", .unknownHost) }
        #expect(!state.report.isOffline)
        failed(&state, "b", .connectionRefused)
        #expect(state.report.isOffline)
    }

    @Test func `an answer between two failures proves that the network works`() {
        var state = ConnectivityState()
        state.answered("a")
        failed(&state, "a", .connectionFailed)
        state.answered("c")
        failed(&state, "b", .connectionFailed)
        #expect(!state.report.isOffline)
    }

    @Test(arguments: [MediaError.Code.tlsFailed, .cut, .httpStatus, .tooManyRedirects, .badAnswer])
    func `any error that a host itself sends proves that the network works`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", .unknownHost)
        failed(&state, "b", code)
        #expect(!state.report.isOffline)
        #expect(state.report.reason == nil)
    }

    @Test func `while offline the pause between attempts doubles, up to thirty seconds`() {
        var state = ConnectivityState()
        var now = Duration.seconds(10)
        failed(&state, "a", .unknownHost, at: 10)
        for pause in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(state.report.retryAt == now + .milliseconds(pause))
            #expect(state.requested("a", now: now + .milliseconds(pause - 1)) == .refused)
            now += .milliseconds(pause)
            #expect(state.requested("a", now: now) == .probe)
            #expect(state.requested("a", now: now) == .refused, "one at a time")
            fail(&state, "a", error(.unknownHost), as: .probe, at: now)
        }
        now += .seconds(30)
        #expect(state.requested("a", now: now) == .probe)
        state.cancelled(as: .probe)
        #expect(state.requested("a", now: now) == .probe, "a cancelled attempt proves nothing")
        state.answered("a")
        #expect(!state.report.isOffline)
        #expect(state.requested("a", now: now) == .allowed)
        failed(&state, "a", .unknownHost, at: 200)
        #expect(
            state.report.retryAt == .milliseconds(200_250),
            "the next outage starts with the shortest pause"
        )
    }

    @Test func `without requests the watch probes the host that was not tried for longest`() {
        var state = ConnectivityState()
        #expect(state.idleProbeAt == nil)
        failed(&state, "a", .unknownHost, at: 1)
        failed(&state, "a", .unknownHost, at: 2)
        state.answered("a")
        #expect(state.idleProbeAt == nil, "online there is no probe")
        failed(&state, "a", .unknownHost, at: 10)
        #expect(state.idleProbeAt == .seconds(41))
        #expect(state.idled(now: .seconds(40)) == nil)
        failed(&state, "b", .unknownHost, at: 15)
        #expect(state.idled(now: .seconds(41)) == "a")
        #expect(state.idleProbeAt == nil, "not two at a time")
        #expect(state.requested("b", now: .seconds(41)) == .refused)
        fail(&state, "a", error(.unknownHost), as: .probe, at: .seconds(42))
        #expect(state.idleProbeAt == .seconds(73))
        #expect(state.idled(now: .seconds(73)) == "b")
        state.answered("b")
        #expect(!state.report.isOffline && state.idleProbeAt == nil)
    }

    @Test func `a request comes before the watch's own probe, and postpones it`() {
        var state = ConnectivityState()
        for second in [0, 1, 2, 4, 8, 16, 32, 64] { failed(&state, "a", .unknownHost, at: second) }
        let due = state.report.retryAt ?? .zero
        #expect(due == .seconds(94))
        #expect(state.idleProbeAt ?? .zero > due)
        failed(&state, "a", .unknownHost, at: 94)
        #expect(state.idled(now: .seconds(95)) == nil)
    }

    @Test func `a retry by the listener permits the next attempt at once`() {
        var state = ConnectivityState()
        for second in 0...9 { failed(&state, "a", .unknownHost, at: second * 40) }
        #expect(state.requested("a", now: .seconds(361)) == .refused)
        state.retryNow(now: .seconds(362))
        #expect(state.requested("a", now: .seconds(362)) == .probe)
        fail(&state, "a", error(.unknownHost), as: .probe, at: .seconds(363))
        #expect(state.requested("a", now: .seconds(364)) == .refused)
        #expect(state.report.retryAt == .seconds(393))
    }

    @Test func `a host that was not tried while offline is tried, and can end the outage`() {
        var state = ConnectivityState()
        for host in ["a", "b"] { failed(&state, host, .unknownHost) }
        let due = state.report.retryAt
        #expect(state.report.isOffline)
        #expect(state.requested("c", now: .zero) == .allowed)
        failed(&state, "c", .unknownHost)
        #expect(state.requested("c", now: .zero) == .refused)
        #expect(state.report.retryAt == due, "it postpones no other attempt")
        #expect(state.requested("d", now: .seconds(2)) == .allowed)
        state.answered("d")
        #expect(!state.report.isOffline)
    }

    @Test func `with --offline every request is refused, and nothing changes that`() {
        var state = ConnectivityState(isForced: true)
        #expect(state.report.isOffline && state.report.isForced)
        state.retryNow(now: .seconds(1))
        state.answered("a")
        #expect(state.requested("a", now: .seconds(100)) == .refused)
        #expect(state.report.isOffline && state.report.retryAt == nil)
    }

    /// While offline an attempt is permitted within 30 s, and one at a time for hosts that were tried.
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
                fail(&state, host, error(.unknownHost), as: pass, at: now)
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
