import CCurl
import Glibc
@testable import HTTP
import Media
import System
import TestSupport
import Testing

struct TransferFaultTests {
    private let fixture = TransportFixture()

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-9/20\r\n\r\nabc",
        "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-9/20\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\n",
    ])
    func `a body shorter than promised is cut, and what came is handed out first`(
        answer: String
    ) async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send(answer)
        }
        try await fixture.run(server) { transport in
            let response = try await transport.get(server.url(), 0..<10)
            #expect(try await response.body.next() == Array("abc".utf8))
            #expect(await mediaError { _ = try await response.body.next() }?.code == .cut)
            #expect(await mediaError { _ = try await response.body.next() }?.code == .cut)
        }
    }

    @Test(arguments: [
        ("", MediaError.Code.cut), ("220 smtp.example.com ESMTP ready\r\n", .badAnswer),
        ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nmusic", .badAnswer),
    ])
    func `a connection without an answer in HTTP is an error, without secrets`(
        answer: String,
        code: MediaError.Code
    ) async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send(answer)
        }
        try await fixture.run(server) { transport in
            let error = await transport.failure(server.url("/a?token=secret", userInfo: "me:secret@"))
            #expect(error?.code == code)
            #expect(error?.isLasting == (code == .badAnswer), "such an answer would be the same again")
            #expect(error?.subject.string == "http://127.0.0.1:\(server.port)/a?…")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: ResponseHead.mostLines),
        "HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: ResponseHead.mostBytes) + "\r\n",
        String(
            repeating: "HTTP/1.1 103 Early\r\na: " + String(repeating: "b", count: 9_000) + "\r\n\r\n",
            count: 9
        ),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n"
            + String(repeating: "a: " + String(repeating: "b", count: 1_000) + "\r\n", count: 70),
    ])
    func `too many header lines or bytes, interim responses and trailers included, are refused for good`(
        answer: String
    ) async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send(answer + "end: never\r\n\r\n")
        }
        try await fixture.run(server) { transport in
            let error = await mediaError { _ = try await transport.text(server.url()) }
            #expect(error?.code == .badAnswer && error?.isLasting == true, "\(String(describing: error))")
        }
    }

    @Test func `interim responses are skipped, and trailers are ignored`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 103 Early Hints\r\nETag: early\r\n\r\n")
            connection.send("HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.send("3\r\nabc\r\n0\r\nETag: late\r\n\r\n")
        }
        try await fixture.run(server) { transport in
            let response = try await transport.get(server.url())
            #expect(try await response.body.text() == "abc")
            #expect(response.answer.contentType == "a/b" && response.answer.validators.isEmpty)
        }
    }

    @Test func `trailers without end are refused`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n")
            let trailers = String(repeating: "a: \(String(repeating: "b", count: 1_000))\r\n", count: 100)
            for _ in 0..<10_000 where !connection.send(trailers) { return }
        }
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            #expect(try await body.next() == Array("abc".utf8))
            let error = await mediaError { _ = try await body.next() }
            #expect(error?.code == .badAnswer && error?.isLasting == true)
        }
        // The sockets and libcurl hold some that were not looked at.
        #expect(server.sentBytes < 50_000_000)
    }

    @Test func `a transfer that cannot be resumed ends with the reason`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send(String(repeating: "music", count: 10_000)) {}
        }
        let configuration = fixture.configuration
        let loop = CurlLoop(configuration: configuration, resume: { _ in CURLE_BAD_CONTENT_ENCODING })
        let transport = CurlTransport(configuration: configuration, loop: loop)
        let transfer = try #require(try await transport.get(server.url()).body as? Transfer)
        try await wait(for: "the pause") { transfer.state.isPaused }
        let error = await mediaError { while try await transfer.next() != nil {} }
        #expect(error?.code == .decodingFailed)
        await transport.shutdown()
        server.stop()
    }

    /// A host that libcurl does not find, and what the system says about its name.
    @Test(
        arguments: [
            (EAI_NONAME, true, MediaError.Code.unknownHost, true),
            (EAI_AGAIN, true, .networkUnreachable, false),
            (EAI_NONAME, false, .networkUnreachable, false), (EAI_FAIL, true, .unknownHost, false),
            (0, true, .unknownHost, false),
        ]
    )
    func `a host is at fault only if a name server denies its name`(
        status: Int32,
        hasRoute: Bool,
        code: MediaError.Code,
        isDead: Bool
    ) async throws {
        let fixture = TransportFixture {
            $0.localNetwork.nameStatus = { _ in status }
            $0.localNetwork.hasRoute = { hasRoute }
        }
        try await fixture.run { transport in
            let url = try #require(WebURL("http://\(UnknownHost.name):8080/a.mp3"))
            let error = await transport.failure(url)
            #expect(error?.code == code)
            #expect(error?.deadOrigin == (isDead ? url.origin : nil))
        }
    }

    @Test func `a server that speaks no TLS is told apart`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 400 Bad Request\r\n\r\n"])
        try await fixture.run(server) { transport in
            let url = try #require(WebURL("https://127.0.0.1:\(server.port)/"))
            // The server waits for an empty line that a TLS greeting need not hold: end it from its side.
            let sender = Task { try await transport.get(url) }
            try await wait(for: "the connection") { server.connectionCount == 1 }
            server.stop()
            let code = await mediaError { _ = try await sender.value }?.code
            #expect(code == .tlsFailed)
        }
    }

    @Test func `without libcurl every request says what to install`() async throws {
        let configuration = HTTPConfiguration()
        let loop = CurlLoop(configuration: configuration, library: OptionalLibrary { "no such file" })
        let transport = CurlTransport(configuration: configuration, loop: loop)
        let url = try #require(WebURL("http://a.example/"))
        let cause: SafeText = "can't be loaded (no such file); install libcurl4 to play from the web"
        let error = MediaError(.missingLibrary, "libcurl", cause)
        for _ in 0..<2 { #expect(await transport.failure(url) == error) }
        await transport.shutdown()
    }

    @Test func `cancelling in mid-body wakes the reader at once, and no byte follows`() async throws {
        let gate = Gate()
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            gate.wait()
            connection.send("defghij")
        }
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            #expect(try await body.next() == Array("abc".utf8))
            let reader = Task { try await body.next() }
            body.cancel()
            await #expect(throws: CancellationError.self) { _ = try await reader.value }
            gate.open()
            await #expect(throws: CancellationError.self) { _ = try await body.next() }
        }
    }

    @Test(arguments: [false, true])
    func `bytes that came are handed out after a cancel, of the body or of the task`(
        cancelsTask: Bool
    ) async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForClose()
        }
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            let transfer = try #require(body as? Transfer)
            try await wait(for: "the bytes") { transfer.state.hasAnswer(to: .chunk) }
            let reader = Task {
                if cancelsTask { withUnsafeCurrentTask { $0?.cancel() } } else { body.cancel() }
                #expect(Task.isCancelled == cancelsTask)
                return try await body.next()
            }
            #expect(try await reader.value == Array("abc".utf8))
            await #expect(throws: CancellationError.self) { _ = try await body.next() }
        }
    }

    @Test func `a cancelled task ends the transfer, before the answer and in the body`() async throws {
        let closed = Locked(0)
        let server = try ScriptedServer { connection in
            guard let request = connection.readRequest() else { return }
            if request.hasPrefix("GET /body") {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            }
            connection.waitForClose()
            closed.withLock { $0 += 1 }
        }
        try await fixture.run(server) { transport in
            let url = server.url()
            let sender = Task { try await transport.get(url) }
            try await wait(for: "the request") { server.requests.count == 1 }
            sender.cancel()
            await #expect(throws: CancellationError.self) { _ = try await sender.value }
            try await wait(for: "the connection's end") { closed.withLock { $0 } == 1 }

            let inBody = server.url("/body")
            let body = try await transport.get(inBody).body
            let reader = Task { try await body.all() }
            try await wait(for: "the body") { server.requests.count == 2 }
            reader.cancel()
            await #expect(throws: CancellationError.self) { _ = try await reader.value }
            try await wait(for: "the connection's end") { closed.withLock { $0 } == 2 }
        }
    }

    @Test func `letting go of a body ends its transfer`() async throws {
        let isClosed = Locked(false)
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            connection.waitForClose()
            isClosed.withLock { $0 = true }
        }
        // On a clock that stands still no time-out can end it instead.
        try await TransportFixture { $0.clock = TestClock() }.run(server) { transport in
            var response: RangeResponse? = try await transport.get(server.url())
            #expect(response?.answer.kind == .whole(length: 10))
            response = nil
            try await wait(for: "the connection's end") { isClosed.withLock { $0 } }
        }
    }

    @Test func `a reader that does not pull slows the sender down, and gets every byte later`() async throws {
        let count = 64 * 1024 * 1024
        let piece = (0..<65_521).map { UInt8(truncatingIfNeeded: $0) }
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n")
            var left = count
            while left > 0, connection.send(Array(piece.prefix(left))) { left -= piece.count }
        }
        try await fixture.run(server) { transport in
            let body = try await transport.get(server.url()).body
            // The sender stands still once a hundred looks in a row have seen no byte more.
            var last = 0
            var still = 0
            try await wait(for: "the sender to stand still") {
                let now = server.sentBytes
                still = now == last ? still + 1 : 0
                last = now
                return still == 100
            }
            // Our limit and the system's buffers on both sides of loopback: about 6 MB of sockets.
            #expect(last < 16 * 1024 * 1024)
            var received = 0
            var isRight = true
            var largest = 0
            while let chunk = try await body.next() {
                isRight = isRight && chunk.first == piece[received % piece.count]
                received += chunk.count
                isRight = isRight && chunk.last == piece[(received - 1) % piece.count]
                largest = max(largest, chunk.count)
            }
            #expect(received == count)
            #expect(isRight)
            #expect(largest <= 64 * 1024)
        }
    }
}
