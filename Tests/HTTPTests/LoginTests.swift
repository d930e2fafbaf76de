import Foundation
@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// The wait for a log-in, with a server that knows one.
struct LoginTests {
    private static let login = WebURL.UserInfo(user: "me", password: "word")
    private static let sent = "Authorization: Basic bWU6d29yZA==\r\n"
    private static let netrc = "machine elsewhere.example\n\tlogin  you   password there"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.netrc, to: ".netrc")
    }

    private func locked() throws -> ScriptedServer {
        try ScriptedServer { connection in
            while let request = connection.readRequest() {
                connection.send(
                    request.contains(Self.sent)
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                        : "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"R\"\r\nContent-Length: 4\r\n\r\ndeny"
                )
            }
        }
    }

    private func logins(asks: Bool = true) -> Logins {
        Logins(keptIn: folder.path("config/reprise/netrc"), asks: asks)
    }

    private func fixture(_ logins: Logins, _ sources: WebURL...) -> TransportFixture {
        TransportFixture {
            $0.netrcFile = folder.path(".netrc")
            $0.secretOrigins = SecretOrigins(sources)
            $0.logins = logins
        }
    }

    /// Answers the questions in turn, as soon as each is asked.
    private func answer(_ logins: Logins, with answers: LoginAnswer...) -> Observation {
        let rest = Locked(answers)
        return logins.observe {
            guard let question = logins.question else { return }
            let next = rest.withLock { $0.isEmpty ? .declined : $0.removeFirst() }
            try? logins.answer(question.number, next)
        }
    }

    private func awaited(_ url: WebURL) -> RangeRequest {
        var request = RangeRequest(url: url, range: nil)
        request.mayAskUser = true
        return request
    }

    @Test func `a request waits for the log-in, and the next ones send it at once`() async throws {
        let server = try locked()
        let logins = logins()
        let wrong = WebURL.UserInfo(user: "me", password: "wrong")
        let answers = answer(logins, with: .login(wrong, isKept: false), .login(Self.login, isKept: false))
        defer { answers.end() }
        try await fixture(logins, server.url()).run(server) { transport in
            let response = try await transport.send(awaited(server.url()))
            #expect(response.answer.requestCount == 3)
            #expect(try await response.body.text() == "ok")
            #expect(try await transport.text(server.url("/next.mp3")) == "ok")
            #expect(server.requests.count == 4)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("config")))
    }

    @Test func `a declined question is a 401, as is a request that nobody waits for`() async throws {
        let server = try locked()
        let logins = logins()
        try await fixture(logins, server.url()).run(server) { transport in
            let quiet = try await transport.get(server.url()).answer
            #expect(quiet.kind == .refused(status: 401) && quiet.mayAskLater && logins.question == nil)
            let answers = answer(logins, with: .declined)
            defer { answers.end() }
            let answer = try await transport.send(awaited(server.url())).answer
            #expect(answer.kind == .refused(status: 401) && !answer.mayAskLater)
            #expect(try await transport.send(awaited(server.url())).answer.kind == .refused(status: 401))
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a digest login is asked for too, and its password is not sent`() async throws {
        let server = try ScriptedServer { connection in
            while let request = connection.readRequest() {
                connection.send(
                    request.contains("Authorization: Digest username=\"me\"")
                        ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                        : "HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"R\", nonce=\"abc\", qop=\"auth\"\r\n"
                            + "Content-Length: 4\r\n\r\ndeny"
                )
            }
        }
        let logins = logins()
        let answers = answer(logins, with: .login(Self.login, isKept: false))
        defer { answers.end() }
        try await fixture(logins, server.url()).run(server) { transport in
            let text = try await transport.send(awaited(server.url())).body.text()
            #expect(text == "ok" && !server.requests.contains { $0.contains("Basic") })
        }
    }

    @Test func `a request that is cancelled waits no longer, and its question stays`() async throws {
        let server = try locked()
        let logins = logins()
        let asked = OneShot<Void>()
        let observation = logins.observe { asked.give(()) }
        defer { observation.end() }
        try await fixture(logins, server.url()).run(server) { transport in
            let request = Task { try await transport.send(awaited(server.url())) }
            await asked.wait(ifCancelled: ())
            request.cancel()
            await #expect(throws: CancellationError.self) { _ = try await request.value }
            try logins.answer(try #require(logins.question).number, .login(Self.login, isKept: false))
            #expect(try await transport.text(server.url()) == "ok")
        }
    }

    @Test func `a redirect to a locked server asks nothing, and sends it no log-in`() async throws {
        let target = try locked()
        let server = try ScriptedServer(answers: [
            "HTTP/1.1 302 F\r\nLocation: \(target.url("/moved"))\r\nContent-Length: 0\r\n\r\n"
        ])
        let logins = logins()
        try await fixture(logins, server.url(), target.url()).run(server) { transport in
            let answer = try await transport.send(awaited(server.url())).answer
            #expect(answer.kind == .refused(status: 401) && !answer.mayAskLater && logins.question == nil)
        }
        #expect(target.requests.count == 1)
        target.stop()
    }

    @Test func `a kept log-in survives in a file for its owner alone, and .netrc stays byte for byte`()
        async throws
    {
        let server = try locked()
        let first = logins()
        let answers = answer(first, with: .login(Self.login, isKept: true))
        defer { answers.end() }
        try await fixture(first, server.url()).run { transport in
            let text = try await transport.send(awaited(server.url())).body.text()
            #expect(text == "ok")
        }
        let path = folder.path("config/reprise/netrc")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("config/reprise")) == ["netrc"]
        )

        let second = logins(asks: false)
        try await fixture(second, server.url()).run(server) { transport in
            let texts = [
                try await transport.text(server.url()), try await transport.text(server.url("/next.mp3")),
            ]
            #expect(texts == ["ok", "ok"])
            #expect(server.requests.suffix(3).map { $0.contains(Self.sent) } == [false, true, true])
        }
        #expect(try String(contentsOfFile: folder.path(".netrc"), encoding: .utf8) == Self.netrc)
    }

    @Test func `what .netrc has is tried first`() async throws {
        let server = try locked()
        try folder.write(
            "machine http://127.0.0.1:\(server.port) login me password wrong\n",
            to: "config/reprise/netrc"
        )
        try folder.write("machine 127.0.0.1 login me password word\n", to: ".netrc")
        try await fixture(logins(asks: false), server.url()).run(server) { transport in
            let text = try await transport.text(server.url())
            #expect(text == "ok" && server.requests.count == 1)
        }
    }

    @Test func `a file in another form is not replaced, and the log-in still counts for the session`()
        async throws
    {
        let server = try locked()
        let path = try folder.write("not a netrc", to: "config/reprise/netrc")
        let logins = logins()
        let failure = Locked<MediaError?>(nil)
        let answers = logins.observe {
            guard let question = logins.question else { return }
            do throws(MediaError) {
                try logins.answer(question.number, .login(Self.login, isKept: true))
            } catch { failure.withLock { $0 = error } }
        }
        defer { answers.end() }
        try await fixture(logins, server.url()).run(server) { transport in
            let text = try await transport.send(awaited(server.url())).body.text()
            #expect(text == "ok")
        }
        #expect(failure.withLock { $0 }?.description.contains("netrc: can't parse it") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "not a netrc")
    }
}
