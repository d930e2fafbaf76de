import Media
import System
import TestSupport
import Testing

@Suite
struct TestClockTests {
    @Test func `a sleep ends when its time has come and not before`() async throws {
        let clock = TestClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
        try await wait(for: "the sleeper") { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(9_999))
        #expect(clock.now == .milliseconds(9_999) && clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await sleeper.value
        #expect(clock.now == .seconds(10) && clock.sleeperCount == 0)
    }

    @Test func `a sleep until a time that has passed returns at once`() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(5))
        let hasEnded = Locked(false)
        let sleeper = Task {
            for time in [Duration.seconds(5), .zero] { try await clock.sleep(until: time) }
            hasEnded.withLock { $0 = true }
        }
        defer { sleeper.cancel() }
        try await wait(for: "the sleeps") { hasEnded.withLock { $0 } || clock.sleeperCount > 0 }
        #expect(hasEnded.withLock { $0 })
    }

    @Test func `a cancelled sleep throws, whether it had begun or not`() async throws {
        let clock = TestClock()
        let begun = Task { try await clock.sleep(for: .seconds(1)) }
        try await wait(for: "the sleeper") { clock.sleeperCount == 1 }
        begun.cancel()
        await #expect(throws: CancellationError.self) { try await begun.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `sleepers wake in the order of their times`() async throws {
        let clock = TestClock()
        let (woken, continuation) = AsyncStream.makeStream(of: Int.self)
        let thread = WorkThread(name: "one by one")
        defer { thread.stop() }
        // One thread runs all sleepers, so that the order of waking is the order of running.
        let sleepers = [3, 1, 2].map { second in
            Task(executorPreference: thread) {
                try await clock.sleep(until: .seconds(second))
                continuation.yield(second)
            }
        }
        try await wait(for: "the sleepers") { clock.sleeperCount == 3 }
        clock.advance(by: .seconds(5))
        for sleeper in sleepers { try await sleeper.value }
        continuation.finish()
        #expect(await woken.reduce(into: []) { $0.append($1) } == [1, 2, 3])
    }

    @Test func `the machine's clock goes on and its sleep can be cancelled`() async {
        let clock = SystemClock()
        let before = clock.now
        let sleeper = Task { try await clock.sleep(for: .seconds(3_600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.now >= before)
    }
}
