import Loading
import Media
import TestSupport
import Testing

@Suite struct NetworkWatchTests {
    /// Hosts that cannot be reached for as long as the test says.
    private final class Line: RangeTransport {
        private let state = Locked<(isAway: Bool, sent: [String])>((false, []))

        var sent: [String] { state.withLock { $0.sent } }
        func cut(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func send(_ request: RangeRequest) async throws -> RangeResponse {
            let isAway = state.withLock { state in
                state.sent.append(request.url.host)
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

    @Test func `offline spares the line, tries it every thirty seconds and finds it again`() async throws {
        let notes = Notes()
        let watch = NetworkWatch(clock: clock, journal: notes)
        let transport = watch.guarding(line)
        let told = Locked<[Bool]>([])
        watch.observe { report in told.withLock { $0.append(report.isOffline) } }
        line.cut(true)
        let first = await code(try request("a"), over: transport)
        #expect(first == .connectionFailed, "the first failure says what it was")
        #expect(watch.report.isOffline)
        for _ in 0..<5 {
            let next = await code(try request("a"), over: transport)
            #expect(next == .offline)
        }
        #expect(line.sent.count == 1)
        #expect(clock.sleeperCount == 0, "no timer runs")
        clock.advance(by: .seconds(30))
        let probe = await code(try request("a"), over: transport)
        #expect(probe == .connectionFailed)
        #expect(line.sent.count == 2)
        line.cut(false)
        let refused = await code(try request("a"), over: transport)
        #expect(refused == .offline)
        watch.retryNow()
        let answered = await code(try request("a"), over: transport)
        #expect(answered == nil)
        #expect(!watch.report.isOffline)
        #expect(told.withLock { $0.first } == true)
        #expect(told.withLock { $0.last } == false)
        let decisions = notes.all.withLock { $0 }.map { record in
            if case .decision(let decision, _) = record.event { decision.rawValue } else { "" }
        }
        #expect(decisions == ["went-offline", "went-online"])
    }

    @Test func `by wish nothing is sent, and the reason says how to change that`() async throws {
        let watch = NetworkWatch(clock: clock, isForced: true)
        let transport = watch.guarding(line)
        watch.retryNow()
        clock.advance(by: .seconds(100))
        do {
            _ = try await transport.send(try request("a"))
            Issue.record("nothing may be sent")
        } catch let error as MediaError {
            #expect(error.code == .offline)
            #expect(error.cause.string.contains("without --offline"))
        }
        #expect(line.sent.isEmpty)
    }

    @Test func `ports tell apart the servers of one machine`() async throws {
        let watch = NetworkWatch(clock: clock)
        let transport = watch.guarding(line)
        _ = await code(try request("a:8001"), over: transport)
        line.cut(true)
        _ = await code(try request("a:8001"), over: transport)
        #expect(watch.report.isOffline, "the only host known")
        line.cut(false)
        _ = await code(try request("a:8002"), over: transport)
        #expect(!watch.report.isOffline)
    }
}
