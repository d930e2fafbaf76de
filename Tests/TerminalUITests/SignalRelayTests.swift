import Foundation
import Media
import Synchronization
import System
@testable import TerminalUI
import TestSupport
import Testing

/// The thread that receives the signals, during a screen and after it.
///
/// Uses SIGUSR1, which no other test sends; each test runs on a thread of its own that blocks signals, as all
/// threads of the program do.
@Suite(.serialized) struct SignalRelayTests {
    private static let received = Atomic<Int>(0)
    private static let windowChanges = Atomic<Int>(0)

    @Test func `the screen's thread takes signals that the program blocks while it runs`() async throws {
        let masks = try await onBlockingThread {
            let pipe = try #require(WakePipe())
            let relay = SignalRelay([SIGUSR1], into: pipe)
            let during = isBlocked()
            pthread_kill(pthread_self(), SIGUSR1)
            let bytes = pipe.drain()
            _ = consume relay
            return (during: during, bytes: bytes, after: isBlocked())
        }
        #expect(!masks.during && masks.after)
        #expect(masks.bytes == [UInt8(SIGUSR1)])
    }

    @Test func `a signal that the screen did not read is forwarded, unless it is about the screen alone`()
        async throws
    {
        let before = Self.received.load(ordering: .relaxed)
        let changes = Self.windowChanges.load(ordering: .relaxed)
        let during = try await onBlockingThread {
            let relay = SignalRelay([SIGWINCH, SIGUSR1], into: try #require(WakePipe()))
            for signal in [SIGWINCH, SIGUSR1] { pthread_kill(pthread_self(), signal) }
            let count = Self.received.load(ordering: .relaxed)
            _ = consume relay
            return count
        }
        #expect(during == before, "the relay received it")
        // It is forwarded last, so no change of the window can follow.
        try await wait(for: "the signal") { Self.received.load(ordering: .relaxed) == before + 1 }
        #expect(Self.windowChanges.load(ordering: .relaxed) == changes)
    }

    private func isBlocked() -> Bool {
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        return sigismember(&mask, SIGUSR1) == 1
    }

    /// Runs `body` on a thread that blocks two signals, which all other threads receive and count.
    private func onBlockingThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        signal(SIGUSR1) { _ in SignalRelayTests.received.add(1, ordering: .relaxed) }
        signal(SIGWINCH) { _ in SignalRelayTests.windowChanges.add(1, ordering: .relaxed) }
        return try await withCheckedThrowingContinuation { continuation in
            NamedThread.start("blocking") {
                var set = sigset_t()
                sigemptyset(&set)
                for number in [SIGUSR1, SIGWINCH] { sigaddset(&set, number) }
                pthread_sigmask(SIG_BLOCK, &set, nil)
                continuation.resume(with: Result { try body() })
            }
        }
    }
}
