import Media
import System
import TestSupport
import Testing

@testable import Loading

/// The bytes of a cancelled fetch are committed at once.
@Suite struct CommitOnCancelTests {
    private let url = WebURL("http://music.example/song.mp3").unwrapped
    private let clock = TestClock()
    private let stores = MemoryStores()
    private let content = [UInt8](repeating: 7, count: 8 << 20)

    private func loaders(over transport: any RangeTransport) -> Loaders {
        Loaders(
            transport: transport,
            stores: stores,
            clock: clock
        )
    }

    /// A reader with a window of read-ahead that is held after its first piece.
    private func reading(_ transport: ScriptedTransport) async throws -> any ResourceReader {
        let reader = try await loaders(over: transport).open(.web(url))
        _ = try await reader.read(at: 0, count: 100)
        try await wait(for: "the first window") { reader.isStored(0..<65_536) }
        transport.hold()
        reader.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "a piece of the next one") { reader.isStored(0..<80_000) }
        return reader
    }

    @Test func `a seek commits what came, and the close waits for that`() async throws {
        let transport = ScriptedTransport(.init(content: content))
        let store = stores.store(of: url)
        let reader = try await reading(transport)
        #expect(
            store.state.withLock { $0.commits } == 0,
            "no window that ended in good order was committed for it"
        )
        store.holdCommits()
        let far = Task { try await reader.read(at: 6 << 20, count: 100) }
        // The fetch is being cancelled; bytes that it brings until its end count too.
        try await wait(for: "the request for the new place") { transport.requests.count == 3 }
        transport.release()
        try await wait(for: "the commit") { store.isCommitting }
        #expect(transport.cancelledBodies == 1)
        #expect(try await far.value.count > 0, "no read waits for it")
        let closing = Task { await reader.close() }
        try await wait(for: "the close to begin") { reader.report.inFlight.isEmpty }
        #expect(!store.state.withLock { $0.isClosed })
        store.releaseCommits()
        await closing.value
        #expect(store.state.withLock { $0.isClosed && $0.commits >= 1 })
        #expect(clock.now == .zero)
    }

    @Test func `of many cancels together one commit takes all along`() async throws {
        let store = MemoryStore()
        let loader = ResourceLoader(
            url: url,
            store: store,
            parts: LoaderParts(transport: ScriptedTransport(.init(content: content)), clock: clock),
            seed: 1,
            onChanged: { _, _ in },
            onIdle: { _, _ in }
        )
        let reader = LoaderReader(loader: loader, id: try #require(loader.addReader()))
        store.holdCommits()
        loader.commitWhatCame()
        try await wait(for: "the first commit") { store.isCommitting }
        for _ in 1...20 { loader.commitWhatCame() }
        store.releaseCommits()
        await reader.close()
        #expect(store.state.withLock { $0.commits } == 2)
        loader.commitWhatCame()
        #expect(store.state.withLock { $0.isClosed && $0.commits == 2 }, "none follows the close")
    }
}
