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
            let request = RangeRequest(url: try server.url("/a b.mp3?x=1"), range: 10..<15, ifRange: "\"a\"")
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
            #expect(lines.contains("Range: bytes=10-14"))
            #expect(lines.contains("If-Range: \"a\""))
            #expect(lines.contains("Accept-Encoding: identity"))
            #expect(lines.contains("User-Agent: reprise/0.1"))
            #expect(lines.contains { $0 == "Host: 127.0.0.1:\(server.port)" })
        }
    }

    @Test func `a whole resource is asked for without a range`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"])
        try await fixture.run(server) { transport in
            let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            #expect(response.answer.kind == .whole(length: 3))
            #expect(try await response.body.text() == "abc")
            #expect(server.requests.first?.contains("Range") == false)
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
    ])
    func `other answers are told apart`(answer: String, kind: RangeAnswer.Kind, text: String) async throws {
        let server = try ScriptedServer(answers: [answer])
        try await fixture.run(server) { transport in
            let request = RangeRequest(url: try server.url(), range: 20..<30)
            let response = try await transport.send(request)
            #expect(response.answer.kind == kind)
            #expect(try await response.body.text() == text)
        }
    }

    @Test func `a stored resource is asked for again by its entity tag, else by its date`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 304 Not Modified\r\n\r\n"])
        try await fixture.run(server) { transport in
            for validators in [Validators(etag: "W/\"a\"", lastModified: "d"), Validators(lastModified: "d")]
            {
                let request = RangeRequest(url: try server.url(), range: nil, unlessMatches: validators)
                #expect(try await transport.send(request).answer.kind == .notModified)
            }
            #expect(server.requests.first?.contains("If-None-Match: W/\"a\"\r\n") == true)
            #expect(server.requests.first?.contains("If-Modified-Since") == false)
            #expect(server.requests.last?.contains("If-Modified-Since: d\r\n") == true)
        }
    }

    @Test func `a body in chunks ends where they end`() async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
        ])
        try await fixture.run(server) { transport in
            let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            #expect(response.answer.kind == .whole(length: nil))
            #expect(try await response.body.text() == "abcde")
        }
    }

    @Test func `a body without a length ends with the connection`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.0 200 OK\r\n\r\nabc")
        }
        try await fixture.run(server) { transport in
            let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            #expect(response.answer.kind == .whole(length: nil))
            #expect(try await response.body.text() == "abc")
        }
    }

    @Test func `the connection is used again for the next request`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"])
        try await fixture.run(server) { transport in
            for number in 0..<3 {
                let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
                #expect(try await response.body.text() == "abc")
                #expect(response.answer.wire.reusedConnection == (number > 0))
            }
            #expect(server.requests.count == 3)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `two requests are answered side by side`() async throws {
        let first = Gate()
        let server = try ScriptedServer { connection in
            guard let request = connection.readRequest() else { return }
            if request.hasPrefix("GET /slow") { first.wait() }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        try await fixture.run(server) { transport in
            async let slow = transport.send(RangeRequest(url: try server.url("/slow"), range: nil))
            try await wait(for: "the slow request") { server.requests.count == 1 }
            let quick = try await transport.send(RangeRequest(url: try server.url("/quick"), range: nil))
            #expect(try await quick.body.text() == "ok")
            first.open()
            #expect(try await slow.body.text() == "ok")
        }
    }

    @Test func `basic credentials and extra fields go to the resource's own origin`() async throws {
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        try await TransportFixture(configuration: configuration).run(server) { transport in
            let url = try server.url("/", userInfo: "me:p%40ss@")
            _ = try await transport.send(RangeRequest(url: url, range: nil))
            let request = try #require(server.requests.first)
            #expect(request.contains("Authorization: Basic bWU6cEBzcw==\r\n"))
            #expect(request.contains("X-Token: secret\r\n"))
        }
    }

    @Test func `a header larger than any honest one is refused`() async throws {
        let field = "X-Filler: " + String(repeating: "x", count: 1_000) + "\r\n"
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n")
            // A thousand of them: 1 MB, or as much as the client lets through.
            for _ in 0..<1_000 where !connection.send(field) { return }
        }
        try await fixture.run(server) { transport in
            let error = await mediaError {
                _ = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            }
            #expect(error?.code == .badAnswer)
            #expect(error?.cause.string.contains("header") == true)
        }
    }

    @Test func `after the shutdown every request is cancelled`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        }
        try await fixture.run(server) { transport in
            let url = try server.url()
            let waiting = Task { try await transport.send(RangeRequest(url: url, range: nil)) }
            try await wait(for: "the request") { server.requests.count == 1 }
            await transport.shutdown()
            await #expect(throws: CancellationError.self) { _ = try await waiting.value }
            await #expect(throws: CancellationError.self) {
                _ = try await transport.send(RangeRequest(url: url, range: nil))
            }
        }
    }
}
