import Media
import System
import TestSupport
import Testing

@testable import Loading

/// Hosts that rule themselves out: an unknown name, a refused connection, no way to the host.
@Suite struct DeadHostTests {
    private let host = "http://a.example"
    private let clock = TestClock()

    private func error(_ code: MediaError.Code, of origin: String? = nil) -> MediaError {
        var error = MediaError(code, "x", "does not work")
        error.deadOrigin = origin
        return error
    }

    /// A request to `host` fails after `time`. Returns `true` if the host is dead.
    @discardableResult
    private func fail(
        _ state: inout ConnectivityState,
        _ code: MediaError.Code = .connectionRefused,
        at seconds: Double,
        after time: Double = 0
    ) -> Bool {
        let sentAt = Duration.seconds(seconds)
        _ = state.requested(host, now: sentAt)
        return state.failed(host, error(code, of: host), sentAt: sentAt, now: sentAt + .seconds(time))
    }

    // MARK: The decision

    @Test(arguments: [MediaError.Code.unknownHost, .connectionRefused, .connectionFailed])
    func `the second failure rules a host out, and then each one every thirty seconds`(
        code: MediaError.Code
    ) {
        var state = ConnectivityState()
        #expect(!fail(&state, code, at: 1))
        #expect(state.requested(host, now: .seconds(1.25)) == nil)
        #expect(fail(&state, code, at: 1.25))
        for time in [1.25, 10, 31.24] {
            #expect(state.requested(host, now: .seconds(time)) == error(code, of: host))
        }
        for other in ["https://a.example", "http://a.example:81", "http://b.example"] {
            #expect(state.requested(other, now: .seconds(2)) == nil)
        }
        #expect(!state.report.isOffline)
        #expect(state.requested(host, now: .seconds(31.25)) == nil)
        #expect(fail(&state, code, at: 31.25), "one more failure is enough")
        #expect(state.requested(host, now: .seconds(40)) == error(code, of: host))
        state.answered(host)
        #expect(state.requested(host, now: .seconds(40)) == nil)
        #expect(!fail(&state, code, at: 41) && !fail(&state, code, at: 42), "it has answered")
    }

    @Test func `requests at the same time are one try, and so is one that takes three seconds`() {
        var state = ConnectivityState()
        #expect(!fail(&state, at: 0, after: 0.2))
        #expect(!fail(&state, at: 0.1, after: 0.4), "it was sent before the first failed")
        #expect(fail(&state, at: 0.2, after: 0.1))
        var slow = ConnectivityState()
        #expect(fail(&slow, .connectionFailed, at: 0, after: 3.1))
    }

    @Test func `a host that has answered is never ruled out`() {
        var state = ConnectivityState()
        state.answered(host)
        for time in 1...5 { #expect(!fail(&state, at: Double(time))) }
        #expect(!state.report.isOffline)
        #expect(state.requested(host, now: .seconds(100)) == nil)
    }

    @Test(arguments: [MediaError.Code.timedOut, .connectionFailed, .cut, .badAnswer, .networkUnreachable])
    func `no other failure rules a host out`(code: MediaError.Code) {
        var state = ConnectivityState()
        for time in 1...5 {
            let now = Duration.seconds(time * 40)
            let isDead = state.failed(host, error(code), sentAt: now, now: now)
            #expect(!isDead)
        }
        #expect(state.report.isOffline == (code == .networkUnreachable))
    }

    @Test
    func `the machine comes first: offline, nothing is held against the host until a name server answers`() {
        var state = ConnectivityState()
        for time in 0...3 {
            let now = Duration.seconds(time)
            let isDead = state.failed(host, error(.networkUnreachable), sentAt: now, now: now)
            #expect(!isDead)
        }
        #expect(state.report.isOffline)
        #expect(!fail(&state, .connectionFailed, at: 40))
        #expect(state.report.isOffline, "a router that is away looks the same")
        var other = state
        #expect(fail(&other, .connectionRefused, at: 80))
        #expect(other.report.isOffline, "the port may be one of this machine")
        #expect(fail(&state, .unknownHost, at: 80))
        #expect(!state.report.isOffline)
    }

    @Test func `of a redirect to a dead host, the one that redirects has answered`() {
        var state = ConnectivityState()
        let target = "http://b.example"
        for (time, isDead) in [(0, false), (1, true), (2, true)] {
            let now = Duration.seconds(time)
            #expect(state.requested(host, now: now) == nil)
            let error = error(.connectionRefused, of: target)
            let isRuledOut = state.failed(host, error, sentAt: now, now: now)
            #expect(isRuledOut == isDead)
        }
        #expect(state.requested(target, now: .seconds(3)) == error(.connectionRefused, of: target))
        #expect(state.requested(host, now: .seconds(3)) == nil && !state.report.isOffline)
    }

    @Test func `the same holds if the target had answered before`() {
        var state = ConnectivityState()
        state.answered(host)
        state.answered("http://b.example")
        for seconds in 0..<3 {
            let error = error(.unknownHost, of: "http://b.example")
            let isDead = state.failed(host, error, sentAt: .zero, now: .seconds(seconds))
            #expect(!isDead)
        }
        #expect(!state.report.isOffline)
    }

    @Test func `a request of the listener lets dead hosts be tried again`() {
        var state = ConnectivityState()
        for time in [0, 0.25] { fail(&state, at: time) }
        state.retryNow(now: .seconds(1))
        #expect(state.requested(host, now: .seconds(1)) == nil)
    }

    // MARK: Requests

    private func request(_ path: String) throws -> RangeRequest {
        RangeRequest(url: try #require(WebURL(host + path)), range: nil)
    }

    private func failure(_ path: String, over watch: NetworkWatch) async throws -> MediaError {
        let request = try request(path)
        return try #require(await #expect(throws: MediaError.self) { _ = try await watch.send(request) })
    }

    @Test func `requests to a dead host fail unsent, each with its own subject`() async throws {
        let server = MemoryServer { _, _ in .dead(.unknownHost) }
        let watch = NetworkWatch(over: server, clock: clock)
        #expect(try await failure("/1.mp3", over: watch).isLasting == false)
        #expect(try await failure("/1.mp3", over: watch).isLasting)
        let error = try await failure("/2.mp3", over: watch)
        #expect(error.code == .unknownHost && error.isLasting && error.isUnsent)
        #expect(error.subject == "http://a.example/2.mp3")
        #expect(server.requests.count == 2)
        clock.advance(by: ConnectivityState.deadTime)
        #expect(try await !failure("/2.mp3", over: watch).isUnsent)
        #expect(clock.sleeperCount == 0 && !watch.report.isOffline)
    }

    @Test func `the target of a redirect that worked is known, too`() async throws {
        let server = MemoryServer { request, number in
            var answer = RangeAnswer(kind: .whole(length: 0))
            answer.redirectedOrigin = "http://b.example"
            return number == 1 ? .answer(answer, bytes: []) : .dead(.connectionRefused)
        }
        let watch = NetworkWatch(over: server, clock: clock)
        _ = try await watch.send(request("/1.mp3"))
        let target = RangeRequest(url: try #require(WebURL("http://b.example/1.mp3")), range: nil)
        for _ in 1...2 {
            let error = await #expect(throws: MediaError.self) { _ = try await watch.send(target) }
            #expect(error?.isLasting == false)
        }
    }

    // MARK: Tracks

    @Test func `a hundred tracks of a dead host fail with two requests in a quarter of a second`()
        async throws
    {
        let server = MemoryServer { _, _ in .dead(.connectionRefused) }
        let journal = SavedJournal()
        let watch = NetworkWatch(over: server, clock: clock, journal: journal)
        let loaders = Loaders(
            transport: watch,
            stores: MemoryStores(),
            clock: clock,
            connectivity: watch,
            journal: journal,
            seed: 1
        )
        for number in 1...100 {
            let url = try #require(WebURL("\(host)/\(number).mp3"))
            let reader = try await loaders.open(.web(url))
            let reading = Task { try await reader.read(at: 0, count: 1) }
            if number == 1 {
                try await wait(for: "the first failure") {
                    reader.report.wait != nil && clock.sleeperCount == 1
                }
                clock.advance(by: .milliseconds(400))
            }
            let error = await #expect(throws: MediaError.self) { _ = try await reading.value }
            #expect(error?.code == .connectionRefused && error?.subject == url.safeText)
            #expect(reader.report.requestCount == (number == 1 ? 2 : 0))
            await reader.close()
        }
        #expect(server.requests.count == 2 && journal.requests.count == 2)
        #expect(clock.sleeperCount == 0)
    }
}
