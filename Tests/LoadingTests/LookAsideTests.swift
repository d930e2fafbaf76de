import Media
import TestSupport
import Testing

@testable import Loading

/// `readStored`: stored bytes can be read without affecting the read-ahead.
@Suite struct LookAsideTests {
    @Test func `a look aside brings what is stored, asks for nothing and moves no read-ahead`() async throws {
        let url = try #require(WebURL("http://music.example/song.mp3"))
        var random = SeededGenerator(seed: 1)
        let content = (0..<5_000_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let stores = MemoryStores()
        stores.store(of: url).preload(content, [0..<4_000_000], validators: Validators(etag: "\"1\""))
        let transport = ScriptedTransport(.init(content: content))
        let loaders = Loaders(
            transport: transport,
            stores: stores,
            clock: TestClock(),
            onNotice: { _ in }
        )
        let reader = try await loaders.open(.web(url))
        reader.allowReadAhead(bytesPerSecond: 1_000)
        _ = try await reader.read(at: 0, count: 1_000)
        let looked = try await reader.readStored(at: 3_990_000, count: 65_536)
        #expect(!looked.isEmpty && looked == Array(content[3_990_000...].prefix(looked.count)))
        #expect(looked.count <= 10_000)
        #expect(try await reader.readStored(at: 4_000_000, count: 10).isEmpty)
        #expect(transport.requests.isEmpty)
        // An ordinary read at the same offset starts read-ahead after it.
        _ = try await reader.read(at: 3_990_000, count: 1_000)
        try await wait(for: "the read-ahead") { !transport.requests.isEmpty }
        await reader.close()
        #expect(try await reader.readStored(at: 0, count: 10).isEmpty)
    }
}
