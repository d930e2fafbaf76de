@testable import HTTP
import Media
import System
import TestSupport
import Testing

struct RedirectTests {
    private let fixture = TransportFixture()

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is followed, counted, and keeps the range and the connection`(status: Int) async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 \(status) Moved\r\nLocation: other.mp3\r\nContent-Length: 4\r\n\r\nmove",
            "HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\nok",
        ])
        try await fixture.run(server) { transport in
            let request = RangeRequest(url: server.url("/a/music.mp3"), range: 2..<4)
            let response = try await transport.send(request)
            #expect(response.answer.requestCount == 2)
            #expect(try await response.body.text() == "ok")
            #expect(server.requests.last?.hasPrefix("GET /a/other.mp3 HTTP/1.1\r\n") == true)
            #expect(server.requests.last?.contains("Range: bytes=2-3\r\n") == true)
            #expect(server.connectionCount == 1)
        }
    }

    @Test func `a redirect with an endless body is followed without it`() async throws {
        let server = try ScriptedServer { connection in
            guard let request = connection.readRequest() else { return }
            if request.hasPrefix("GET /end ") {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            } else {
                connection.send("HTTP/1.1 302 Found\r\nLocation: /end\r\n\r\n")
                while connection.send("more and more") {}
            }
        }
        try await fixture.run(server) { transport in
            let text = try await transport.text(server.url())
            #expect(text == "ok")
        }
    }

    @Test func `secrets stay with the origin they were given for, and return to it`() async throws {
        // The way is home, elsewhere, home again; `elsewhere` learns home's port only afterwards.
        let homePort = Locked(0)
        let elsewhere = try ScriptedServer { connection in
            while connection.readRequest() != nil {
                let location = "http://127.0.0.1:\(homePort.withLock { $0 })/back"
                connection.send("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let location = "http://their:own@127.0.0.1:\(elsewhere.port)/"
        let home = try ScriptedServer(answers: [
            "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        ])
        homePort.withLock { $0 = home.port }
        let token = try #require(RequestHeader(parsing: "X-Token: secret"))
        try await TransportFixture { $0.headers = [token] }.run(home) { transport in
            let url = home.url("/", userInfo: "me:s%65cret@")
            let answer = try await transport.get(url).answer
            #expect(answer.kind == .whole(length: 0))
            #expect(answer.requestCount == 3)
            for request in home.requests {
                #expect(request.contains("Authorization: Basic bWU6c2VjcmV0\r\n"))
                #expect(request.contains("X-Token: secret\r\n"))
            }
            let foreign = try #require(elsewhere.requests.first)
            #expect(!foreign.contains("Authorization") && !foreign.contains("X-Token"))
        }
        elsewhere.stop()
    }

    @Test func `ten redirects are followed; the eleventh and a loop are refused`() async throws {
        let url = try #require(WebURL("http://a.example/0"))
        var redirects = RedirectState(original: url, first: url)
        for number in 1...10 { #expect(try redirects.redirected(to: "/\(number)").path == "/\(number)") }
        #expect(redirects.count == 10)
        #expect(await mediaError { _ = try redirects.redirected(to: "/11") }?.code == .tooManyRedirects)
        var loop = RedirectState(original: url, first: url)
        _ = try loop.redirected(to: "/1")
        #expect(await mediaError { _ = try loop.redirected(to: "/0") }?.code == .tooManyRedirects)
    }

    @Test(
        arguments: [
            ("http://a.example/", "https://a.example/", nil),
            ("https://a.example/", "http://a.example/", .tlsFailed),
            ("https://a.example/", "//b.example/", nil),
            ("http://a.example/", "file:///etc/passwd", .unsupportedScheme),
            ("http://a.example/", "ftp://a.example/", .unsupportedScheme),
            ("http://a.example/", "http://", .unsupportedScheme),
        ] as [(String, String, MediaError.Code?)]
    )
    func `a redirect leads only to the web and never out of encryption`(
        from: String,
        to location: String,
        code: MediaError.Code?
    ) async throws {
        let url = try #require(WebURL(from))
        var redirects = RedirectState(original: url, first: url)
        #expect(await mediaError { _ = try redirects.redirected(to: location) }?.code == code)
    }

    @Test(arguments: [
        ("/b", true), ("http://a.example/b", true), ("http://x:y@a.example/b", true),
        ("http://b.example/", false), ("https://a.example/", false), ("http://a.example:81/", false),
        ("http://x:y@b.example/", false),
    ])
    func `only the first origin gets the listener's secrets`(location: String, isReported: Bool) throws {
        let url = try #require(WebURL("http://me:secret@a.example/a"))
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        var redirects = RedirectState(original: url, first: url)
        let target = try redirects.redirected(to: location)
        let request = RangeRequest(url: url, range: nil)
        let wire = WireRequest(request, over: Route(target: target), configuration: configuration)
        #expect(wire.credentials == (isReported ? WebURL.UserInfo(user: "me", password: "secret") : nil))
        #expect(wire.headerLines.contains("X-Token: secret") == isReported)
        #expect(!wire.url.contains("@"))
    }
}

/// Targets of redirects are remembered as long as they are useful.
struct RouteMemoryTests {
    private let fixture = TransportFixture()
    private static let part = "HTTP/1.1 206 P\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\nok"

    @Test func `a target is forgotten if unused for ten minutes, on demand, or if the original answers`()
        throws
    {
        var memory = RouteMemory()
        let original = try url("http://a.example/")
        let target = try url("http://b.example/")
        #expect(memory.route(of: original, now: .zero) == nil)
        memory.answered(original, over: Route(target: target), now: .zero)
        #expect(memory.route(of: original, now: .seconds(599))?.target == target)
        #expect(memory.route(of: original, now: .seconds(1_198))?.target == target)
        #expect(memory.route(of: original, now: .seconds(1_798)) == nil)
        memory.answered(original, over: Route(target: target), now: .zero)
        memory.forget(original)
        #expect(memory.route(of: original, now: .zero) == nil)
        memory.answered(original, over: Route(target: target), now: .zero)
        memory.answered(original, over: Route(target: original), now: .zero)
        #expect(memory.route(of: original, now: .zero) == nil)
    }

    @Test func `only the 64 targets that were used last are remembered`() throws {
        var memory = RouteMemory()
        let target = try url("http://b.example/")
        let originals = try (0...RouteMemory.mostRoutes).map { try url("http://a.example/\($0)") }
        for (number, original) in originals.enumerated() {
            memory.answered(original, over: Route(target: target), now: .seconds(number))
            if number == 1 { _ = memory.route(of: originals[0], now: .seconds(2)) }
        }
        let now = Duration.seconds(RouteMemory.mostRoutes)
        #expect(originals.prefix(3).map { memory.route(of: $0, now: now)?.target } == [target, nil, target])
    }

    @Test func `a request that stays on its host follows no redirect to another one`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try redirecting(to: target, times: .max)
        try await fixture.run(original) { transport in
            var request = RangeRequest(url: original.url(), range: 2..<4)
            request.staysOnHost = true
            let error = await mediaError { _ = try await transport.send(request) }
            #expect(error?.code == .badAnswer)
            #expect(original.requests.count == 1 && target.requests.isEmpty)
        }
        target.stop()
    }

    @Test func `the second window goes straight to the target, without the secrets`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try redirecting(to: target, times: .max)
        let token = try #require(RequestHeader(parsing: "X-Token: secret"))
        try await TransportFixture { $0.headers = [token] }.run(original) { transport in
            let url = original.url("/", userInfo: "me:secret@")
            for number in 0..<3 {
                let response = try await transport.get(url, 2..<4)
                #expect(response.answer.requestCount == (number == 0 ? 2 : 1))
                #expect(response.answer.wire.redirectedHost == "localhost")
                #expect(try await response.body.text() == "ok")
            }
            #expect(original.requests.count == 1)
            #expect(target.requests.count == 3)
            #expect(target.connectionCount == 1)
            #expect(target.requests.allSatisfy { !$0.contains("Authorization") && !$0.contains("X-Token") })
        }
        target.stop()
    }

    @Test func `a target that is gone makes the original be asked, which answers itself then`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try redirecting(to: target, times: 1)
        try await fixture.run(original) { transport in
            let request = RangeRequest(url: original.url(), range: 2..<4)
            let first = try await transport.send(request)
            #expect(try await first.body.text() == "ok")
            target.stop()
            for count in [2, 1] {
                let response = try await transport.send(request)
                #expect(response.answer.requestCount == count)
                #expect(try await response.body.text() == "ok")
            }
            #expect(original.requests.count == 3)
        }
    }

    @Test func `whether something has changed is asked of the original`() async throws {
        let target = try ScriptedServer(answers: [Self.part, "HTTP/1.1 304 Not Modified\r\n\r\n"])
        let original = try redirecting(to: target, times: .max)
        try await fixture.run(original) { transport in
            let url = original.url()
            #expect(try await transport.text(url, 2..<4) == "ok")
            let again = RangeRequest(url: url, range: nil, unlessMatches: Validators(etag: "\"a\""))
            let answer = try await transport.send(again).answer
            #expect(answer.kind == .notModified)
            #expect(answer.requestCount == 2)
            #expect(original.requests.count == 2)
        }
        target.stop()
    }

    /// A server that redirects the first `times` requests to `target` and answers the others itself.
    private func redirecting(to target: ScriptedServer, times: Int) throws -> ScriptedServer {
        let left = Locked(times)
        let location = "http://localhost:\(target.port)/there"
        return try ScriptedServer { connection in
            while connection.readRequest() != nil {
                let redirects = left.withLock { left in
                    defer { left -= left > 0 ? 1 : 0 }
                    return left > 0
                }
                connection.send(
                    redirects
                        ? "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
                        : Self.part
                )
            }
        }
    }

    @Test(
        arguments: [
            ("k=1; Path=/", "/", "k=1"), ("k=1; Secure; HttpOnly; Max-Age=60", "/", "k=1"),
            ("token=a=b==; Domain=.example.com; Path=/elsewhere", "/deep/music.flac?x=1", "token=a=b=="),
            ("z=2\r\nSet-Cookie: a=1", "/song.ogg", "a=1; z=2"), (" spaced = 7 ", "/", "spaced=7"),
            ("k=old\r\nSet-Cookie: k=new", "/", "k=new"),
        ]
    )
    func `a cookie of a redirect to the same URL opens it, and is sent with every later request`(
        cookie: String,
        path: String,
        sent: String
    ) async throws {
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                let hasCookie = request.contains("Cookie: \(sent)\r\n")
                let redirect =
                    "HTTP/1.1 302 F\r\nSet-Cookie: \(cookie)\r\nLocation: \(path)\r\nContent-Length: 0\r\n\r\n"
                connection.send(hasCookie ? Self.part : redirect)
            }
        }
        try await fixture.run(server) { transport in
            for count in [2, 1, 1] {
                let response = try await transport.get(server.url(path), 2..<4)
                #expect(response.answer.requestCount == count)
                #expect(try await response.body.text() == "ok")
            }
            _ = try await transport.get(server.url("/other.mp3"), 2..<4)
            #expect(server.requests[4].contains("Cookie") == false, "another resource has its own cookies")
        }
    }

    @Test func `a cookie is sent only to the host that set it`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try ScriptedServer { connection in
            while connection.readRequest() != nil {
                let location = "http://localhost:\(target.port)/there"
                connection.send(
                    "HTTP/1.1 302 F\r\nSet-Cookie: k=1; Domain=localhost\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
                )
            }
        }
        try await fixture.run(original) { transport in
            for _ in 0..<2 {
                let text = try await transport.text(original.url(), 2..<4)
                #expect(text == "ok")
            }
            #expect(target.requests.count == 2 && target.requests.allSatisfy { !$0.contains("Cookie") })
        }
        target.stop()
    }

    @Test func `redirects that always set another cookie end`() async throws {
        let count = Locked(0)
        let server = try ScriptedServer { connection in
            while connection.readRequest() != nil {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                connection.send(
                    "HTTP/1.1 302 F\r\nSet-Cookie: k=\(number)\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
                )
            }
        }
        try await fixture.run(server) { transport in
            #expect(await transport.failure(server.url("/"))?.code == .tooManyRedirects)
            #expect(server.requests.count == 11)
        }
    }

    @Test func `the requests of a stream share the cookies of its answers, each for its own host`()
        async throws
    {
        let answer = { (name: String) in
            "HTTP/1.1 200 OK\r\nSet-Cookie: \(name)=1; Domain=localhost\r\nContent-Length: 2\r\n\r\nok"
        }
        let server = try ScriptedServer(answers: ["list", "key", "later"].map(answer))
        let other = try ScriptedServer(answers: [answer("other")])
        try await fixture.run(server) { transport in
            let list = server.url("/list.m3u8")
            // Nothing shows yet that this is the list of a stream.
            _ = try await transport.text(list)
            let elsewhere = try url("http://localhost:\(other.port)/s0.ts")
            for url in [server.url("/key"), server.url("/s0.ts"), elsewhere, elsewhere] {
                let response = try await transport.send(RangeRequest(url: url, range: nil, stream: list))
                #expect(try await response.body.text() == "ok")
            }
            #expect(!server.requests[0].contains("Cookie"))
            #expect(server.requests[1].contains("Cookie: list=1\r\n"))
            #expect(server.requests[2].contains("Cookie: key=1; list=1\r\n"))
            #expect(!other.requests[0].contains("Cookie"))
            #expect(other.requests[1].contains("Cookie: other=1\r\n"))
            // Other streams and tracks do not get them.
            let stream = server.url("/another.m3u8")
            _ = try await transport.send(RangeRequest(url: server.url("/s1.ts"), range: nil, stream: stream))
            _ = try await transport.text(server.url("/music.mp3"))
            _ = try await transport.text(list)
            #expect(server.requests[3...].allSatisfy { !$0.contains("Cookie") })
        }
        other.stop()
    }

    @Test func `the cookies of a redirect within a stream are those of the stream`() async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 302 F\r\nSet-Cookie: k=1\r\nLocation: /s0.ts\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ])
        try await fixture.run(server) { transport in
            let list = server.url("/list.m3u8")
            for path in ["/s0.ts", "/s1.ts"] {
                let request = RangeRequest(url: server.url(path), range: nil, stream: list)
                let response = try await transport.send(request)
                #expect(try await response.body.text() == "ok")
            }
            #expect(server.requests.map { $0.contains("Cookie: k=1\r\n") } == [false, true, true])
        }
    }

    @Test func `the cookies of a bounded number of streams and hosts are held`() throws {
        var cookies = StreamCookies()
        let streams = try (0..<40).map { try url("http://h/\($0)") }
        for stream in streams {
            let isNew = cookies.receive(["k=1"], from: "h", of: stream)
            #expect(isNew)
        }
        let known = streams.indices.filter { !cookies.jar(of: streams[$0]).isEmpty }
        #expect(known == Array(24..<40))
        var jar = CookieJar()
        for number in 0..<40 { _ = jar.receive(["k=1"], from: "h\(number)") }
        let hosts = (0..<40).filter { [jar] in jar.field(for: "h\($0)") != nil }
        #expect(hosts == Array(0..<16))
    }

    @Test func `cookies are bounded, and what is none is ignored`() {
        var cookies = CookieJar()
        let bad = ["", "=1", "no value", "a b=1", "k=" + String(repeating: "x", count: 4_096)]
        let isChanged = [
            cookies.receive(bad, from: "a"), cookies.receive((0..<30).map { "k\($0)=1" }, from: "a"),
            cookies.receive(["k3=2"], from: "a"), cookies.receive(["k3=2"], from: "a"),
        ]
        #expect(isChanged == [false, true, true, false])
        #expect(cookies.field(for: "a")?.split(separator: ";").count == 20)
        #expect(cookies.field(for: "b") == nil)
    }

    private func url(_ text: String) throws -> WebURL { try #require(WebURL(text)) }
}
