import HTTP
import Media
import TestSupport
import Testing

struct CurlTransportTests {
    private let fixture = TransportFixture()

    @Test func `a range is asked for with an inclusive end and answered half-open`() async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-14/100\r\nContent-Length: 5\r\n"
                + "ETag: \"a\"\r\nlast-modified: yesterday\r\nContent-Type: Audio/MPEG; q=1\r\n\r\nhello"
        ])
        try await fixture.run(server) { transport in
            let request = RangeRequest(url: server.url("/a b.mp3?x=1"), range: 10..<15, ifRange: "\"a\"")
            let response = try await transport.send(request)
            var wire = WireFacts()
            wire.status = 206
            wire.version = "HTTP/1.1"
            wire.reusedConnection = false
            #expect(
                response.answer
                    == RangeAnswer(
                        kind: .part(range: 10..<15, total: 100),
                        validators: Validators(etag: "\"a\"", lastModified: "yesterday"),
                        contentType: "audio/mpeg",
                        wire: wire
                    )
            )
            #expect(try await response.body.text() == "hello")
            #expect(try await response.body.next() == nil)
            let lines = try #require(server.requests.first).split(separator: "\r\n")
            #expect(lines.first == "GET /a%20b.mp3?x=1 HTTP/1.1")
            let fields: Set<Substring> = [
                "Range: bytes=10-14", "If-Range: \"a\"", "Accept-Encoding: identity",
                "User-Agent: reprise/0.1",
                "Host: 127.0.0.1:\(server.port)",
            ]
            #expect(fields.isSubset(of: lines))
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 304 Not Modified\r\n\r\n", RangeAnswer.Kind.notModified, ""),
        (
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */9\r\nContent-Length: 2\r\n\r\nno",
            .unsatisfiable(total: 9), "no"
        ),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", .refused(status: 404), "gone"),
        ("HTTP/1.1 206 Partial\r\nContent-Length: 2\r\n\r\nxy", .refused(status: 206), "xy"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .whole(length: 0), ""),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", .whole(length: 3), "abc"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
            .whole(length: nil), "abcde"
        ),
        ("HTTP/1.0 200 OK\r\n\r\nabc", .whole(length: nil), "abc"),
    ])
    func `a plain request is answered by each kind of response, up to its end`(
        answer: String,
        kind: RangeAnswer.Kind,
        text: String
    ) async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send(answer)
        }
        try await fixture.run(server) { transport in
            let response = try await transport.get(server.url())
            #expect(response.answer.kind == kind)
            #expect(try await response.body.text() == text)
            let request = try #require(server.requests.first)
            #expect(!request.contains("Range") && !request.lowercased().contains("icy-metadata"))
        }
    }

    @Test func `a stored resource is asked for again by its entity tag, else by its date`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 304 Not Modified\r\n\r\n"])
        try await fixture.run(server) { transport in
            for etag in ["W/\"a\"", nil] {
                let validators = Validators(etag: etag, lastModified: "d")
                let request = RangeRequest(url: server.url(), range: nil, unlessMatches: validators)
                let answer = try await transport.send(request).answer
                #expect(answer.kind == .notModified)
            }
            #expect(server.requests.first?.contains("If-None-Match: W/\"a\"\r\n") == true)
            #expect(server.requests.first?.contains("If-Modified-Since") == false)
            #expect(server.requests.last?.contains("If-Modified-Since: d\r\n") == true)
        }
    }

    @Test func `after the shutdown every request is cancelled`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        }
        try await fixture.run(server) { transport in
            let url = server.url()
            let waiting = Task { try await transport.get(url) }
            try await wait(for: "the request") { server.requests.count == 1 }
            await transport.shutdown()
            await #expect(throws: CancellationError.self) { _ = try await waiting.value }
            await #expect(throws: CancellationError.self) { try await transport.get(url) }
        }
    }
}
