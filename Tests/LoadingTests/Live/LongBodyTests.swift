import Foundation
import Media
import TestSupport
import Testing

@testable import Loading

/// Bodies without a length that exceed the limit for a file.
@Suite struct LongBodyTests {
    private let clock = TestClock()
    private let journal = SavedJournal()
    private let stores = MemoryStores()
    /// 66 MiB, each of its own number.
    private let music = (0..<66 as Range<UInt8>).flatMap { [UInt8](repeating: $0, count: 1 << 20) }

    private func server(etag: String? = nil, isCut: Bool = false) -> MemoryServer {
        MemoryServer { [music] _, _ in .answer(.whole(nil, etag: etag), bytes: music, isCut: isCut) }
    }

    private func open(_ server: MemoryServer) async throws -> any ResourceReader {
        let loaders = Loaders(transport: server, stores: stores, clock: clock, journal: journal, seed: 1)
        return try await loaders.open(.web(songURL))
    }

    @Test func `a file of more than 64 MiB plays to its end, and only once`() async throws {
        let server = server()
        let reader = try await open(server)
        #expect(Data(try await readAll(reader, count: 1 << 20)) == Data(music))
        #expect(server.requests.count == 1 && clock.sleeperCount == 0)
        #expect(reader.report.length == Int64(music.count))
        #expect(!reader.report.isCached && !reader.report.isSeekable && stores.song.isDiscarded)
        #expect(journal.requests.map(\.end) == ["complete"])
        #expect(journal.requests.map(\.bytes) == [Int64(music.count)])
        #expect(journal.decisions == [.live])
        await reader.close()
    }

    @Test func `a file of more than 64 MiB that breaks off is not restarted in its middle`() async throws {
        let server = server(etag: "\"1\"", isCut: true)
        let reader = try await open(server)
        let reading = Task { try await readAll(reader, count: 1 << 20) }
        try await wait(for: "the wait") { reader.report.wait != nil && clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await #expect(throws: MediaError.self) { try await reading.value }
        #expect(server.requests.count == 2)
        #expect(journal.requests.map(\.end) == ["cut", "cut"])
        #expect(journal.requests.map(\.bytes) == [Int64(music.count), 0])
        await reader.close()
    }
}
