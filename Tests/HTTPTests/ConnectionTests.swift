@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// The opening, reuse and closing of connections, and the sleep of the thread in between.
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
            let held = server.url("/held")
            let first = Task { try await transport.get(held).body.text() }
            try await wait(for: "the first window") { server.requests.count == 1 }
            _ = try await transport.get(server.url("/next")).body.text()
            gate.open()
            _ = try await first.value
            #expect(server.connectionCount == 2)

            let window = try await transport.get(server.url("/window"))
            for isCancelled in [false, true] {
                if isCancelled { window.body.cancel() }
                let request = RangeRequest(url: server.url("/demanded"), range: nil)
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
        try await TransportFixture { $0.clock = clock }.run(server) { transport in
            for number in 1...2 {
                let request = RangeRequest(url: server.url(), range: nil)
                #expect(try await transport.send(request).body.text() == "ok")
                #expect(server.connectionCount == number)
                #expect(closed.withLock { $0 } == number - 1)
                try await wait(for: "the connection's end") {
                    clock.advance(by: .seconds(31))
                    transport.lookAtClock()
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
        let clock = CountingClock(SystemClock())
        try await TransportFixture { $0.clock = clock }.run(server) { transport in
            let quick = RangeRequest(url: server.url("/quick"), range: nil)
            #expect(try await transport.send(quick).body.text() == "ok")
            try await sleeps(clock)
            let slow = RangeRequest(url: server.url("/slow"), range: nil)
            let waiting = Task { try await transport.send(slow) }
            try await wait(for: "the request") { server.requests.count == 2 }
            try await sleeps(clock)
            waiting.cancel()
            _ = await waiting.result
        }
    }

    /// The clock stands at ten minutes when the second request follows, and nothing but the transfer holds
    /// the thread up.
    @Test func `beside a running transfer no connection is closed for being idle`() async throws {
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
            }
            closed.withLock { $0 += 1 }
        }
        let clock = TestClock()
        let looks = CountingClock(clock)
        let fixture = TransportFixture {
            $0.clock = looks
            $0.timeouts.idle = .seconds(3_600)
        }
        try await fixture.run(server) { transport in
            let radio = try await transport.get(server.url("/radio"))
            for _ in 1...2 {
                #expect(try await transport.text(server.url()) == "ok")
                clock.advance(by: .seconds(600))
                let before = looks.readCount
                try await wait(for: "two looks at the clock") {
                    transport.lookAtClock()
                    return looks.readCount >= before + 2
                }
            }
            #expect(server.connectionCount == 2)
            #expect(closed.withLock { $0 } == 0)
            more.open()
            #expect(try await radio.body.text() == "musicafter")
            try await wait(for: "the ends of both connections") {
                clock.advance(by: .seconds(31))
                transport.lookAtClock()
                return closed.withLock { $0 } == 2
            }
        }
    }

    @Test(
        arguments: [
            (nil, 0, .max), (32, 2, 30_001), (32, 12, 20_001), (164.5, 164.4995, 1), (164.5, 164.5, nil),
            (32, 40, nil),
        ] as [(Double?, Double, Int32?)]
    )
    func `the thread sleeps until it is time to close the connections`(
        closesAt: Double?,
        now: Double,
        milliseconds: Int32?
    ) {
        let closesAt = closesAt.map { Duration.seconds($0) }
        #expect(CurlLoop.longestSleep(until: closesAt, now: .seconds(now)) == milliseconds)
    }

    /// Waits until `clock` was not read during a hundred checks.
    private func sleeps(_ clock: CountingClock) async throws {
        var last = -1
        var still = 0
        try await wait(for: "the thread to sleep") {
            let now = clock.readCount
            still = now == last ? still + 1 : 0
            last = now
            return still == 100
        }
    }
}

/// A clock that counts how often it is read: the thread reads it whenever it has woken.
private final class CountingClock: MonotonicClock {
    private let clock: any MonotonicClock
    private let reads = Locked(0)

    init(_ clock: any MonotonicClock) { self.clock = clock }

    var readCount: Int { reads.withLock { $0 } }

    var now: Duration {
        reads.withLock { $0 += 1 }
        return clock.now
    }

    func sleep(until time: Duration) async throws { try await clock.sleep(until: time) }
}

extension CurlTransport {
    /// Wakes the thread, which then looks at the clock: a command for a transfer that does not exist has no
    /// effect.
    fileprivate func lookAtClock() { loop.post(.remove(Transfer.ID(value: 0))) }
}
