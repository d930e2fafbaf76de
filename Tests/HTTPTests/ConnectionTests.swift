@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// When connections are made, kept and closed, and that the thread sleeps in between.
struct ConnectionTests {
    private static let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `a demanded read beside a running window finds a warm connection`() async throws {
        let gate = Gate()
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                if request.hasPrefix("GET /held") { gate.wait() }
                guard !request.hasPrefix("GET /window") else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nmusic")
                    connection.waitForClose()
                    return
                }
                connection.send(Self.okay)
            }
        }
        try await TransportFixture().run(server) { transport in
            // Two windows overlap for a moment, as they do while a track plays.
            let held = try server.url("/held")
            let first = Task { try await transport.send(RangeRequest(url: held, range: nil)).body.text() }
            try await wait(for: "the first window") { server.requests.count == 1 }
            _ = try await transport.send(RangeRequest(url: try server.url("/next"), range: nil)).body.text()
            gate.open()
            _ = try await first.value
            #expect(server.connectionCount == 2)

            let window = try await transport.send(RangeRequest(url: try server.url("/window"), range: nil))
            for isCancelled in [false, true] {
                if isCancelled { window.body.cancel() }
                let request = RangeRequest(url: try server.url("/demanded"), range: nil)
                let demanded = try await transport.send(request)
                #expect(demanded.answer.wire.reusedConnection == true)
                #expect(try await demanded.body.text() == "ok")
            }
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `connections that nobody uses are closed, and made again when needed`() async throws {
        let closed = Locked(0)
        let server = try ScriptedServer { connection in
            while connection.readRequest() != nil { connection.send(Self.okay) }
            closed.withLock { $0 += 1 }
        }
        let clock = TestClock()
        var configuration = HTTPConfiguration()
        configuration.clock = clock
        try await TransportFixture(configuration: configuration).run(server) { transport in
            for number in 1...2 {
                let request = RangeRequest(url: try server.url(), range: nil)
                #expect(try await transport.send(request).body.text() == "ok")
                #expect(server.connectionCount == number)
                #expect(closed.withLock { $0 } == number - 1)
                try await wait(for: "the connection's end") {
                    clock.advance(by: .seconds(31))
                    transport.loop.lookAtClock()
                    return closed.withLock { $0 } == number
                }
            }
        }
    }

    @Test func `the thread sleeps while nothing happens, with an idle connection and a waiting request`()
        async throws
    {
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                guard request.hasPrefix("GET /quick") else {
                    connection.waitForClose()
                    return
                }
                connection.send(Self.okay)
            }
        }
        try await TransportFixture().run(server) { transport in
            let quick = RangeRequest(url: try server.url("/quick"), range: nil)
            #expect(try await transport.send(quick).body.text() == "ok")
            try await sleeps(transport)
            let slow = RangeRequest(url: try server.url("/slow"), range: nil)
            let waiting = Task { try await transport.send(slow) }
            try await wait(for: "the request") { server.requests.count == 2 }
            try await sleeps(transport)
            waiting.cancel()
            _ = await waiting.result
        }
    }

    @Test func `connections that nobody uses are closed beside a transfer that goes on, also encrypted ones`()
        async throws
    {
        let closed = Locked(0)
        let more = Gate()
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                guard request.hasPrefix("GET /radio") else {
                    connection.send(Self.okay)
                    continue
                }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nmusic")
                more.wait()
                connection.send("after")
                connection.waitForClose()
                return
            }
            closed.withLock { $0 += 1 }
        }
        let stage = try await HTTP2Stage(fileSize: 1_000)
        var fixture = stage.fixture
        // libcurl counts real seconds, and only whole ones.
        fixture.configuration.longestIdleConnection = .seconds(1)
        fixture.configuration.timeouts.idle = .seconds(300)
        try await fixture.run(server) { transport in
            let radio = try await transport.send(RangeRequest(url: try server.url("/radio"), range: nil))
            for request in [
                RangeRequest(url: try server.url(), range: nil), RangeRequest(url: stage.url, range: 0..<10),
            ] {
                _ = try await transport.send(request).body.all()
            }
            #expect(server.connectionCount == 2)
            #expect(stage.openConnections == 1)
            try await wait(for: "the ends of both connections") {
                closed.withLock { $0 } == 1 && stage.openConnections == 0
            }
            more.open()
            #expect(try await radio.body.text() == "musicafter")
            // Nothing but what was asked for was ever sent.
            #expect(server.requests.count == 2)
            let again = try await transport.send(RangeRequest(url: stage.url, range: 0..<10))
            #expect(again.answer.wire.reusedConnection == false)
        }
    }

    @Test func `a connection counts as idle from its last transfer on, and the sleep ends when it is due`() {
        var state = IdleConnectionsState(longestIdle: .seconds(30))
        func look(
            _ hasTransfers: Bool,
            at seconds: Double,
            ended: Bool = false
        ) -> IdleConnectionsState.Action {
            state.looked(hasTransfers: hasTransfers, hasEnded: ended, now: .seconds(seconds))
        }
        // Before the first transfer there is nothing to close, ever.
        #expect(look(false, at: 0) == .wait(milliseconds: .max))
        #expect(look(true, at: 1) == .wait(milliseconds: 60_001))
        #expect(look(false, at: 2, ended: true) == .wait(milliseconds: 30_001))
        #expect(look(false, at: 12) == .wait(milliseconds: 20_001))
        #expect(look(true, at: 31) == .wait(milliseconds: 4_001))
        #expect(look(false, at: 34.5, ended: true) == .wait(milliseconds: 30_001))
        #expect(look(false, at: 64.4995) == .wait(milliseconds: 1))
        #expect(look(false, at: 64.5) == .closeAll)
        #expect(look(false, at: 65) == .wait(milliseconds: .max))
        // Nothing is left of what was closed.
        #expect(look(true, at: 66) == .wait(milliseconds: 60_001))
    }

    @Test func `beside a transfer that goes on every connection is looked after once it is due`() {
        var state = IdleConnectionsState(longestIdle: .seconds(30))
        func look(at seconds: Double, ended: Bool = false) -> IdleConnectionsState.Action {
            state.looked(hasTransfers: true, hasEnded: ended, now: .seconds(seconds))
        }
        #expect(look(at: 0) == .wait(milliseconds: 60_001))
        #expect(look(at: 10, ended: true) == .wait(milliseconds: 33_001))
        // So soon after another one it is closed with that.
        #expect(look(at: 10.5, ended: true) == .wait(milliseconds: 32_501))
        #expect(look(at: 20, ended: true) == .wait(milliseconds: 23_001))
        #expect(look(at: 42.9995) == .wait(milliseconds: 1))
        #expect(look(at: 43) == .closeAged)
        #expect(look(at: 43) == .wait(milliseconds: 10_001))
        #expect(look(at: 53) == .closeAged)
        #expect(look(at: 53) == .wait(milliseconds: 60_001))
    }

    /// Waits until the thread has not looked for work through a hundred looks at it.
    private func sleeps(_ transport: CurlTransport) async throws {
        var last = -1
        var still = 0
        try await wait(for: "the thread to sleep") {
            let now = transport.loop.turns
            still = now == last ? still + 1 : 0
            last = now
            return still == 100
        }
    }
}
