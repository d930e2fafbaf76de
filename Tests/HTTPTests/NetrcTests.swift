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
