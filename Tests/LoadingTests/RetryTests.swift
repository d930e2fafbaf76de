import Media
import TestSupport
import Testing

@testable import Loading

@Suite struct RetryTests {
    private let refused = MediaError(.connectionRefused, "song", "refused")

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `delays double from a quarter of a second to fifteen, moved by a quarter at most`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let policy = RetryPolicy()
        for attempt in 1...40 {
            let delay = policy.delay(after: attempt, jitter: Double.random(in: 0...1, using: &random))
            let base = min(15, 0.25 * Double(1 << min(attempt - 1, 20)))
            #expect(delay >= .milliseconds(250) && delay <= .seconds(15))
            #expect(delay.seconds >= base * 0.75 - 1e-9 && delay.seconds <= base * 1.25 + 1e-9)
        }
    }

    /// The wait after an attempt of a resource of which nothing is stored.
    private func wait(
        _ state: inout RetryState,
        retryAfter: Duration? = nil,
        hasBytes: Bool = false,
        network: ConnectivityReport = ConnectivityReport(),
        now: Duration
    ) -> LoadWait? {
        let outcome = state.failed(
            refused,
            hasBytes: hasBytes,
            retryAfter: retryAfter,
            network: network,
            now: now
        )
        return if case .wait(let wait) = outcome { wait } else { nil }
    }

    @Test func `equal seeds give equal delays, and different seeds different ones`() {
        let waits = { (seed: UInt64) in
            var state = RetryState(seed: seed)
            return (1...8).map { _ in wait(&state, now: .zero)?.retryAt }
        }
        #expect(waits(1) == waits(1))
        #expect(waits(1) != waits(2))
    }

    @Test func `the tenth attempt in a row without a byte is the last`() {
        var state = RetryState(seed: 1)
        for attempt in 1...9 {
            let wait = wait(&state, now: .seconds(attempt))
            #expect(wait?.attempt == attempt && wait?.mostAttempts == 10 && wait?.error == refused)
            #expect(state.wait == wait && !state.isBackgroundHeld)
        }
        #expect(wait(&state, now: .seconds(10)) == nil)
        #expect(state.wait == nil && state.isBackgroundHeld)
        #expect(state.finalError?.code == .connectionRefused)
        #expect(state.finalError?.description.contains("10 attempts") == true)
    }

    @Test(
        arguments: [
            (nil, 0.25...0.32), (.seconds(0), 0.25...0.32), (.seconds(7), 7...7), (.seconds(60), 60...60),
            (.seconds(3_600), 60...60),
        ] as [(Duration?, ClosedRange<Double>)]
    )
    func `a server's Retry-After is obeyed up to a minute`(retryAfter: Duration?, delay: ClosedRange<Double>)
    {
        var state = RetryState(seed: 3)
        let wait = wait(&state, retryAfter: retryAfter, now: .seconds(100))
        #expect(delay.contains((wait?.retryAt.seconds ?? 0) - 100))
    }

    @Test
    func `an early attempt waits a second after the last failure, and for the server's Retry-After`() {
        var state = RetryState(seed: 1)
        #expect(state.mayTryEarly(at: .zero))
        for _ in 1...6 { _ = wait(&state, now: .seconds(10)) }
        #expect(!state.mayTryEarly(at: .milliseconds(10_999)))
        #expect(state.mayTryEarly(at: .seconds(11)))
        #expect(wait(&state, now: .seconds(11))?.attempt == 7)
        #expect(!state.mayTryEarly(at: .milliseconds(11_500)))
        _ = wait(&state, retryAfter: .seconds(30), now: .seconds(20))
        #expect(!state.mayTryEarly(at: .seconds(49)))
        #expect(state.mayTryEarly(at: .seconds(50)))
    }

    @Test func `while the network is away, attempts for stored music do not count`() {
        var state = RetryState(seed: 1)
        var network = ConnectivityReport()
        network.isOffline = true
        network.retryAt = .seconds(5)
        let first = wait(&state, hasBytes: true, network: network, now: .zero)
        #expect(first?.retryAt == .seconds(5) && first?.mostAttempts == nil && first?.nextAttempt == nil)
        #expect(!state.isDue(at: .seconds(4)))
        for _ in 1...8 { _ = wait(&state, now: .seconds(10)) }
        for time in 1...50 {
            _ = wait(&state, hasBytes: true, network: network, now: .seconds(time * 30))
        }
        #expect(state.wait?.retryAt == .seconds(1_500) + .milliseconds(250), "not at once")
        #expect(state.finalError == nil)
        let next = wait(&state, now: .seconds(2_000))
        #expect(next?.attempt == 9 && next?.nextAttempt == "10 of 10")
    }

    @Test func `stored music waits for its server without limit, with growing delays`() {
        var state = RetryState(seed: 1)
        for time in 1...50 {
            let wait = wait(&state, hasBytes: true, now: .seconds(time * 100))
            #expect(wait?.mostAttempts == nil)
            if time > 10 { #expect((wait?.retryAt ?? .zero) - .seconds(time * 100) > .seconds(11)) }
        }
        #expect(wait(&state, now: .seconds(6_000))?.mostAttempts == 10, "only what counts has a limit")
    }

    @Test func `a part of a stream waits for the network without limit, but not for its server`() {
        var policy = RetryPolicy()
        policy.isPartOfStream = true
        let refused = MediaError(.connectionRefused, "segment", "cause")
        let offline = MediaError(.offline, "segment", "cause")
        for hasBytes in [false, true] {
            #expect(policy.limit(after: refused, hasBytes: hasBytes, isOffline: false) == .counted)
            #expect(policy.limit(after: refused, hasBytes: hasBytes, isOffline: true) == .endless)
            #expect(policy.limit(after: offline, hasBytes: hasBytes, isOffline: true) == .endless)
        }
    }

    @Test(
        arguments: [
            ([.offline], .endless, .endless, .endless),
            (
                [.connectionRefused, .connectionFailed, .networkUnreachable, .unknownHost],
                .counted, .endless, .endless
            ),
            ([.cut, .timedOut, .badAnswer, .httpStatus], .counted, .counted, .endless),
            (
                [
                    .tlsFailed, .tooManyRedirects, .badURL, .missingLibrary, .resourceChanged, .notCached,
                    .internalError,
                ],
                .never, .never, .never
            ),
        ] as [([MediaError.Code], RetryPolicy.Limit, RetryPolicy.Limit, RetryPolicy.Limit)]
    )
    func `the cause decides how often it is tried again`(
        codes: [MediaError.Code],
        withoutBytes: RetryPolicy.Limit,
        withBytes: RetryPolicy.Limit,
        withBytesOffline: RetryPolicy.Limit
    ) {
        var script = RetryPolicy()
        script.waitsForServer = false
        for code in codes {
            var error = MediaError(code, "song", "cause")
            let limits = { (policy: RetryPolicy) in
                [(false, false), (true, false), (true, true)].map { hasBytes, isOffline in
                    policy.limit(after: error, hasBytes: hasBytes, isOffline: isOffline)
                }
            }
            #expect(limits(RetryPolicy()) == [withoutBytes, withBytes, withBytesOffline], "\(code)")
            let scripted = code == .offline ? .counted : withoutBytes
            #expect(limits(script) == [scripted, scripted, scripted], "\(code)")
            error.isLasting = true
            #expect(limits(script).allSatisfy { $0 == .never } || code == .offline, "\(code)")
        }
    }

    @Test(
        arguments: [
            (400, false), (401, false), (403, false), (404, false), (408, true), (410, false), (425, true),
            (429, true), (451, false), (500, true), (501, false), (502, true), (503, true), (504, true),
            (505, false), (599, true), (301, false),
        ]
    )
    func `only a refusal that waiting may change is retried`(status: Int, isWorth: Bool) {
        #expect(RetryPolicy.isWorthWaiting(forStatus: status) == isWorth)
    }
}
