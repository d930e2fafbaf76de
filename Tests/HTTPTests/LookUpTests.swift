import Glibc
@testable import HTTP
import Media
import System
import TestSupport
import Testing

/// Look-ups of hosts' names that fail, or have no answer.
struct LookUpTests {
    @Test func `a look-up without an answer does not outlast the time to connect, and can be cancelled`()
        async throws
    {
        let clock = TestClock()
        let asked = Locked(0)
        let answer = Gate()
        let fixture = TransportFixture {
            $0.clock = clock
            $0.localNetwork.hasRoute = { true }
            $0.localNetwork.nameStatus = { _ in
                asked.withLock { $0 += 1 }
                answer.wait()
                return EAI_NONAME
            }
        }
        try await fixture.run { transport in
            let url = try #require(WebURL("http://\(UnknownHost.name)/a.mp3"))
            let late = Task { await transport.failure(url) }
            try await wait(for: "the question") { asked.withLock { $0 } == 1 && clock.sleeperCount == 1 }
            clock.advance(by: .seconds(10))
            let error = await late.value
            #expect(error?.code == .networkUnreachable && error?.deadOrigin == nil)
            #expect(error?.cause.string.hasPrefix("can't look up host \(UnknownHost.name);") == true)
            let cancelled = Task { try await transport.get(url) }
            try await wait(for: "the second question") { asked.withLock { $0 } == 2 }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        }
        answer.open()
    }

    /// What another host does around a look-up that fails.
    enum OtherHost: Sendable, CaseIterable {
        case answersBefore, answersMeanwhile, sendsMoreMeanwhile, answersBehindProxy, needsNoNameServer
    }

    @Test(arguments: OtherHost.allCases, [false, true])
    func `if another host answers during a look-up in vain, the fault is the name's`(
        other: OtherHost,
        isLate: Bool
    ) async throws {
        let sendsMore = Gate()
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no")
            sendsMore.wait()
            connection.send("k")
        }
        let clock = TestClock()
        let isAsked = Locked(false)
        let answer = Gate()
        let fixture = TransportFixture {
            $0.clock = clock
            $0.hasProxy = other == .answersBehindProxy
            // The server of this test has an address instead of a name.
            if other != .needsNoNameServer { $0.localNetwork.needsNameServer = { _ in true } }
            $0.localNetwork.hasRoute = { true }
            $0.localNetwork.nameStatus = { _ in
                isAsked.withLock { $0 = true }
                answer.wait()
                return EAI_AGAIN
            }
        }
        try await fixture.run(server) { transport in
            let url = try #require(WebURL("http://\(UnknownHost.name)/a.mp3"))
            let isBegun = other == .answersBefore || other == .sendsMoreMeanwhile
            let early = isBegun ? try await transport.get(server.url()).body : nil
            if let early { #expect(try await early.next() == Array("o".utf8)) }
            if other == .answersBefore {
                sendsMore.open()
                #expect(try await early?.next() == Array("k".utf8))
            }
            let failing = Task { await transport.failure(url) }
            try await wait(for: "the question") { isAsked.withLock { $0 } && clock.sleeperCount > 0 }
            if other != .answersBefore { sendsMore.open() }
            let during = isBegun ? early : try await transport.get(server.url()).body
            while try await during?.next() != nil {}
            if isLate { clock.advance(by: .seconds(10)) } else { answer.open() }
            let error = await failing.value
            let isTheNames = [.answersMeanwhile, .sendsMoreMeanwhile].contains(other)
            #expect(error?.code == (isTheNames ? .unknownHost : .networkUnreachable))
            #expect(error?.deadOrigin == (isTheNames ? url.origin : nil))
            let part = isTheNames ? "its name servers" : "this machine's network"
            #expect(error?.cause.string.contains(part) == true, "\(error?.cause as Any)")
        }
        answer.open()
    }

    @Test(arguments: [
        ("music.example.com", true), ("a.b1", true), ("www.münchen.de", true), ("h.example.com.", true),
        ("127.0.0.1", false), ("192.168.1.5", false), ("93.184.215.14", false), ("127.1", false),
        ("1.0x7f", false), ("::1", false), ("::ffff:1.2.3.4", false), ("localhost", false),
        ("a.localhost", false), ("nas", false), ("nas.local", false), ("nas.lan", false), (".", false),
        ("nas.home.arpa", false), ("", false),
    ])
    func `addresses, this machine and names of a local network need no name server of the internet`(
        host: String,
        needsOne: Bool
    ) {
        #expect(LocalNetwork().needsNameServer(host) == needsOne)
    }

    @Test func `the end of the transport ends a request whose host is being looked up`() async throws {
        let isAsked = Locked(false)
        let answer = Gate()
        let fixture = TransportFixture {
            $0.localNetwork.hasRoute = { true }
            $0.localNetwork.nameStatus = { _ in
                isAsked.withLock { $0 = true }
                answer.wait()
                return EAI_NONAME
            }
        }
        let transport = CurlTransport(configuration: fixture.configuration)
        let url = try #require(WebURL("http://\(UnknownHost.name)/a.mp3"))
        let isOver = Locked(false)
        let request = Task {
            defer { isOver.withLock { $0 = true } }
            _ = try await transport.get(url)
        }
        try await wait(for: "the question") { isAsked.withLock { $0 } }
        await transport.shutdown()
        try await wait(for: "the end of the request") { isOver.withLock { $0 } }
        await #expect(throws: CancellationError.self) { try await request.value }
        answer.open()
    }
}
