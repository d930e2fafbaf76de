import Media
import System
import TestSupport
import Testing

@Suite
struct TestClockTests {
    @Test func `time stands still until it is moved on`() {
        let clock = TestClock()
        #expect(clock.now == .zero)
        clock.advance(by: .seconds(3))
        #expect(clock.now == .seconds(3))
    }

    @Test func `a sleep ends when its time has come and not before`() async throws {
        let clock = TestClock()
        let hasWoken = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await clock.sleep(for: .seconds(10))
                hasWoken.raise()
            }
            try await wait(for: "the sleeper") { clock.sleeperCount == 1 }
            clock.advance(by: .milliseconds(9_999))
            #expect(clock.sleeperCount == 1)
            #expect(!hasWoken.isRaised)
            clock.advance(by: .milliseconds(1))
            try await group.waitForAll()
        }
        #expect(hasWoken.isRaised)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a sleep until a time that has passed returns at once`() async throws {
        let clock = TestClock()
        clock.advance(by: .seconds(5))
        let hasEnded = Flag()
        let sleeper = Task {
            try await clock.sleep(until: .seconds(5))
            try await clock.sleep(until: .zero)
            hasEnded.raise()
        }
        defer { sleeper.cancel() }
        try await wait(for: "the sleeps to end, or one to begin") {
            hasEnded.isRaised || clock.sleeperCount > 0
        }
        #expect(hasEnded.isRaised)
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

/// Something that has happened or not, seen from several tasks.
private final class Flag: Sendable {
    private let value = Locked(false)

    var isRaised: Bool { value.withLock { $0 } }

    func raise() { value.withLock { $0 = true } }
}
