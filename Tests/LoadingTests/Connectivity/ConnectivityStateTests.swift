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
        #expect(state.report.retryAt == .seconds(30))
    }

    @Test(arguments: [MediaError.Code.connectionRefused, .timedOut])
    func `the only known host that refuses means offline when it goes on doing so`(code: MediaError.Code) {
        var state = ConnectivityState()
        for attempt in 1...3 {
            #expect(!state.report.isOffline)
            failed(&state, "a", code, at: attempt)
        }
        #expect(state.report.isOffline)
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

    @Test(arguments: [MediaError.Code.tlsFailed, .cut, .httpStatus, .tooManyRedirects])
    func `whatever a host says, it is there`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", .unknownHost)
        failed(&state, "b", code)
        #expect(!state.report.isOffline)
        #expect(state.report.reason == nil)
    }

    @Test func `while offline one attempt goes every thirty seconds`() {
        var state = ConnectivityState()
        failed(&state, "a", .unknownHost, at: 10)
        #expect(state.requested("a", now: .seconds(11)) == .refused)
        #expect(state.requested("a", now: .milliseconds(39_999)) == .refused)
        #expect(state.requested("a", now: .seconds(40)) == .probe)
        #expect(state.requested("a", now: .seconds(41)) == .refused, "one at a time")
        state.failed("a", error(.unknownHost), as: .probe, now: .seconds(45))
        #expect(state.requested("a", now: .seconds(74)) == .refused)
        #expect(state.requested("a", now: .seconds(75)) == .probe)
        state.cancelled(as: .probe)
        #expect(state.requested("a", now: .seconds(75)) == .probe, "one that was cancelled has told nothing")
        state.answered("a")
        #expect(!state.report.isOffline)
        #expect(state.requested("a", now: .seconds(76)) == .allowed)
    }

    @Test func `the listener's wish lets the next attempt go`() {
        var state = ConnectivityState()
        failed(&state, "a", .unknownHost, at: 10)
        state.retryNow(now: .seconds(12))
        #expect(state.requested("a", now: .seconds(12)) == .probe)
        state.failed("a", error(.unknownHost), as: .probe, now: .seconds(13))
        #expect(state.requested("a", now: .seconds(14)) == .refused)
        #expect(state.report.retryAt == .seconds(43))
    }

    @Test func `a host that was not tried while offline is tried, and may prove that the network is there`() {
        var state = ConnectivityState()
        for host in ["a", "b"] { failed(&state, host, .unknownHost) }
        #expect(state.report.isOffline)
        #expect(state.requested("c", now: .seconds(1)) == .allowed)
        failed(&state, "c", .unknownHost, at: 1)
        #expect(state.requested("c", now: .seconds(2)) == .refused)
        #expect(state.report.retryAt == .seconds(30), "it puts nothing off")
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
                #expect(retryAt <= now + ConnectivityState.retryInterval)
            }
            #expect(state.report.isOffline == (state.report.reason != nil))
        }
    }
}
