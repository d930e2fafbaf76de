import Foundation
import Glibc
import Media
import System
import TestSupport
import Testing

@Suite
struct WorkThreadTests {
    private struct Refused: Error {}

    @Test func `a thread starts with its first job, or at once if it must be ready`() async throws {
        let lazy = WorkThread(name: "asleep-test")
        let ready = WorkThread(name: "ready-test", isReady: true)
        defer {
            lazy.stop()
            ready.stop()
        }
        try await wait(for: "the thread that is ready") { Self.threadNames().contains("ready-test") }
        #expect(!Self.threadNames().contains("asleep-test"))
        #expect(await lazy.run { Self.threadNames().contains("asleep-test") })
    }

    private static func threadNames() -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { task in
            try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
        }
    }

    @Test func `jobs run in the order they came, on one thread`() async {
        let thread = WorkThread(name: "order")
        defer { thread.stop() }
        let log = Log()
        for job in 0..<500 { thread.submit { log.add(job) } }
        await thread.run { log.add(500) }
        #expect(log.jobs == Array(0...500))
        #expect(Set(log.threads).count == 1)
    }

    @Test func `run returns the value or throws the error of its body`() async {
        let thread = WorkThread(name: "values")
        defer { thread.stop() }
        #expect(await thread.run { 6 * 7 } == 42)
        await #expect(throws: Refused.self) {
            try await thread.run { () throws -> Int in throw Refused() }
        }
    }

    @Test func `the thread bears its name, cut after 15 bytes`() async {
        let thread = WorkThread(name: "a name that is far too long")
        defer { thread.stop() }
        let name = await thread.run {
            try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        }
        #expect(name == "a name that is \n")
    }

    @Test func `a task that prefers the thread runs on it, also after a wait`() async {
        let thread = WorkThread(name: "executor")
        defer { thread.stop() }
        let own = await thread.run { currentThread() }
        let places = await Task(executorPreference: thread) {
            let before = currentThread()
            await Task.yield()
            return [before, currentThread()]
        }.value
        #expect(places == [own, own])
    }

    @Test func `signals are left to other threads`() async {
        let thread = WorkThread(name: "signals")
        defer { thread.stop() }
        let blocked = await thread.run {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGINT, SIGTERM, SIGWINCH, SIGSEGV].map { sigismember(&mask, $0) == 1 }
        }
        #expect(blocked == [true, true, true, false])
    }

    @Test func `jobs submitted before stop still run, then the thread is released`() async throws {
        weak var gone: WorkThread?
        let log = Log()
        do {
            let thread = WorkThread(name: "stop")
            gone = thread
            for job in 0..<100 { thread.submit { log.add(job) } }
            thread.stop()
        }
        try await wait(for: "the thread to end") { gone == nil }
        #expect(log.jobs == Array(0..<100))
    }

    /// The jobs that ran, with their threads.
    private final class Log: Sendable {
        private let seen = Locked<[(job: Int, thread: UInt)]>([])

        var jobs: [Int] { seen.withLock { $0.map(\.job) } }
        var threads: [UInt] { seen.withLock { $0.map(\.thread) } }

        func add(_ job: Int) { seen.withLock { $0.append((job, currentThread())) } }
    }
}

/// Which thread calls; a function of its own because `pthread_self` is not to be called in async code.
private func currentThread() -> UInt { UInt(pthread_self()) }
