import Media
import TestSupport
import Testing

@testable import Loading

/// The loaders' reports of requests that have not ended.
struct UnderWayTests {
    private let url = WebURL("http://music.example/song.mp3").unwrapped
    private let history = RequestHistory()

    private func open(_ transport: any RangeTransport) async throws -> any ResourceReader {
        let loaders = Loaders(
            transport: transport,
            stores: MemoryStores(),
            clock: TestClock(),
            journal: history,
            seed: 1
        )
        return try await loaders.open(.web(url))
    }

    private var requests: [RequestRecord] {
        history.underWay.compactMap { if case .request(let request) = $0.event { request } else { nil } }
    }

    @Test func `a request is reported while it brings bytes, and no longer once it has ended`() async throws {
        let transport = ScriptedTransport(.init(content: [UInt8](repeating: 7, count: 60_000)))
        transport.hold()
        let reader = try await open(transport)
        let bytes = try await reader.read(at: 0, count: 100)
        #expect(!bytes.isEmpty)
        try await wait(for: "the first chunk") { requests.map(\.bytes) == [16_384] }
        let request = try #require(requests.first)
        #expect(request.why == .demand && request.status == 206 && request.answered?.lowerBound == 0)
        #expect(request.firstByte != nil && request.end.isEmpty)
        #expect(history.recordCount == 0)
        transport.release()
        try await wait(for: "its end") { requests.isEmpty }
        #expect(history.recordCount == 1)
        await reader.close()
    }

    @Test func `a request that was not sent while offline is not reported`() async throws {
        let transport = FaultyTransport { _, _ in .fail(.offline) }
        let reader = try await open(transport)
        let reading = Task { try await reader.read(at: 0, count: 100) }
        try await wait(for: "the refusal") { transport.requests.count > 0 && requests.isEmpty }
        let ended = history.newest.records.filter { if case .request = $0.event { true } else { false } }
        #expect(ended.isEmpty)
        await reader.close()
        _ = await reading.result
    }
}
