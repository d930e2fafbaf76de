@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// Where redirects led is kept in memory, for as long as it is of use.
struct RedirectMemoryTests {
    private let fixture = TransportFixture()
    private static let part = "HTTP/1.1 206 P\r\nContent-Range: bytes 2-3/4\r\nContent-Length: 2\r\n\r\nok"

    @Test func `a target is kept while it is asked for, and forgotten after a while`() throws {
        var memory = RedirectMemory()
        let (original, target) = (try url("http://a.example/"), try url("http://b.example/"))
        #expect(memory.target(of: original, now: .zero) == nil)
        memory.answered(original, by: target, now: .zero)
        #expect(memory.target(of: original, now: .seconds(599)) == target)
        #expect(memory.target(of: original, now: .seconds(1_198)) == target)
        #expect(memory.target(of: original, now: .seconds(1_798)) == nil)
        #expect(memory.target(of: original, now: .zero) == nil)
    }

    @Test func `a target is forgotten when told, and when the original answers itself`() throws {
        var memory = RedirectMemory()
        let (original, target) = (try url("http://a.example/"), try url("http://b.example/"))
        memory.answered(original, by: target, now: .zero)
        memory.forget(original)
        #expect(memory.target(of: original, now: .zero) == nil)
        memory.answered(original, by: target, now: .zero)
        memory.answered(original, by: original, now: .zero)
        #expect(memory.target(of: original, now: .zero) == nil)
    }

    @Test func `only so many are kept, the last used ones`() throws {
        var memory = RedirectMemory()
        let target = try url("http://b.example/")
        for number in 0...RedirectMemory.mostTargets {
            let time = Duration.seconds(number)
            memory.answered(try url("http://a.example/\(number)"), by: target, now: time)
            if number == 1 { _ = memory.target(of: try url("http://a.example/0"), now: time + .seconds(1)) }
        }
        let now = Duration.seconds(RedirectMemory.mostTargets)
        #expect(memory.target(of: try url("http://a.example/0"), now: now) == target)
        #expect(memory.target(of: try url("http://a.example/1"), now: now) == nil)
        #expect(memory.target(of: try url("http://a.example/2"), now: now) == target)
    }

    @Test func `the second window goes straight to the target, without the secrets`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try redirecting(to: target, times: .max)
        var configuration = HTTPConfiguration()
        configuration.headers = [try #require(RequestHeader(parsing: "X-Token: secret"))]
        try await TransportFixture(configuration: configuration).run(original) { transport in
            let url = try original.url("/", userInfo: "me:secret@")
            for number in 0..<3 {
                let response = try await transport.send(RangeRequest(url: url, range: 2..<4))
                #expect(response.answer.requestCount == (number == 0 ? 2 : 1))
                #expect(try await response.body.text() == "ok")
            }
            #expect(original.requests.count == 1)
            #expect(target.requests.count == 3)
            #expect(target.connectionCount == 1)
            #expect(target.requests.allSatisfy { !$0.contains("Authorization") && !$0.contains("X-Token") })
        }
        target.stop()
    }

    @Test(arguments: [401, 403, 404, 410])
    func `an expired target makes the original be asked once more`(status: Int) async throws {
        let gone = "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n"
        let target = try ScriptedServer(answers: [Self.part, gone, Self.part, gone])
        let original = try redirecting(to: target, times: .max)
        try await fixture.run(original) { transport in
            let request = RangeRequest(url: try original.url(), range: 2..<4)
            for count in [2, 3] {
                let response = try await transport.send(request)
                #expect(response.answer.kind == .part(range: 2..<4, total: 4))
                #expect(response.answer.requestCount == count)
                #expect(try await response.body.text() == "ok")
            }
            // Gone for good: the original leads there again, and its word is the last.
            let last = try await transport.send(request).answer
            #expect(last.kind == .refused(status: status))
            #expect(last.requestCount == 3)
            let more = try await transport.send(request).answer
            #expect(more.requestCount == 2)
        }
        target.stop()
    }

    @Test func `a target that is gone makes the original be asked, which answers itself then`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try redirecting(to: target, times: 1)
        try await fixture.run(original) { transport in
            let request = RangeRequest(url: try original.url(), range: 2..<4)
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
            let url = try original.url()
            let first = try await transport.send(RangeRequest(url: url, range: 2..<4))
            #expect(try await first.body.text() == "ok")
            let again = RangeRequest(url: url, range: nil, unlessMatches: Validators(etag: "\"a\""))
            let answer = try await transport.send(again).answer
            #expect(answer.kind == .notModified)
            #expect(answer.requestCount == 2)
            #expect(original.requests.count == 2)
        }
        target.stop()
    }

    @Test func `the journal is told which host answered`() async throws {
        let target = try ScriptedServer(answers: [Self.part])
        let original = try ScriptedServer(answers: [
            "HTTP/1.1 302 Found\r\nLocation: http://localhost:\(target.port)/\r\nContent-Length: 0\r\n\r\n"
        ])
        try await fixture.run(original) { transport in
            let answer = try await transport.send(RangeRequest(url: try original.url(), range: 2..<4)).answer
            #expect(answer.wire.redirectedHost == "localhost")
        }
        target.stop()
    }

    /// A server that redirects the first `times` requests to `target` and answers the others itself.
    private func redirecting(to target: ScriptedServer, times: Int) throws -> ScriptedServer {
        let left = Locked(times)
        let location = try target.url("/there")
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

    private func url(_ text: String) throws -> WebURL { try #require(WebURL(text)) }
}
