import Foundation
import Media
import Synchronization
import TerminalUI
import TestSupport
import Testing

/// Whose signals they are while there is a screen, and after it.
///
/// With SIGUSR1, which nobody else here sends; each test runs on a thread of its own that blocks it, as all threads
/// of the program do.
@Suite(.serialized) struct SignalRelayTests {
    private static let told = Atomic<Int>(0)

    @Test func `the screen's thread takes signals that the program blocks, until the screen is over`()
        async throws
    {
        let masks = try await onBlockingThread {
            let pipe = try #require(WakePipe())
            let relay = SignalRelay([SIGUSR1], into: pipe)
            let during = isBlocked()
            pthread_kill(pthread_self(), SIGUSR1)
            let bytes = pipe.drain()
            _ = consume relay
            return (during: during, bytes: bytes, after: isBlocked())
        }
        #expect(!masks.during)
        #expect(masks.bytes == [UInt8(SIGUSR1)])
        #expect(masks.after)
    }

    @Test func `a signal that no screen reads any more goes to whom the program lets wait for it`()
        async throws
    {
        let before = Self.told.load(ordering: .relaxed)
        let count = try await onBlockingThread {
            let pipe = try #require(WakePipe())
            let relay = SignalRelay([SIGUSR1], into: pipe)
            pthread_kill(pthread_self(), SIGUSR1)
            let count = Self.told.load(ordering: .relaxed)
            _ = consume relay
            return count
        }
        #expect(count == before, "the relay had it")
        try await wait(for: "the signal to be handed on") { Self.told.load(ordering: .relaxed) == before + 1 }
    }

    private func isBlocked() -> Bool {
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        return sigismember(&mask, SIGUSR1) == 1
    }

    /// What `body` returns on a thread that blocks SIGUSR1, which every other thread counts in `told`.
    private func onBlockingThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        signal(SIGUSR1) { _ in SignalRelayTests.told.add(1, ordering: .relaxed) }
        return try await withCheckedThrowingContinuation { continuation in
            NamedThread.start("blocking") {
                var set = sigset_t()
                sigemptyset(&set)
                sigaddset(&set, SIGUSR1)
                pthread_sigmask(SIG_BLOCK, &set, nil)
                continuation.resume(with: Result { try body() })
            }
        }
    }
}
