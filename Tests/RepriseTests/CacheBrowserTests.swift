@testable import Cache
@testable import Media
import System
import TestSupport
import Testing

@testable import Reprise

/// The jobs of the cache view, which run in the background, in order.
struct CacheBrowserTests {
    /// A cache whose list is answered only while it is not shut.
    private final class SlowCache: CacheAdministration {
        struct State {
            var done: [String] = []
            var entries = [7, 8].map { (number: Int64) in
                CachedItem(id: CachedItem.ID(number), url: SafeText("https://x/\(number)"), lastPlayed: 0)
            }
            var report = CacheRemoval()
            var failure: MediaError?
            var isShut = false
        }

        let state = Locked(State())

        var done: [String] { state.withLock { $0.done } }

        func browser(_ clock: any MonotonicClock = TestClock()) -> CacheBrowser {
            CacheBrowser(self, clock: clock)
        }

        func list() async throws -> [CachedItem] {
            state.withLock { $0.done.append("list") }
            try await wait(for: "the cache to be opened") { state.withLock { !$0.isShut } }
            let (entries, failure) = state.withLock { ($0.entries, $0.failure) }
            if let failure { throw failure }
            return entries
        }

        func evict(_ ids: [CachedItem.ID], includingPinned: Bool) async throws -> CacheRemoval {
            state.withLock { state in
                state.done += ids.map { "drop \($0.value)" }
                if state.report.entriesInUse == 0 { state.entries.removeAll { ids.contains($0.id) } }
                return state.report
            }
        }

        func setPinned(_ entry: CachedItem.ID, _ isPinned: Bool) async throws {
            state.withLock { $0.done.append("\(isPinned ? "pin" : "unpin") \(entry.value)") }
        }

        // The view does without the rest.

        func savings() async throws -> Savings { Savings() }
        func info(for url: WebURL) async throws -> CachedItem? { nil }
        func renditions(of url: WebURL) async throws -> [CachedItem] { [] }
        func verify(
            progress: @escaping @Sendable (VerifyProgress) -> Void,
            isDamaged: @escaping @Sendable (any ByteSource) async throws -> Bool
        ) async throws -> VerifyReport { VerifyReport() }
        func evict(toBudget budget: Int64, includingPinned: Bool) async throws -> CacheRemoval {
            CacheRemoval()
        }
        func victims(toBudget budget: Int64) async throws -> [CachedItem] { [] }
        func clear(includingPinned: Bool) async throws -> CacheRemoval { CacheRemoval() }
        func setPinned(_ url: WebURL, _ isPinned: Bool) async throws {}
        func export(_ entry: CachedItem.ID, into descriptor: CInt) async throws -> CacheExport? { nil }
    }

    @Test func `the list is read on request, and requests during a reading cause one more`() async throws {
        let cache = SlowCache()
        let browser = cache.browser()
        #expect(browser.report == CacheContents() && cache.done.isEmpty)
        cache.state.withLock { $0.isShut = true }
        browser.read()
        try await wait(for: "the first look") { cache.done == ["list"] }
        for _ in 0..<10 { browser.read() }
        #expect(browser.report.entries == nil)
        cache.state.withLock { $0.isShut = false }
        try await wait(for: "the second look") { browser.report.revision == 2 }
        #expect(cache.done == ["list", "list"])
        #expect(browser.report.entries?.map(\.id.value) == [7, 8])
    }

    @Test func `while the view is visible, changes are read once a second at most`() async throws {
        let cache = SlowCache()
        let clock = TestClock()
        let browser = cache.browser(clock)
        browser.cacheChanged()
        browser.watch(true)
        try await wait(for: "the first look") { browser.report.revision == 1 }
        for _ in 0..<5 { browser.cacheChanged() }
        try await wait(for: "the second to pass") { clock.sleeperCount == 1 }
        #expect(clock.nextWake == .seconds(1) && cache.done == ["list"])
        // A reading in between has seen the changes; the next ones wait for another second.
        clock.advance(by: .milliseconds(600))
        browser.watch(true)
        try await wait(for: "the look of the key") { browser.report.revision == 2 }
        browser.cacheChanged()
        clock.advance(by: .milliseconds(400))
        try await wait(for: "the rest of the second") { clock.nextWake == .milliseconds(1_600) }
        #expect(cache.done.count == 2)
        clock.advance(by: .milliseconds(600))
        try await wait(for: "the look at all of them") { browser.report.revision == 3 }
        // After a second without changes, the next one is read at once.
        clock.advance(by: .seconds(100))
        #expect(clock.sleeperCount == 0)
        browser.cacheChanged()
        try await wait(for: "the look at the last change") { browser.report.revision == 4 }
        browser.watch(false)
        browser.cacheChanged()
        browser.setPinned(CachedItem.ID(8), true)
        try await wait(for: "the pin") { browser.report.revision == 5 }
        #expect(clock.sleeperCount == 0)
        #expect(cache.done == ["list", "list", "list", "list", "pin 8", "list"])
    }

    @Test
    func
        `evictions and pins are done in order, and each is followed by a reading and a call of the observer`()
        async throws
    {
        let cache = SlowCache()
        let browser = cache.browser()
        let calls = Locked(0)
        _ = browser.observe { calls.withLock { $0 += 1 } }
        browser.setPinned(CachedItem.ID(8), true)
        browser.evict(CachedItem.ID(7))
        try await wait(for: "both") { browser.report.revision == 2 }
        #expect(cache.done == ["pin 8", "list", "drop 7", "list"])
        #expect(browser.report.entries?.map(\.id.value) == [8])
        #expect(browser.report.problem == nil)
        try await wait(for: "both calls") { calls.withLock { $0 } == 2 }
    }

    @Test(
        arguments: [
            (CacheRemoval(entriesInUse: 1), "Not deleted: it is being played, here or by another player"),
            (CacheRemoval(entriesPinned: 1), "Not deleted: it is pinned"),
        ] as [(CacheRemoval, SafeText)]
    )
    func `the reason why an entry was not deleted is shown until the next job`(
        report: CacheRemoval,
        reason: SafeText
    ) async throws {
        let cache = SlowCache()
        cache.state.withLock { $0.report = report }
        let browser = cache.browser()
        browser.evict(CachedItem.ID(7))
        try await wait(for: "the answer") { browser.report.revision == 1 }
        #expect(browser.report.problem == reason)
        browser.read()
        try await wait(for: "the look") { browser.report.revision == 2 }
        #expect(browser.report.problem == nil)
    }

    @Test func `if the cache cannot be read, the last list stays, with the reason`() async throws {
        let cache = SlowCache()
        let browser = cache.browser()
        browser.read()
        try await wait(for: "the look") { browser.report.revision == 1 }
        cache.state.withLock { $0.failure = MediaError(.notCached, "the cache", "cannot be read") }
        browser.read()
        try await wait(for: "the failure") { browser.report.revision == 2 }
        #expect(browser.report.entries?.count == 2)
        #expect(browser.report.problem?.string.contains("cannot be read") == true)
    }
}
