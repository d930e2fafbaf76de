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
