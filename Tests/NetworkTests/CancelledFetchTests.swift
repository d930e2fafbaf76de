import Cache
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The bytes that a fetch brought before it was cancelled.
@Suite struct CancelledFetchTests {
    @Test func `what came before a seek is in the index while the clock stands still`() async throws {
        let (song, chain) = try await Chain.long()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(100_000))
        let reader = try await chain.open()
        let url = try #require(WebURL(chain.server.url("/song.mp3")))
        try await chain.watched {
            _ = try await reader.read(at: 0, count: 100)
            reader.reader.allowReadAhead(bytesPerSecond: 16_000)
            try await gate.reached()
            try await wait(for: "all that was sent to be here") {
                reader.reader.report.stored.byteCount >= 100_000
            }
            // As from another process: it sees only committed bytes.
            let cache = CacheFolder(path: chain.folder.path("cache"), clock: TestClock())
            let other = try await cache.open(url)
            #expect(other.stored.byteCount < 100_000)
            let seek = Task { try await reader.read(at: 4_000_000, count: 100) }
            try await wait(for: "the commit") { await other.refresh(0..<song.length).byteCount >= 100_000 }
            await other.close()
            gate.release()
            _ = try await seek.value
        }
        #expect(chain.clock.now == .zero)
        try await chain.end()
    }
}
