import RepriseOrigin
import TestSupport
import Testing

/// The correct answers of the origin, over plain sockets.
@Suite struct OriginAnswerTests {
    private let music = ByteFixtures.bytes(count: 1_000, seed: 1)

    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-", 0..<1_000), ("bytes=999-", 999..<1_000),
            ("bytes=10-19", 10..<20), ("bytes=990-5000", 990..<1_000), ("bytes=-1", 999..<1_000),
            ("bytes=-5000", 0..<1_000), ("bytes=5-9223372036854775807", 5..<1_000),
            ("BYTES=3-99999999999999999999", 3..<1_000),
        ] as [(String, Range<Int>)]
    )
    func `a range is answered with its bytes and its place`(field: String, range: Range<Int>) async throws {
        let answer = try await exchange([], ["Range: \(field)"])
        #expect(answer.head.hasPrefix("HTTP/1.1 206 "))
        let place = "\r\nContent-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/1000\r\n"
        #expect(answer.head.contains(place))
        #expect(answer.rest == Array(music[range]))
    }

    @Test(arguments: ["bytes=1000-", "bytes=1000-1000", "bytes=-0"])
    func `a range without a byte gets a 416 with the length`(field: String) async throws {
        let head = try await exchange([], ["Range: \(field)"]).head
        #expect(head.hasPrefix("HTTP/1.1 416 "))
        #expect(head.contains("\r\nContent-Range: bytes */1000\r\n"))
    }

    @Test(arguments: ["bytes=9-3", "bytes=a-b", "bytes=-", "bytes=0-1,5-6", "lines=0-1", "bytes=+1-2", ""])
    func `a range that makes no sense is passed over`(field: String) async throws {
        let answer = try await exchange([], ["Range: \(field)"])
        #expect(answer.head.hasPrefix("HTTP/1.1 200 "))
        #expect(answer.rest == music)
    }

    @Test func `if-range gives the part only for the very tag or date`() async throws {
        let etag = try #require(OriginResource(music).etag)
        let date = "Mon, 01 Jan 2024 00:00:00 GMT"
        for (value, status) in [(etag, 206), (date, 206), ("\"other\"", 200), ("W/\(etag)", 200)] {
            let head = try await exchange([], ["Range: bytes=1-2", "If-Range: \(value)"]).head
            #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(value)")
        }
        let ignoring = try await exchange([.ignoresIfRange], ["Range: bytes=1-2", "If-Range: \"other\""])
        #expect(ignoring.head.hasPrefix("HTTP/1.1 206 "))
    }

    @Test func `if-none-match with the tag is a 304 without a body`() async throws {
        let etag = try #require(OriginResource(music).etag)
        let same = try await exchange([], ["If-None-Match: \"x\", W/\(etag)"])
        #expect(same.head.hasPrefix("HTTP/1.1 304 ") && same.rest.isEmpty)
        #expect(try await exchange([], ["If-None-Match: \"x\""]).head.hasPrefix("HTTP/1.1 200 "))
    }

    @Test func `one connection serves many requests, and a HEAD has no body`() async throws {
        let server = try TestOrigin(["/a b.mp3": music])
        let client = try RawClient(server.origin)
        try client.send("HEAD /a%20b.mp3?x=1 HTTP/1.1\r\n\r\nGET /a%20b.mp3 HTTP/1.1\r\n\r\n")
        let head = await client.readHead()
        #expect(head.contains("\r\nContent-Length: 1000\r\n"))
        #expect(head.contains("\r\nContent-Type: audio/mpeg\r\n"))
        #expect(await client.readAnswer().body == music)
        try client.get("/a%20b.mp3", "Connection: close")
        #expect(await client.readAnswer().head.contains("\r\nConnection: close\r\n"))
        #expect(await client.readToEnd().isEmpty)
        #expect(server.log.requests.map(\.connection) == [1, 1, 1])
        #expect(server.log.requests.map(\.bodyBytesSent) == [0, 1_000, 1_000])
        await server.stop()
    }

    @Test func `what is no request is refused`() async throws {
        for (text, status) in [
            ("nonsense\r\n\r\n", 400), ("GET a.mp3 HTTP/1.1\r\n\r\n", 400),
            ("POST /a.mp3 HTTP/1.1\r\n\r\n", 405),
            ("GET /a.mp3 HTTP/1.1\r\nX: \(String(repeating: "x", count: 70_000))", 431),
        ] {
            let server = try TestOrigin(["/a.mp3": music])
            let client = try RawClient(server.origin)
            try client.send(text)
            #expect(await client.readHead().hasPrefix("HTTP/1.1 \(status) "))
            await server.stop()
        }
    }

    @Test func `a folder's files are served and nothing outside of it`() async throws {
        let outside = try TemporaryFolder()
        try outside.write("secret", to: "secret.mp3")
        try outside.write(music, to: "music/a.mp3")
        _ = try await RunningProcess.run("ln", ["-s", "../secret.mp3", outside.path("music/link.mp3")])
        let server = try TestOrigin(folder: outside.path("music"))
        let client = try RawClient(server.origin)
        try client.get("/a.mp3", "Range: bytes=10-19")
        #expect(await client.readAnswer().body == Array(music[10..<20]))
        for path in ["/../secret.mp3", "/%2e%2e/secret.mp3", "/link.mp3", "/", "/a.mp3%00", "/b.mp3"] {
            try client.get(path)
            #expect(await client.readAnswer().head.hasPrefix("HTTP/1.1 404 "), "\(path)")
        }
        await server.stop()
    }
}
