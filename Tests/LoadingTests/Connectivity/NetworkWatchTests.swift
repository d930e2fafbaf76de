import Loading
import Media
import System
import TestSupport
import Testing

@Suite struct NetworkWatchTests {
    /// Hosts that cannot be reached for as long as the test says.
    private final class Line: RangeTransport {
        private let state = Locked<(isAway: Bool, sent: [String], ranges: [ByteRange?])>((false, [], []))

        var sent: [String] { state.withLock { $0.sent } }
        var ranges: [ByteRange?] { state.withLock { $0.ranges } }
        func cut(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func send(_ request: RangeRequest) async throws -> RangeResponse {
            let isAway = state.withLock { state in
                state.sent.append(request.url.host)
                state.ranges.append(request.range)
                return state.isAway
            }
            if isAway { throw MediaError(.connectionFailed, request.url.safeText, "it cannot be reached") }
            return RangeResponse(answer: RangeAnswer(kind: .whole(length: 0)), body: NoBody())
        }
    }

    private struct NoBody: ResponseBody {
        func next() async throws -> [UInt8]? { nil }
        func cancel() {}
    }

    private final class Notes: RequestJournal {
        let all = Locked<[JournalRecord]>([])
        func record(_ record: JournalRecord) { all.withLock { $0.append(record) } }

        var decisions: [String] {
            all.withLock { $0 }.compactMap { record in
                if case .decision(let decision, _) = record.event { decision.rawValue } else { nil }
            }
        }

        var reasons: [FetchReason] {
            all.withLock { $0 }.compactMap { record in
                if case .request(let request) = record.event { request.why } else { nil }
            }
        }
    }

    private let clock = TestClock()
    private let line = Line()

    private func request(_ host: String) throws -> RangeRequest {
        RangeRequest(url: try #require(WebURL("http://\(host)/a.mp3")), range: nil)
    }

    private func code(_ request: RangeRequest, over transport: any RangeTransport) async -> MediaError.Code? {
        do {
            _ = try await transport.send(request)
            return nil
        } catch {
            return (error as? MediaError)?.code
        }
    }

    @Test func `offline spares the line, tries it from time to time and finds it again`() async throws {
        let notes = Notes()
        let watch = NetworkWatch(over: line, clock: clock, journal: notes)
        let told = Locked<[Bool]>([])
        watch.observe { report in told.withLock { $0.append(report.isOffline) } }
        line.cut(true)
        let first = await code(try request("a"), over: watch)
        #expect(first == .connectionFailed, "the first failure says what it was")
        #expect(watch.report.isOffline)
        for _ in 0..<5 {
            let next = await code(try request("a"), over: watch)
            #expect(next == .offline)
        }
        #expect(line.sent.count == 1)
        clock.advance(by: .milliseconds(250))
        let probe = await code(try request("a"), over: watch)
        #expect(probe == .connectionFailed)
        #expect(line.sent.count == 2)
        line.cut(false)
        let refused = await code(try request("a"), over: watch)
        #expect(refused == .offline)
        watch.retryNow()
        let answered = await code(try request("a"), over: watch)
        #expect(answered == nil)
        #expect(!watch.report.isOffline)
        #expect(told.withLock { $0.first } == true)
        #expect(told.withLock { $0.last } == false)
        #expect(notes.decisions == ["went-offline", "went-online"])
        try await wait(for: "the timer to end") { clock.sleeperCount == 0 }
    }

    @Test func `while nobody wants anything it asks for one byte itself, and tells when the network is back`()
        async throws
    {
        let notes = Notes()
        let watch = NetworkWatch(over: line, clock: clock, journal: notes)
        #expect(clock.sleeperCount == 0, "no timer runs while online")
        line.cut(true)
        _ = await code(try request("a"), over: watch)
        for count in 2...5 {
            try await wait(for: "the timer") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(30))
            #expect(line.sent.count == count - 1, "not before its time")
            clock.advance(by: .seconds(1))
            try await wait(for: "attempt \(count)") { line.sent.count == count }
        }
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        #expect(watch.report.isOffline)
        line.cut(false)
        clock.advance(by: .seconds(31))
        try await wait(for: "the network") { !watch.report.isOffline }
        #expect(line.ranges.last == 0..<1)
        try await wait(for: "the note of it") { notes.reasons.count == 5 }
        #expect(Set(notes.reasons) == [.probe])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `of several hosts that failed the others are asked too`() async throws {
        let watch = NetworkWatch(over: line, clock: clock)
        line.cut(true)
        for host in ["a", "b"] { _ = await code(try request(host), over: watch) }
        for count in 3...6 {
            try await wait(for: "the timer") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(31))
            try await wait(for: "attempt \(count)") { line.sent.count == count }
        }
        #expect(line.sent == ["a", "b", "a", "b", "a", "b"])
        try await wait(for: "the timer") { clock.sleeperCount == 1 }
        watch.end()
        try await wait(for: "the timer to end") { clock.sleeperCount == 0 }
    }

    @Test func `by wish nothing is sent, and the reason says how to change that`() async throws {
        let watch = NetworkWatch(over: line, clock: clock, isForced: true)
        watch.retryNow()
        clock.advance(by: .seconds(100))
        do {
            _ = try await watch.send(try request("a"))
            Issue.record("nothing may be sent")
        } catch let error as MediaError {
            #expect(error.code == .offline)
            #expect(error.cause.string.contains("without --offline"))
        }
        #expect(line.sent.isEmpty)
    }

    @Test func `ports tell apart the servers of one machine`() async throws {
        let watch = NetworkWatch(over: line, clock: clock)
        _ = await code(try request("a:8001"), over: watch)
        line.cut(true)
        _ = await code(try request("a:8001"), over: watch)
        #expect(watch.report.isOffline, "the only host known")
        line.cut(false)
        _ = await code(try request("a:8002"), over: watch)
        #expect(!watch.report.isOffline)
    }
}
