import RepriseOrigin
import TestSupport
import Testing

/// The faults of the origin, and the simulated line.
@Suite struct OriginFaultTests {
    private let music = ByteFixtures.bytes(count: 1_000, seed: 1)

    @Test func `a cut ends the connection at the very byte`() async throws {
        let answer = try await exchange([.cut(afterBytes: 33)])
        #expect(answer.head.contains("\r\nContent-Length: 100\r\n"))
        #expect(answer.rest == Array(music[100..<133]))
    }

    @Test func `ranges, validators and places can be wrong`() async throws {
        let whole = try await exchange([.ignoresRanges, .noValidators])
        #expect(whole.head.hasPrefix("HTTP/1.1 200 ") && whole.rest == music)
        #expect(!whole.head.contains("ETag") && !whole.head.contains("Last-Modified"))
        #expect(try await exchange([.etag("W/\"1\"")]).head.contains("\r\nETag: W/\"1\"\r\n"))
        #expect(
            try await exchange([.contentRange("bytes 0-99/1000")]).head.contains(
                "\r\nContent-Range: bytes 0-99/1000\r\n"
            )
        )
        #expect(!(try await exchange([.contentRange(nil)]).head.contains("Content-Range")))
        #expect(try await exchange([.unknownTotal]).head.contains("\r\nContent-Range: bytes 100-199/*\r\n"))
        let shifted = try await exchange([.shiftedRange(by: -50)])
        #expect(shifted.head.contains("\r\nContent-Range: bytes 50-199/1000\r\n"))
        #expect(shifted.rest == Array(music[50..<200]))
    }

    @Test func `bodies can come in chunks, without a length, or with a wrong one`() async throws {
        let chunked = try await exchange([.chunked])
        #expect(chunked.rest == Array("64\r\n".utf8) + music[100..<200] + Array("\r\n0\r\n\r\n".utf8))
        let bare = try await exchange([.closeDelimited])
        #expect(!bare.head.contains("Content-Length") && bare.rest == Array(music[100..<200]))
        let short = try await exchange([.contentLength(40)])
        #expect(short.head.contains("\r\nContent-Length: 40\r\n") && short.rest.count == 40)
        let long = try await exchange([.contentLength(400)])
        #expect(long.head.contains("\r\nContent-Length: 400\r\n") && long.rest.count == 100)
    }

    @Test func `other statuses, pages and bytes can come instead`() async throws {
        #expect(
            try await exchange([.status(503), .field("Retry-After", "2")]).head.contains(
                "\r\nRetry-After: 2\r\n"
            )
        )
        let portal = try await exchange([.htmlPage])
        #expect(portal.head.hasPrefix("HTTP/1.1 200 ") && portal.head.contains("text/html"))
        #expect(
            try await exchange([.redirect(status: 302, location: "/b")]).head.contains("\r\nLocation: /b\r\n")
        )
        #expect(try await exchange([.otherBytes([7])]).rest == [UInt8](repeating: 7, count: 100))
    }

    @Test func `a script gives every request its own fault`() async throws {
        let server = try TestOrigin(["/a.mp3": music])
        server.origin.script([[.status(500)], []], thenAlways: [.status(404)], for: "/a.mp3")
        let client = try RawClient(server.origin)
        for status in [500, 200, 404, 404] {
            try client.get("/a.mp3")
            #expect(await client.readAnswer().head.hasPrefix("HTTP/1.1 \(status) "))
        }
        #expect(server.log.requests.map(\.status) == [500, 200, 404, 404])
        #expect(server.log.sentRanges(for: "/a.mp3") == RangeSet(0..<1_000))
        await server.stop()
    }

    @Test(
        arguments: [
            (fault: Fault.stall(afterBytes: 10), status: 200, sent: 10),
            (fault: .silence, status: nil, sent: 0),
        ] as [(fault: Fault, status: Int?, sent: Int64)]
    )
    func `a stalled answer sends no more, and is over when the client leaves`(
        fault: Fault,
        status: Int?,
        sent: Int64
    ) async throws {
        let server = try TestOrigin(["/a.mp3": music], faults: [fault])
        var client: RawClient? = try RawClient(server.origin)
        try client?.get("/a.mp3")
        try await wait(for: "the stall") { server.log.requests.first?.isHeld == true }
        #expect(server.log.requests[0].status == status)
        #expect(server.log.requests[0].bodyBytesSent == sent)
        client = nil
        try await wait(for: "the end") { server.log.requests[0].outcome != .underWay }
        #expect(server.log.requests[0].outcome == .aborted)
        #expect(server.log.requests[0].bodyBytesSent == sent)
        await server.stop()
    }

    @Test func `a client that leaves in mid-body ends it, and later requests are counted anew`() async throws
    {
        let large = ByteFixtures.bytes(count: 30_000_000, seed: 2)
        let server = try TestOrigin(["/a.mp3": large])
        var client: RawClient? = try RawClient(server.origin)
        try client?.get("/a.mp3")
        _ = await client?.read(100_000)
        client = nil
        try await wait(for: "the abort") { server.log.requests[0].outcome == .aborted }
        let sent = server.log.bytesSent
        #expect(sent >= 99_000 && sent < 30_000_000)
        #expect(server.log.sentRanges(for: "/a.mp3") == RangeSet(0..<sent))
        server.log.reset()
        #expect(server.log.requests.isEmpty && server.log.bytesSent == 0)
        await server.stop()
    }

    @Test func `a line of bounded rate has never sent more than its rate allows`() async throws {
        let begun = ContinuousClock.now
        let server = try TestOrigin(["/a.mp3": music], shaping: Shaping(bytesPerSecond: 5_000))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3")
        while server.log.bytesSent < 1_000 {
            let sent = Double(server.log.bytesSent)
            // Counted before the clock is read: lateness of this test can only allow more.
            let allowed = 5_000 * ((ContinuousClock.now - begun) / .seconds(1)) + 250
            #expect(sent <= allowed)
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(await client.readAnswer().body == music)
        await server.stop()
    }

    @Test func `fifty connections at once get what they asked for`() async throws {
        let large = ByteFixtures.bytes(count: 500_000, seed: 4)
        let server = try TestOrigin(["/a.mp3": large])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let client = try RawClient(server.origin)
                    let start = index * 10_000
                    try client.get("/a.mp3", "Range: bytes=\(start)-\(start + 9_999)")
                    return await client.readAnswer().body == Array(large[start..<start + 10_000])
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.log.sentRanges(for: "/a.mp3") == RangeSet(0..<500_000))
        #expect(server.log.bytesSent == 500_000)
        await server.stop()
    }
}
