@testable import HTTP
import Media
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

    @Test func `a connection counts as idle from its last transfer on, and the sleep ends when it is due`() {
        var state = IdleConnectionsState(longestIdle: .seconds(30))
        // Before the first transfer there is nothing to close, ever.
        #expect(state.looked(hasTransfers: false, now: .zero) == .wait(milliseconds: .max))
        #expect(state.looked(hasTransfers: true, now: .seconds(1)) == .wait(milliseconds: 60_000))
        #expect(state.looked(hasTransfers: false, now: .seconds(2)) == .wait(milliseconds: 30_001))
        #expect(state.looked(hasTransfers: false, now: .seconds(12)) == .wait(milliseconds: 20_001))
        #expect(state.looked(hasTransfers: true, now: .seconds(31)) == .wait(milliseconds: 60_000))
        #expect(state.looked(hasTransfers: false, now: .seconds(40)) == .wait(milliseconds: 30_001))
        #expect(state.looked(hasTransfers: false, now: .seconds(69.9995)) == .wait(milliseconds: 1))
        #expect(state.looked(hasTransfers: false, now: .seconds(70)) == .close)
        #expect(state.looked(hasTransfers: false, now: .seconds(71)) == .wait(milliseconds: .max))
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
