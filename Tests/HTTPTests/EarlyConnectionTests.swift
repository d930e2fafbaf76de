import Glibc
@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// The connection that is begun before libcurl is there.
struct EarlyConnectionTests {
    private static let okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func `the server is reached while libcurl is loaded, and all requests go over that connection`()
        async throws
    {
        let loading = Gate()
        let server = try ScriptedServer(answers: [Self.okay])
        var fixture = TransportFixture()
        fixture.whileLoading = { loading.wait() }
        try await fixture.run(server) { transport in
            transport.warmUp(toward: try server.url())
            try await wait(for: "the connection") { server.connectionCount == 1 }
            loading.open()
            for number in 1...2 {
                let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
                #expect(response.answer.wire.reusedConnection == (number == 2))
                #expect(try await response.body.text() == "ok")
            }
            #expect(server.requests.count == 2)
            #expect(server.connectionCount == 1)
            // As libcurl treats its own.
            let socket = try #require(ClientSockets.connected(to: UInt16(server.port)).first)
            #expect(ClientSockets.option(TCP_NODELAY, of: socket, level: Int32(IPPROTO_TCP)) == 1)
            #expect(ClientSockets.option(SO_KEEPALIVE, of: socket, level: SOL_SOCKET) == 1)
            #expect(fcntl(socket, F_GETFD) == FD_CLOEXEC)
            #expect(fcntl(socket, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test func `a request waits for the name's addresses, which are looked up once`() async throws {
        let lookUp = Gate()
        let server = try ScriptedServer(answers: [Self.okay])
        let asked = Locked<[String]>([])
        var fixture = TransportFixture()
        fixture.lookUp = { host, port in
            asked.withLock { $0.append(host) }
            lookUp.wait()
            // Nobody listens at the first.
            return [
                SocketAddress(numeric: "::1", port: port), SocketAddress(numeric: "127.0.0.1", port: port),
            ]
            .compactMap { $0 }
        }
        try await fixture.run(server) { transport in
            // No name server knows it.
            let url = try #require(WebURL("http://music.invalid:\(server.port)/music.mp3"))
            transport.warmUp(toward: url)
            let sender = Task { try await transport.send(RangeRequest(url: url, range: nil)) }
            // Another server's need not wait for that.
            let other = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            #expect(try await other.body.text() == "ok")
            try await wait(for: "the look-up") { asked.withLock { $0 == ["music.invalid"] } }
            lookUp.open()
            #expect(try await sender.value.body.text() == "ok")
            #expect(server.connectionCount == 2)
            #expect(server.requests.last?.contains("Host: music.invalid:\(server.port)\r\n") == true)
        }
    }

    @Test func `a request that waits for it can be cancelled, and the next takes it`() async throws {
        let lookUp = Gate()
        let server = try ScriptedServer(answers: [Self.okay])
        var fixture = TransportFixture()
        fixture.lookUp = { _, port in
            lookUp.wait()
            return [SocketAddress(numeric: "127.0.0.1", port: port)].compactMap { $0 }
        }
        try await fixture.run(server) { transport in
            let url = try #require(WebURL("http://music.invalid:\(server.port)/music.mp3"))
            transport.warmUp(toward: url)
            try await wait(for: "the thread") { transport.loop.turns > 0 }
            let turns = transport.loop.turns
            let first = Task { try await transport.send(RangeRequest(url: url, range: nil)) }
            try await wait(for: "the thread to take it") { transport.loop.turns > turns }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            let second = Task { try await transport.send(RangeRequest(url: url, range: nil)) }
            lookUp.open()
            #expect(try await second.value.body.text() == "ok")
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `where nobody listens the error is libcurl's own`() async throws {
        let port = try ScriptedServer.refusingPort()
        let url = try #require(WebURL("http://127.0.0.1:\(port)/music.mp3"))
        var errors: [MediaError?] = []
        for isEarly in [false, true] {
            try await TransportFixture().run { transport in
                if isEarly { transport.warmUp(toward: url) }
                errors.append(
                    await mediaError { _ = try await transport.send(RangeRequest(url: url, range: nil)) }
                )
            }
        }
        #expect(errors.first??.code == .connectionRefused)
        #expect(errors.first == errors.last)
    }

    @Test func `where a name has no address the error is libcurl's own`() async throws {
        var fixture = TransportFixture()
        fixture.lookUp = { _, _ in [] }
        let url = try #require(WebURL("http://\(UnknownHost.name)/music.mp3"))
        try await fixture.run { transport in
            transport.warmUp(toward: url)
            let code = await mediaErrorCode {
                _ = try await transport.send(RangeRequest(url: url, range: nil))
            }
            #expect(code == .unknownHost)
        }
    }

    /// The request comes when the connection has been tried for some time.
    @Test(arguments: [0, 4])
    func `a host that does not answer is waited for once, as long as without it`(seconds: Int) async throws {
        let clock = TestClock()
        let silent = try SilentListener()
        var fixture = TransportFixture()
        fixture.configuration.clock = clock
        try await fixture.run { transport in
            let url = try #require(WebURL("http://127.0.0.1:\(silent.port)/music.mp3"))
            transport.warmUp(toward: url)
            clock.advance(by: .seconds(seconds))
            let end = Locked<MediaError?>(nil)
            let sender = Task {
                let error = await mediaError {
                    _ = try await transport.send(RangeRequest(url: url, range: nil))
                }
                end.withLock { $0 = error }
            }
            // The early one is given up before the request is.
            for time in [10_000, seconds * 1_000 + 9_999] {
                try await wait(for: "the watchdog") { clock.sleeperCount == 1 }
                clock.advance(to: .milliseconds(min(time, seconds * 1_000 + 9_999)))
                try await haveLooked(transport)
            }
            #expect(clock.nextWake == .seconds(seconds + 10) && end.withLock { $0 == nil })
            clock.advance(by: .milliseconds(1))
            await sender.value
            #expect(end.withLock { $0?.code } == .connectionFailed)
            #expect(end.withLock { $0?.cause.string.contains("cannot be reached in time") } == true)
        }
        silent.close()
    }

    @Test func `one that nobody asks for anything is closed after ten seconds`() async throws {
        let closed = Locked(0)
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            closed.withLock { $0 += 1 }
        }
        let clock = TestClock()
        var fixture = TransportFixture()
        fixture.configuration.clock = clock
        try await fixture.run(server) { transport in
            transport.warmUp(toward: try server.url())
            try await wait(for: "the connection") { server.connectionCount == 1 }
            clock.advance(by: .milliseconds(9_999))
            try await haveLooked(transport)
            #expect(ClientSockets.connected(to: UInt16(server.port)).count == 1)
            clock.advance(by: .milliseconds(1))
            try await wait(for: "its end") {
                transport.loop.lookAtClock()
                return closed.withLock { $0 == 1 }
            }
            #expect(server.requests.isEmpty)
            // And a request that comes later finds a way.
            _ = await mediaErrorCode {
                _ = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            }
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `the end of the transport closes one that was not used, and a late look-up begins none`()
        async throws
    {
        let server = try ScriptedServer(answers: [Self.okay])
        try await TransportFixture().run(server) { transport in
            transport.warmUp(toward: try server.url())
            try await wait(for: "the connection") { server.connectionCount == 1 }
            await transport.shutdown()
            #expect(ClientSockets.connected(to: UInt16(server.port)).isEmpty)
        }

        let lookUp = Gate()
        let isOver = Locked(false)
        let url = try #require(WebURL("http://music.invalid:\(server.port)/"))
        let target = try #require(EarlyTarget(url, configuration: HTTPConfiguration()))
        let early = EarlyConnection(
            to: target,
            configuration: HTTPConfiguration(),
            lookUp: { _, port in
                lookUp.wait()
                return [SocketAddress(numeric: "127.0.0.1", port: port)].compactMap { $0 }
            },
            onFound: { isOver.withLock { $0 = true } }
        )
        early.begin()
        early.end()
        lookUp.open()
        try await wait(for: "the look-up") { isOver.withLock { $0 } }
        #expect(early.waitingSockets.isEmpty)
        #expect(ClientSockets.connected(to: UInt16(server.port)).isEmpty)
    }

    @Test func `one that the server has closed meanwhile is not used`() async throws {
        let isFirst = Locked(true)
        let server = try ScriptedServer { connection in
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard !isFirst else { return }
            while connection.readRequest() != nil { connection.send(Self.okay) }
        }
        try await TransportFixture().run(server) { transport in
            transport.warmUp(toward: try server.url())
            try await wait(for: "the connection's end") {
                ClientSockets.connected(to: UInt16(server.port)).contains(where: ClientSockets.isEnded)
            }
            let response = try await transport.send(RangeRequest(url: try server.url(), range: nil))
            #expect(try await response.body.text() == "ok")
            #expect(server.connectionCount == 2)
        }
    }

    @Test func `HTTP/2 over TLS goes over it, and its certificate is checked`() async throws {
        let stage = try await HTTP2Stage(fileSize: 100_000)
        try await stage.fixture.run { transport in
            transport.warmUp(toward: stage.url)
            try await wait(for: "the connection") { stage.openConnections == 1 }
            let early = ClientSockets.connected(to: stage.nginx.port).first.flatMap(ClientSockets.ownPort)
            let first = try await transport.send(RangeRequest(url: stage.url, range: 0..<50_000))
            let second = try await transport.send(RangeRequest(url: stage.url, range: 50_000..<100_000))
            #expect(first.answer.wire.version == "HTTP/2")
            #expect(try await first.body.all().count + second.body.all().count == 100_000)
            let used = ClientSockets.connected(to: stage.nginx.port)
            #expect(used.count == 1)
            #expect(used.first.flatMap(ClientSockets.ownPort) == early)
            try await wait(for: "the log") { stage.nginx.accesses.count == 2 }
            #expect(stage.nginx.accesses.allSatisfy { $0.version == "HTTP/2.0" && $0.status == 206 })
        }
        try await TransportFixture().run { transport in
            transport.warmUp(toward: stage.url)
            let code = await mediaErrorCode {
                _ = try await transport.send(RangeRequest(url: stage.url, range: nil))
            }
            #expect(code == .tlsFailed)
        }
    }

    @Test func `an address of IPv6 in the URL is connected to`() async throws {
        let folder = try TemporaryFolder()
        try folder.write("music", to: "music.mp3")
        let nginx = try await NginxServer(serving: folder.path, host: "[::1]")
        try await TransportFixture().run { transport in
            let url = try #require(WebURL(nginx.url("/music.mp3")))
            transport.warmUp(toward: url)
            try await wait(for: "the connection") { ClientSockets.connected(to: nginx.port).count == 1 }
            let early = ClientSockets.connected(to: nginx.port).first.flatMap(ClientSockets.ownPort)
            let response = try await transport.send(RangeRequest(url: url, range: nil))
            #expect(try await response.body.text() == "music")
            #expect(
                ClientSockets.connected(to: nginx.port).compactMap(ClientSockets.ownPort)
                    == [early].compactMap { $0 }
            )
        }
    }

    /// Returns when the thread has looked at the clock, and done what was due.
    private func haveLooked(_ transport: CurlTransport) async throws {
        let turns = transport.loop.turns
        try await wait(for: "a look at the clock") {
            transport.loop.lookAtClock()
            // A turn is counted when it begins.
            return transport.loop.turns >= turns + 2
        }
    }

    @Test func `without libcurl it is closed at once`() async throws {
        let server = try ScriptedServer(answers: [Self.okay])
        let configuration = HTTPConfiguration()
        let loading = Gate()
        let loop = CurlLoop(configuration: configuration) {
            loading.wait()
            return "it is not there"
        }
        let transport = CurlTransport(configuration: configuration, loop: loop)
        transport.warmUp(toward: try server.url())
        try await wait(for: "the connection") { server.connectionCount == 1 }
        loading.open()
        try await wait(for: "its end") { ClientSockets.connected(to: UInt16(server.port)).isEmpty }
        await transport.shutdown()
        server.stop()
    }
}
