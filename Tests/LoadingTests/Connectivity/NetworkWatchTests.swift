import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct NetworkWatchTests {
    private let clock = TestClock()
    private let server = MemoryServer([])

    private var hosts: [String] { server.requests.map(\.url.host) }

    private func request(_ host: String) throws -> RangeRequest {
        RangeRequest(url: try #require(WebURL("http://\(host)/a.mp3")), range: nil)
    }

    /// Sends a request to `host`, and returns its error.
    @discardableResult
    private func code(_ host: String, over watch: NetworkWatch) async throws -> MediaError.Code? {
        do {
            _ = try await watch.send(request(host))
            return nil
        } catch let error as MediaError {
            return error.code
        }
    }

    @Test func `offline sends only an attempt from time to time, and an answer ends it`() async throws {
        let journal = SavedJournal()
        let watch = NetworkWatch(over: server, clock: clock, journal: journal)
        let reports = Locked<[Bool]>([])
        watch.observe { report in reports.withLock { $0.append(report.isOffline) } }
        server.fail(.networkUnreachable)
        #expect(try await code("a", over: watch) == .networkUnreachable, "the first says what it was")
        #expect(watch.report.isOffline)
        for _ in 0..<5 { #expect(try await code("a", over: watch) == .offline) }
        #expect(hosts.count == 1)
        clock.advance(by: .milliseconds(250))
        #expect(try await code("a", over: watch) == .networkUnreachable)
        #expect(hosts.count == 2)
        server.serve(.init(content: []))
        #expect(try await code("a", over: watch) == .offline)
        watch.retryNow()
        #expect(try await code("a", over: watch) == nil)
        #expect(!watch.report.isOffline)
        #expect(reports.withLock { [$0.first, $0.last] } == [true, false])
        #expect(journal.decisions == [.wentOffline, .wentOnline])
        #expect(clock.sleeperCount == 0, "it has no timer")
    }

    @Test func `with --offline nothing is sent, and the reason names the option`() async throws {
        let watch = NetworkWatch(over: server, clock: clock, isForced: true)
        watch.retryNow()
        clock.advance(by: .seconds(100))
        let error = await #expect(throws: MediaError.self) { _ = try await watch.send(try request("a")) }
        #expect(error?.code == .offline && error?.cause.string.contains("without --offline") == true)
        #expect(hosts.isEmpty)
    }

    @Test func `two ports of one machine are two hosts`() async throws {
        let watch = NetworkWatch(over: server, clock: clock)
        server.fail(.networkUnreachable)
        try await code("a:8001", over: watch)
        #expect(try await code("a:8001", over: watch) == .offline)
        server.serve(.init(content: []))
        #expect(try await code("a:8002", over: watch) == nil)
        #expect(!watch.report.isOffline)
    }
}
