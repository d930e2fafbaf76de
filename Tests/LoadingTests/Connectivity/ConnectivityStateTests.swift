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
        _ = state.requested(host, now: .seconds(now))
        fail(&state, host, error(code), at: .seconds(now))
    }

    /// A request fails at once.
    private func fail(
        _ state: inout ConnectivityState,
        _ host: String,
        _ error: MediaError,
        at now: Duration
    ) {
        state.failed(host, error, sentAt: now, now: now)
    }

    /// `true` if a request may be sent.
    private func allows(_ state: inout ConnectivityState, _ host: String, at now: Duration) -> Bool {
        let refusal = state.requested(host, now: now)
        #expect(refusal.map { $0.code == .offline } ?? true)
        return refusal == nil
    }

    @Test func `without a route or a name server the machine is offline, until a host answers`() {
        var state = ConnectivityState()
        for host in ["a", "b", "c"] { state.answered(host) }
        failed(&state, "b", .networkUnreachable)
        #expect(state.report.isOffline)
        #expect(state.report.reason == error(.networkUnreachable))
        #expect(state.report.retryAt == .milliseconds(250))
        state.answered("a")
        #expect(state.report == ConnectivityReport())
    }

    @Test(arguments: [MediaError.Code.unknownHost, .connectionFailed, .connectionRefused, .timedOut])
    func `no failure of a host means offline, however many hosts fail`(code: MediaError.Code) {
        var state = ConnectivityState()
        for host in ["a", "b", "c", "a"] { failed(&state, host, code) }
        #expect(!state.report.isOffline)
    }

    @Test func `a time-out does not prove that the network is back`() {
        var state = ConnectivityState()
        failed(&state, "a", .networkUnreachable)
        #expect(allows(&state, "a", at: .seconds(1)))
        fail(&state, "a", error(.timedOut), at: .milliseconds(1_400))
        #expect(state.report.isOffline)
        #expect(!allows(&state, "a", at: .milliseconds(1_400)))
    }

    @Test(arguments: [MediaError.Code.tlsFailed, .cut, .httpStatus, .tooManyRedirects, .badAnswer])
    func `any error that a host itself sends proves that the network works`(code: MediaError.Code) {
        var state = ConnectivityState()
        failed(&state, "a", .networkUnreachable)
        failed(&state, "b", code)
        #expect(!state.report.isOffline)
        #expect(state.report.reason == nil)
    }

    @Test func `while offline the pause between attempts doubles, up to thirty seconds`() {
        var state = ConnectivityState()
        var now = Duration.seconds(10)
        failed(&state, "a", .networkUnreachable, at: 10)
        for pause in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            #expect(state.report.retryAt == now + .milliseconds(pause))
            #expect(!allows(&state, "a", at: now + .milliseconds(pause - 1)))
            now += .milliseconds(pause)
            #expect(allows(&state, "a", at: now))
            #expect(!allows(&state, "a", at: now), "one at a time")
            fail(&state, "a", error(.networkUnreachable), at: now)
        }
        now += .seconds(30)
        #expect(allows(&state, "a", at: now))
        state.answered("a")
        #expect(!state.report.isOffline)
        #expect(allows(&state, "a", at: now))
        failed(&state, "a", .networkUnreachable, at: 200)
        #expect(
            state.report.retryAt == .milliseconds(200_250),
            "the next outage starts with the shortest pause"
        )
    }

    @Test func `a retry by the listener permits the next attempt at once`() {
        var state = ConnectivityState()
        for second in 0...9 { failed(&state, "a", .networkUnreachable, at: second * 40) }
        #expect(!allows(&state, "a", at: .seconds(361)))
        state.retryNow(now: .seconds(362))
        #expect(allows(&state, "a", at: .seconds(362)))
        fail(&state, "a", error(.networkUnreachable), at: .seconds(363))
        #expect(!allows(&state, "a", at: .seconds(364)))
        #expect(state.report.retryAt == .seconds(392))
    }

    @Test func `a host that was not tried while offline is tried, and can end the outage`() {
        var state = ConnectivityState()
        for host in ["a", "b"] { failed(&state, host, .networkUnreachable) }
        let due = state.report.retryAt
        #expect(state.report.isOffline)
        #expect(allows(&state, "c", at: .zero))
        failed(&state, "c", .networkUnreachable)
        #expect(!allows(&state, "c", at: .zero))
        #expect(state.report.retryAt == due, "it postpones no other attempt")
        #expect(allows(&state, "d", at: .seconds(2)))
        state.answered("d")
        #expect(!state.report.isOffline)
    }

    @Test func `with --offline every request is refused, and nothing changes that`() {
        var state = ConnectivityState(isForced: true)
        #expect(state.report.isOffline && state.report.isForced)
        state.retryNow(now: .seconds(1))
        state.answered("a")
        #expect(!allows(&state, "a", at: .seconds(100)))
        #expect(state.report.isOffline && state.report.retryAt == nil)
    }

    /// While offline an attempt is permitted within 30 s, and one at a time for hosts that were tried.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `whatever happens, an attempt is never far away`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = ConnectivityState()
        var now = Duration.zero
        for _ in 0..<200 {
            now += .milliseconds(Int.random(in: 0...20_000, using: &random))
            let host = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
            let due = state.report.retryAt
            let isAllowed = allows(&state, host, at: now)
            #expect(isAllowed || now < due ?? .zero)
            if due != state.report.retryAt {
                #expect(!allows(&state, host, at: now), "one attempt each time")
            }
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where isAllowed: state.answered(host)
            case 1: break
            case 2: state.retryNow(now: now)
            default: if isAllowed { fail(&state, host, error(.networkUnreachable), at: now) }
            }
            if let retryAt = state.report.retryAt {
                #expect(retryAt <= now + ConnectivityState.longestPause)
            }
            #expect(state.report.isOffline == (state.report.reason != nil))
            #expect(state.report.isOffline == (state.report.retryAt != nil))
        }
    }
}
