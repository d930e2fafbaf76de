@testable import HTTP
import Media
import TestSupport
import Testing

/// `~/.netrc`, by libcurl's own parser.
struct NetrcTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `user name and password of the host go to the source's origin, and nowhere else`() async throws
    {
        let stranger = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"])
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 F\r\nLocation: \(stranger.url("/moved"))\r\nContent-Length: 0\r\n\r\n",
        ])
        let fixture = try fixture("machine 127.0.0.1 login me password word\n", sources: [server.url()])
        try await fixture.run(server) { transport in
            _ = try await transport.get(server.url())
            #expect(server.requests.last?.contains("Authorization: Basic bWU6d29yZA==\r\n") == true)
            // Another origin on the same host: once requested by a playlist, once reached by a redirect.
            _ = try await transport.get(stranger.url())
            #expect(try await transport.text(server.url()) == "ok")
            #expect(stranger.requests.count == 2)
            #expect(stranger.requests.allSatisfy { !$0.contains("Authorization") })
        }
        stranger.stop()
    }

    @Test func `the URL's own user name goes before, and the listener's own header before both`() async throws
    {
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        var fixture = try fixture("machine 127.0.0.1 login me password word\n", sources: nil)
        try await fixture.run { transport in
            let url = server.url(userInfo: "you:there@")
            _ = try await transport.get(url)
            #expect(server.requests.last?.contains("Authorization: Basic eW91OnRoZXJl\r\n") == true)
        }
        fixture.configuration.headers = [try #require(RequestHeader(parsing: "Authorization: Bearer x"))]
        try await fixture.run(server) { transport in
            _ = try await transport.get(server.url())
            let fields = server.requests.last?.split(separator: "\r\n").filter {
                $0.hasPrefix("Authorization")
            }
            #expect(fields == ["Authorization: Bearer x"])
        }
    }

    @Test(arguments: ["", "you:there@"])
    func `a server that asks for a digest login gets one, with the password never sent again`(
        userInfo: String
    )
        async throws
    {
        let challenge = "Digest realm=\"R\", nonce=\"abc\", qop=\"auth\""
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                let isKnown = request.contains(
                    "Authorization: Digest username=\"\(userInfo.isEmpty ? "me" : "you")\""
                )
                connection.send(
                    isKnown
                        ? "HTTP/1.1 206 P\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\nok"
                        : "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"R\", \(challenge)\r\nContent-Length: 4\r\n\r\ndeny"
                )
            }
        }
        try await fixture("machine 127.0.0.1 login me password word\n", sources: [server.url()]).run(server) {
            transport in
            for count in [3, 2] {
                let response = try await transport.get(server.url(userInfo: userInfo), 2..<4)
                #expect(response.answer.requestCount == count)
                #expect(try await response.body.text() == "ok")
            }
            #expect(server.requests.count { $0.contains("Basic") } == 1)
            #expect(server.requests.count { $0.contains("response=") } == 2)
        }
    }

    @Test(arguments: ["MD5", "unknown-algorithm"])
    func `a digest login that is refused, or that libcurl can't answer, is a 401`(algorithm: String)
        async throws
    {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"R\", nonce=\"abc\", algorithm=\(algorithm)\r\n"
                + "Content-Length: 4\r\n\r\ndeny"
        ])
        try await fixture(nil, sources: nil).run(server) { transport in
            let answer = try await transport.get(server.url(userInfo: "me:word@")).answer
            #expect(answer.kind == .refused(status: 401))
            #expect(server.requests.count <= 3)
        }
    }

    @Test func `no digest login goes to a server that the user did not name`() async throws {
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"R\", nonce=\"abc\"\r\nContent-Length: 0\r\n\r\n"
        ])
        let other = try #require(WebURL("http://other.example/"))
        try await fixture("machine 127.0.0.1 login me password word\n", sources: [other]).run(server) {
            transport in
            _ = try await transport.get(server.url(userInfo: "me:word@"))
            #expect(server.requests.count == 1 && !server.requests[0].contains("Authorization"))
        }
    }

    @Test(arguments: [nil, "machine other.example login me password word\n", ""])
    func `without an entry for the host the request goes without`(content: String?) async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        try await fixture(content, sources: nil).run(server) { transport in
            _ = try await transport.get(server.url())
            #expect(server.requests.last?.contains("Authorization") == false)
        }
    }

    @Test func `a file that cannot be understood is named, without what is in it`() async throws {
        let server = try ScriptedServer(answers: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        let content = "machine 127.0.0.1 login me password \"secret\n"
        try await fixture(content, sources: nil).run(server) { transport in
            let error = await transport.failure(server.url())
            #expect(error?.code == .unreadable)
            #expect(error?.cause.string.contains("netrc") == true)
            #expect(error?.description.contains("secret") == false)
            #expect(server.requests.isEmpty)
        }
    }

    private func fixture(_ content: String?, sources: [WebURL]?) throws -> TransportFixture {
        if let content { try folder.write(content, to: "netrc") }
        return TransportFixture {
            $0.netrcFile = folder.path("netrc")
            $0.secretOrigins = sources.map { SecretOrigins($0) }
        }
    }
}
