@testable import Cache
import Media
import System
import TestSupport
import Testing

@testable import Reprise

/// The cache for the screen: nothing waits, and jobs run in order.
struct CacheBrowserTests {
    /// A cache that answers when it is let.
    private final class SlowCache: Sendable {
        struct State {
            var done: [String] = []
            var entries = [7, 8].map { (number: Int64) in
                CachedEntry(number: number, url: SafeText("https://x/\(number)"), lastPlayed: 0)
            }
            var report = CacheRemoval()
            var failure: MediaError?
            var gate: CheckedContinuation<Void, Never>?
            var isShut = false
        }

        let state = Locked(State())

        var done: [String] { state.withLock { $0.done } }

        func shelf(_ clock: any MonotonicClock = TestClock()) -> CacheBrowser {
            CacheBrowser(
                clock: clock,
                list: { try await self.list() },
                drop: { number in
                    self.state.withLock { state in
                        state.done.append("drop \(number)")
                        if state.report.entriesInUse == 0 { state.entries.removeAll { $0.number == number } }
                        return state.report
                    }
                },
                setPinned: { number, isPinned in
                    self.state.withLock { $0.done.append("\(isPinned ? "pin" : "unpin") \(number)") }
                }
            )
        }

        private func list() async throws -> [CachedEntry] {
            await withCheckedContinuation { continuation in
                let isShut = state.withLock { state in
                    state.done.append("list")
                    if state.isShut { state.gate = continuation }
                    return state.isShut
                }
                if !isShut { continuation.resume() }
            }
            let (entries, failure) = state.withLock { ($0.entries, $0.failure) }
            if let failure { throw failure }
            return entries
        }

        func open() {
            let gate = state.withLock { state in
                defer { state.gate = nil }
                state.isShut = false
                return state.gate
            }
            gate?.resume()
        }
    }

    private func running(_ shelf: CacheBrowser, _ body: () async throws -> Void) async throws {
        let task = Task { await shelf.run() }
        defer { task.cancel() }
        try await body()
    }

    @Test func `nothing is read before it is asked for, and looks asked for meanwhile are one`() async throws
    {
        let cache = SlowCache()
        let shelf = cache.shelf()
        try await running(shelf) {
            #expect(shelf.report == CacheContents() && cache.done.isEmpty)
            cache.state.withLock { $0.isShut = true }
            shelf.look()
            try await wait(for: "the first look") { cache.done == ["list"] }
            // The cache is blocked, but its callers are not.
            for _ in 0..<10 { shelf.look() }
            #expect(shelf.report.entries == nil)
            cache.open()
            try await wait(for: "the second look") { shelf.report.revision == 2 }
            #expect(cache.done == ["list", "list"])
            #expect(shelf.report.entries?.map(\.id.value) == [7, 8])
        }
    }

    @Test
    func `while it is watched a change is looked at, the changes of a second together, and else nothing`()
        async throws
    {
        let (cache, clock) = (SlowCache(), TestClock())
        let shelf = cache.shelf(clock)
        try await running(shelf) {
            shelf.cacheChanged()
            shelf.watch(true)
            try await wait(for: "the first look") { shelf.report.revision == 1 }
            for _ in 0..<5 { shelf.cacheChanged() }
            try await wait(for: "the second to pass") { clock.sleeperCount == 1 }
            #expect(clock.nextWake == .seconds(1) && cache.done == ["list"])
            // Who looks meanwhile has seen the changes; the next ones wait for another second.
            clock.advance(by: .milliseconds(600))
            shelf.watch(true)
            try await wait(for: "the look of the key") { shelf.report.revision == 2 }
            shelf.cacheChanged()
            clock.advance(by: .milliseconds(400))
            try await wait(for: "the rest of the second") { clock.nextWake == .milliseconds(1_600) }
            #expect(cache.done.count == 2)
            clock.advance(by: .milliseconds(600))
            try await wait(for: "the look at all of them") { shelf.report.revision == 3 }
            // Nothing is waited for while nothing changes, and after a while a change is seen at once.
            clock.advance(by: .seconds(100))
            #expect(clock.sleeperCount == 0)
            shelf.cacheChanged()
            try await wait(for: "the look at the last change") { shelf.report.revision == 4 }
            shelf.watch(false)
            shelf.cacheChanged()
            shelf.setPinned(CachedTrack.ID(8), true)
            try await wait(for: "the pin") { shelf.report.revision == 5 }
            #expect(clock.sleeperCount == 0)
            #expect(cache.done == ["list", "list", "list", "list", "pin 8", "list"])
        }
    }

    @Test func `what is dropped and pinned is done in order, and shown`() async throws {
        let cache = SlowCache()
        let shelf = cache.shelf()
        let news = Locked(0)
        shelf.observe { news.withLock { $0 += 1 } }
        try await running(shelf) {
            shelf.setPinned(CachedTrack.ID(8), true)
            shelf.evict(CachedTrack.ID(7))
            try await wait(for: "both") { shelf.report.revision == 2 }
            #expect(cache.done == ["pin 8", "list", "drop 7", "list"])
            #expect(shelf.report.entries?.map(\.id.value) == [8])
            #expect(shelf.report.problem == nil)
            try await wait(for: "both to be told") { news.withLock { $0 } == 2 }
        }
    }

    @Test(
        arguments: [
            (CacheRemoval(entriesInUse: 1), "Not deleted: it is being played, here or by another player"),
            (CacheRemoval(entriesPinned: 1), "Not deleted: it is pinned"),
        ] as [(CacheRemoval, SafeText)]
    )
    func `what was not dropped says why, until the next thing is done`(
        report: CacheRemoval,
        reason: SafeText
    ) async throws {
        let cache = SlowCache()
        cache.state.withLock { $0.report = report }
        let shelf = cache.shelf()
        try await running(shelf) {
            shelf.evict(CachedTrack.ID(7))
            try await wait(for: "the answer") { shelf.report.revision == 1 }
            #expect(shelf.report.problem == reason)
            shelf.look()
            try await wait(for: "the look") { shelf.report.revision == 2 }
            #expect(shelf.report.problem == nil)
        }
    }

    @Test func `a cache that cannot be read keeps what was shown, with the reason`() async throws {
        let cache = SlowCache()
        let shelf = cache.shelf()
        try await running(shelf) {
            shelf.look()
            try await wait(for: "the look") { shelf.report.revision == 1 }
            cache.state.withLock { $0.failure = MediaError(.notCached, "the cache", "cannot be read") }
            shelf.look()
            try await wait(for: "the failure") { shelf.report.revision == 2 }
            #expect(shelf.report.entries?.count == 2)
            #expect(shelf.report.problem?.string.contains("cannot be read") == true)
        }
    }
}
