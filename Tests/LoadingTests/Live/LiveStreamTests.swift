import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct LiveStreamTests {
    private let clock = TestClock()
    private let station = LiveServer()
    private let journal = SavedJournal()
    private let url = WebURL("http://radio.example/live").unwrapped

    /// A stream whose first response has these `chunks`, and the record of its request.
    private func opened(_ chunks: [[UInt8]]) -> (LiveStream, RequestLog) {
        station.line(chunks)
        let request = RangeRequest(url: url, range: 0..<65_536, wantsTitles: true)
        var log = RequestLog(request, urgency: .demand, journal: journal, clock: clock)
        let response = station.answer()
        log.answered(response.answer)
        let parts = LoaderParts(transport: station, clock: clock, journal: journal)
        return (LiveStream(url: url, parts: parts, response, at: 0), log)
    }

    private func listening(_ chunks: [[UInt8]]) -> LiveStream {
        let (stream, log) = opened(chunks)
        stream.begin(log)
        return stream
    }

    private func report(_ stream: LiveStream) -> LoadReport {
        var report = LoadReport()
        stream.add(to: &report)
        return report
    }

    /// Reads until `count` bytes are there.
    private func read(_ stream: LiveStream, from offset: Int64, _ count: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            bytes += try await stream.read(at: offset + Int64(bytes.count), count: count - bytes.count)
        }
        return bytes
    }

    private func waitForRetry() async throws {
        try await wait(for: "the wait for the next attempt") { clock.sleeperCount == 1 }
    }

    @Test func `a stream that ends is connected to again, its offsets go on, and the journal has both`()
        async throws
    {
        let stream = listening([[1, 2], [3]])
        #expect(try await read(stream, from: 0, 3) == [1, 2, 3])
        try await waitForRetry()
        #expect(report(stream).wait?.attempt == 1)
        station.line([[4], [5, 6], []])
        clock.advance(by: .seconds(1))
        #expect(try await read(stream, from: 3, 3) == [4, 5, 6])
        #expect(station.requests.map(\.wantsTitles) == [true])
        let report = report(stream)
        #expect(report.requestCount == 1 && report.fetchedBytes == 6)
        #expect(report.length == nil && !report.isSeekable && !report.isCached)
        #expect(journal.requests.map(\.end) == ["complete"], "the second is still open")
        clock.advance(by: .seconds(7))
        await stream.close()
        let requests = journal.requests
        #expect(requests.map(\.end) == ["complete", "cancelled"])
        #expect(requests.map(\.bytes) == [3, 3] && requests.map(\.status) == [200, 200])
        #expect(requests.last?.duration == .seconds(7) && requests.last?.urgency == .demand)
        #expect(journal.decisions == [.retryLater])
    }

    @Test func `unread bytes pause the transfer, and reads continue it`()
        async throws
    {
        let chunk = [UInt8](repeating: 7, count: 1 << 18)
        let stream = listening(Array(repeating: chunk, count: 64))
        try await wait(for: "a full buffer") { station.taken == LiveState.mostUnread / chunk.count }
        _ = try await read(stream, from: 0, 3 * chunk.count)
        try await wait(for: "three more") { station.taken == LiveState.mostUnread / chunk.count + 3 }
        await stream.close()
        #expect(station.cancelled > 0)
    }

    @Test func `closing ends waiting reads, in a connection and between two`() async throws {
        for isBetween in [false, true] {
            let stream = listening(isBetween ? [[1]] : [[1], []])
            let waiting = Task { try await stream.read(at: 1, count: 1) }
            if isBetween { try await waitForRetry() }
            await stream.close()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            await #expect(throws: CancellationError.self) { try await stream.read(at: 1, count: 1) }
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test func `a cancelled read ends at once and the stream goes on`() async throws {
        let stream = listening([[1], []])
        let waiting = Task { try await stream.read(at: 1, count: 1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await read(stream, from: 0, 1) == [1])
        await stream.close()
    }

    @Test func `waiting reads fail after the last attempt`() async throws {
        let stream = listening([[1]])
        station.fail(with: MediaError(.connectionRefused, "radio", "refuses"))
        let waiting = Task { try await stream.read(at: 1, count: 1) }
        try await wait(for: "the end") {
            clock.advance(by: .seconds(15))
            return station.requests.count == RetryPolicy().mostAttempts - 1
        }
        await #expect(throws: MediaError.self) { try await waiting.value }
        #expect(try await read(stream, from: 0, 1) == [1])
        await stream.close()
    }

    @Test func `a response that begins after the close is cancelled`() async throws {
        let (stream, log) = opened([[1]])
        await stream.close()
        stream.begin(log)
        #expect(station.cancelled == 1)
        #expect(journal.requests.map(\.end) == ["cancelled"])
    }

    @Test func `a web page instead of the stream counts as a failed attempt`() async throws {
        let stream = listening([[1]])
        #expect(try await read(stream, from: 0, 1) == [1])
        try await waitForRetry()
        station.line([Array("<html>".utf8)])
        station.send(as: "text/html")
        clock.advance(by: .seconds(1))
        try await wait(for: "the second wait") {
            report(stream).wait?.attempt == 2 && clock.sleeperCount == 1
        }
        #expect(report(stream).wait?.error.code == .badAnswer)
        #expect(journal.requests.map(\.end) == ["complete", "bad-answer"])
        station.line([[2], []])
        station.send(as: "audio/mpeg")
        clock.advance(by: .seconds(15))
        #expect(try await read(stream, from: 1, 1) == [2], "no byte of the page was played")
        await stream.close()
    }

    @Test func `when the network is back the next attempt does not wait for the clock`() async throws {
        let stream = listening([[1]])
        station.fail(with: MediaError(.connectionRefused, "radio", "is away"))
        for attempt in 1...6 {
            try await wait(for: "a wait") {
                report(stream).wait?.attempt == attempt && clock.sleeperCount == 1
            }
            if attempt < 6 { clock.advance(by: .seconds(15)) }
        }
        station.fail(with: nil)
        station.line([[2], []])
        stream.networkReturned()
        try await wait(for: "the next byte") { report(stream).stored.contains(1) }
        #expect(try await read(stream, from: 1, 1) == [2])
        #expect(clock.sleeperCount == 0)
        await stream.close()
    }

    @Test func `the return of the network changes nothing while the stream is connected`() async throws {
        let stream = listening([[1], []])
        #expect(try await read(stream, from: 0, 1) == [1])
        stream.networkReturned()
        #expect(station.requests.isEmpty && clock.sleeperCount == 0)
        await stream.close()
    }
}

/// A station that sends the test's chunks. An empty chunk holds the connection open.
private final class LiveServer: RangeTransport {
    private struct State {
        var chunks: [[UInt8]] = []
        var requests: [RangeRequest] = []
        var failure: MediaError?
        var contentType = "audio/mpeg"
        var taken = 0
        var cancelled = 0
    }

    private let state = Locked(State())

    var requests: [RangeRequest] { state.withLock { $0.requests } }
    var taken: Int { state.withLock { $0.taken } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func line(_ chunks: [[UInt8]]) { state.withLock { $0.chunks = chunks } }
    func send(as contentType: String) { state.withLock { $0.contentType = contentType } }
    func fail(with error: MediaError?) { state.withLock { $0.failure = error } }

    func answer() -> RangeResponse {
        state.withLock { state in
            let answer = RangeAnswer(
                kind: .whole(length: nil),
                contentType: state.contentType,
                station: Station(name: "Radio")
            )
            return RangeResponse(answer: answer, body: Body(server: self, chunks: state.chunks))
        }
    }

    func send(_ request: RangeRequest) async throws -> RangeResponse {
        let failure = state.withLock { state in
            state.requests.append(request)
            return state.failure
        }
        if let failure { throw failure }
        return answer()
    }

    private final class Body: ResponseBody {
        private let server: LiveServer
        private let chunks: Locked<ArraySlice<[UInt8]>>
        private let end = TestClock()

        init(server: LiveServer, chunks: [[UInt8]]) {
            self.server = server
            self.chunks = Locked(chunks[...])
        }

        func next() async throws -> [UInt8]? {
            try Task.checkCancellation()
            guard let chunk = chunks.withLock({ $0.popFirst() }) else { return nil }
            guard !chunk.isEmpty else {
                try await end.sleep(until: .seconds(1))
                throw CancellationError()
            }
            server.state.withLock { $0.taken += 1 }
            return chunk
        }

        func cancel() {
            server.state.withLock { $0.cancelled += 1 }
            end.advance(by: .seconds(1))
        }
    }
}
