import Glibc
import HTTP
import Media
import System
import TestSupport
import Testing

struct TimeoutTests {
    @Test func `a host that nobody answers at is given up after the time for the connection`() async throws {
        let clock = TestClock()
        // A listening socket whose queue is full neither accepts nor refuses connections.
        let silent = try SilentListener()
        let other = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        try await fixture(clock).run(other) { transport in
            let url = try #require(WebURL("http://127.0.0.1:\(silent.port)/music.mp3"))
            let end = Locked<MediaError?>(nil)
            let sender = Task {
                let error = await transport.failure(url)
                end.withLock { $0 = error }
            }
            try await wait(for: "the watchdog") { clock.sleeperCount == 1 }
            // It sleeps before the thread has begun with the request, which counts as being looked up until
            // then. The thread begins requests in their order, so a later one that is answered shows that it
            // is connecting.
            #expect(try await transport.text(other.url()) == "ok")
            try await wait(for: "the watchdog alone") { clock.sleeperCount == 1 }
            clock.advance(by: .milliseconds(9_999))
            #expect(clock.nextWake == .seconds(10) && end.withLock { $0 == nil })
            clock.advance(by: .milliseconds(1))
            try await wait(for: "the end") { end.withLock { $0 != nil } }
            await sender.value
            let error = end.withLock { $0 }
            #expect(error?.code == .connectionFailed)
            #expect(error?.subject == url.safeText)
            #expect(error?.cause.string.contains("can't reach the server in time") == true)
        }
        silent.close()
    }

    @Test func `the end of a transport ends a connection that is still being made`() async throws {
        let clock = TestClock()
        let silent = try SilentListener()
        var sender: Task<RangeResponse, any Error>?
        try await fixture(clock).run { transport in
            let url = try #require(WebURL("http://127.0.0.1:\(silent.port)/music.mp3"))
            sender = Task { try await transport.get(url) }
            try await wait(for: "the watchdog") { clock.sleeperCount == 1 }
        }
        let result = await sender?.result
        #expect(throws: CancellationError.self) { try result?.get() }
        silent.close()
    }

    @Test func `a redirect whose body drips is followed after a second`() async throws {
        let clock = TestClock()
        let server = try ScriptedServer { connection in
            guard let request = connection.readRequest() else { return }
            guard request.hasPrefix("GET /end ") else {
                connection.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 1000\r\n\r\nmov")
                return connection.waitForClose()
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        try await fixture(clock).run(server) { transport in
            let url = server.url()
            let sender = Task { try await transport.get(url) }
            // Far before the watchdog's own time, which every byte of a drip would put off.
            try await wait(for: "the limit") { clock.nextWake == .seconds(1) }
            clock.advance(by: .seconds(1))
            try await wait(for: "the next request") { server.requests.count == 2 }
            let response = try await sender.value
            #expect(try await response.body.text() == "ok")
            #expect(response.answer.requestCount == 2)
        }
        try await wait(for: "nobody to sleep") { clock.sleeperCount == 0 }
    }

    @Test(arguments: ["X-Drip: 1\r\n", "\r\nHTTP/1.1 103 Early Hints\r\n"])
    func `a head that drips in is given up after the time for the first byte`(drip: String) async throws {
        let clock = TestClock()
        let gate = Gate()
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 103 Early Hints\r\n")
            for _ in 0..<4 {
                gate.wait()
                connection.send(drip)
            }
            connection.waitForClose()
        }
        try await fixture(clock).run(server) { transport in
            let url = server.url()
            let sender = Task { try await transport.get(url) }
            try await wait(for: "the request") { server.requests.count == 1 }
            for _ in 0..<4 {
                try await wait(for: "the watchdog to sleep") { clock.sleeperCount == 1 }
                clock.advance(by: .milliseconds(3_500))
                let sent = server.sentBytes
                gate.open()
                try await wait(for: "the drip") { server.sentBytes > sent }
            }
            // 14 s have passed, and bytes arrived all the time.
            try await wait(for: "the watchdog to sleep again") { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            let error = await mediaError { _ = try await sender.value }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func `nothing watches the time of a transfer that is over`() async throws {
        let clock = TestClock()
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"])
        try await fixture(clock).run(server) { transport in
            let body = try await transport.get(server.url()).body
            #expect(try await body.text() == "abc")
            try await wait(for: "the watchdog's end") { clock.sleeperCount == 0 }
        }
    }

    private func fixture(_ clock: TestClock) -> TransportFixture {
        TransportFixture { $0.clock = clock }
    }
}

/// A port of 127.0.0.1 at which a connection is neither taken nor refused: the queue of its listener is full.
final class SilentListener: Sendable {
    let port: Int
    private let listener: Int32
    private let queued: [Int32]

    init() throws {
        let (listener, number) = try LoopbackPort.taken()
        guard listen(listener, 0) == 0 else { throw ScriptedServer.Failure.noSocket }
        // A queue of zero has room for one; a few more make sure, and wait for ever.
        queued = (0..<4).map { _ in
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            LoopbackPort.connect(peer, to: number)
            return peer
        }
        self.listener = listener
        port = Int(number)
    }

    func close() {
        for socket in queued + [listener] { Glibc.close(socket) }
    }
}
