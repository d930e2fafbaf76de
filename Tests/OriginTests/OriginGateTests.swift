import RepriseOrigin
import TestSupport
import Testing

/// The bytes that gates let pass, and the log meanwhile.
@Suite struct OriginGateTests {
    private let music = ByteFixtures.bytes(count: 1_000_000, seed: 1)

    @Test func `a closed gate stops the body at the very byte, and release sends the rest`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold("/a.mp3", .afterBytesOfEach(300_001))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3")
        _ = await client.readHead()
        #expect(await client.read(300_001) == Array(music[..<300_001]))
        try await gate.reached()
        #expect(server.log.bytesSent(for: "/a.mp3") == 300_001)
        #expect(server.log.requests[0].outcome == .underWay)
        gate.release()
        #expect(await client.read(699_999) == Array(music[300_001...]))
        try await wait(for: "the end") { server.log.requests[0].outcome == .finished }
        await server.stop()
    }

    @Test func `a gate over all responses counts their bodies together`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold(nil, .afterBytesTogether(1_500))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3", "Range: bytes=0-999")
        #expect(await client.readAnswer().body.count == 1_000)
        #expect(!gate.isReached)
        try client.get("/a.mp3", "Range: bytes=5000-5999")
        _ = await client.readHead()
        try await gate.reached()
        #expect(await client.read(500) == Array(music[5_000..<5_500]))
        #expect(server.log.bytesSent == 1_500)
        #expect(server.log.sentRanges(for: "/a.mp3") == RangeSet([0..<1_000, 5_000..<5_500]))
        await server.stop()
    }

    @Test func `a gate before the head shows the request in the log and sends nothing`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold("/a.mp3", .beforeHead)
        let client = try RawClient(server.origin)
        try client.get("/a.mp3", "Range: bytes=7-7")
        try await gate.reached()
        #expect(server.log.requests.map(\.range) == ["bytes=7-7"])
        #expect(server.log.requests[0].status == nil)
        gate.release()
        #expect(await client.readAnswer().body == [music[7]])
        await server.stop()
    }

    @Test func `a client that leaves while it is held is logged as aborted with what it was sent`()
        async throws
    {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold("/a.mp3", .afterBytesOfEach(12_345))
        var client: RawClient? = try RawClient(server.origin)
        try client?.get("/a.mp3", "Range: bytes=500000-")
        try await gate.reached()
        client = nil
        try await wait(for: "the abort") { server.log.requests[0].outcome == .aborted }
        #expect(server.log.sentRanges(for: "/a.mp3") == RangeSet(500_000..<512_345))
        #expect(gate.heldCount == 0)
        await server.stop()
    }

    @Test func `a held response does not hold other paths or other connections`() async throws {
        let server = try TestOrigin(["/a.mp3": music, "/b.mp3": music])
        let gate = server.origin.hold("/a.mp3", .afterBytesOfEach(10))
        let first = try RawClient(server.origin)
        try first.get("/a.mp3")
        try await gate.reached()
        let second = try RawClient(server.origin)
        try second.get("/b.mp3")
        #expect(await second.readAnswer().body == music)
        let log = server.log.requests
        #expect(log[0].outcome == .underWay && log[1].begun > log[0].begun)
        await server.stop()
    }

    @Test func `stop ends held responses and refuses new connections`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        let gate = server.origin.hold("/a.mp3", .afterBytesOfEach(10))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3")
        try await gate.reached()
        await server.stop()
        #expect(server.log.requests[0].outcome == .cut)
        _ = await client.readHead()
        #expect(await client.readToEnd().count == 10)
        #expect(throws: RawClient.Failure.self) { try RawClient(server.origin) }
    }
}
