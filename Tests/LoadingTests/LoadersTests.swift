import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct LoadersTests {
    private let clock = TestClock()
    private let journal = SavedJournal()

    private func loaders(_ server: MemoryServer, _ stores: MemoryStores = MemoryStores()) -> Loaders {
        Loaders(transport: server, stores: stores, clock: clock, journal: journal)
    }

    private func open(
        _ server: MemoryServer,
        _ stores: MemoryStores = MemoryStores()
    ) async throws -> any ResourceReader {
        try await loaders(server, stores).open(.web(songURL))
    }

    private func forcedOffline(_ stores: MemoryStores) -> Loaders {
        let watch = NetworkWatch(over: MemoryServer(content(10)), clock: clock, isForced: true)
        return Loaders(transport: watch, stores: stores, clock: clock, connectivity: watch)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `whatever pieces are stored, all is read right and only the gaps are sent`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: seed)
        let content = content(Int.random(in: 1...900_000, using: &random), seed: seed)
        let length = Int64(content.count)
        let etag = Bool.random(using: &random) ? "\"1\"" : nil
        let pieces = randomPieces(0...8, of: length, upTo: 150_000, using: &random)
        let stores = MemoryStores(content, pieces, etag: etag)
        let missing = length - stores.song.stored.byteCount
        let gaps = stores.song.stored.gaps(in: 0..<length).count
        let server = MemoryServer(.init(content: content, etag: etag))
        let reader = try await open(server, stores)
        reader.allowReadAhead(bytesPerSecond: Double.random(in: 1...80_000, using: &random))
        #expect(try await readAll(reader, count: Int.random(in: 1_000...70_000, using: &random)) == content)
        await reader.close()
        if etag != nil {
            #expect(server.sentBytes == missing)
        } else {
            #expect(server.sentBytes <= missing + Int64(max(gaps, server.requests.count)) * 4_096)
        }
        #expect(reader.report.fetchedBytes == server.sentBytes)
        #expect(reader.report.cachedBytes == length - missing)
        #expect(reader.report.requestCount == server.requests.count)
    }

    @Test(arguments: [false, true])
    func `only a request that a track waits for may ask for a log-in`(isLow: Bool) async throws {
        let server = MemoryServer(content(300_000))
        let reader = try await open(server)
        reader.setPriority(isLow: isLow)
        _ = try await reader.read(at: 0, count: 10)
        #expect(server.requests.map(\.mayAskUser) == [!isLow])
        await reader.close()
    }

    @Test func `a head that is read for its tags asks for no log-in`() async throws {
        let server = MemoryServer(content(300_000))
        let reader = try #require(try await loaders(server).openHead(songURL))
        _ = try await reader.read(at: 0, count: 10)
        #expect(server.requests.map(\.mayAskUser) == [false])
        await reader.close()
    }

    @Test func `at no moment does a report show more bytes as stored than it counts as fetched`() async throws
    {
        let content = content(300_000)
        let stores = MemoryStores()
        let reader = try await open(MemoryServer(content), stores)
        let uncounted = Locked<[Int64]>([])
        stores.song.onWrite.withLock {
            $0 = {
                let report = reader.report
                uncounted.withLock { $0.append(report.stored.byteCount - report.fetchedBytes) }
            }
        }
        #expect(try await readAll(reader) == content)
        stores.song.onWrite.withLock { $0 = {} }
        await reader.close()
        #expect(uncounted.withLock { !$0.isEmpty && $0.allSatisfy { $0 <= 0 } })
    }

    @Test func `a complete entry costs no request`() async throws {
        let content = content(300_000)
        let server = MemoryServer(content)
        let reader = try await open(server, MemoryStores(content, [0..<300_000]))
        reader.allowReadAhead(bytesPerSecond: 40_000)
        #expect(try await readAll(reader) == content)
        #expect(server.requests.isEmpty)
    }

    @Test func `readStored returns stored bytes, sends no request and moves no read-ahead`() async throws {
        let content = content(5_000_000)
        let server = MemoryServer(content)
        let reader = try await open(server, MemoryStores(content, [0..<4_000_000]))
        reader.allowReadAhead(bytesPerSecond: 1_000)
        _ = try await reader.read(at: 0, count: 1_000)
        let stored = try await reader.readStored(at: 3_990_000, count: 65_536)
        #expect(!stored.isEmpty && stored.count <= 10_000)
        #expect(stored.elementsEqual(content[3_990_000...].prefix(stored.count)))
        #expect(try await reader.readStored(at: 4_000_000, count: 10).isEmpty)
        #expect(server.requests.isEmpty)
        // An ordinary read at the same offset starts read-ahead after it.
        _ = try await reader.read(at: 3_990_000, count: 1_000)
        try await wait(for: "the read-ahead") { !server.requests.isEmpty }
        await reader.close()
        #expect(try await reader.readStored(at: 0, count: 10).isEmpty)
    }

    @Test func `a part is not stored if the bytes that would prove it the same file are gone`() async throws {
        let stores = MemoryStores(content(300_000), [0..<100_000], etag: nil)
        let other = MemoryServer.File(content: content(300_000, seed: 7), etag: nil)
        let server = MemoryServer { [song = stores.song] request, _ in
            song.lose(90_000..<100_000)
            return other.reply(to: request)
        }
        let reader = try await open(server, stores)
        let reading = Task { try await reader.read(at: 100_000, count: 100) }
        try await wait(for: "the next attempt") { reader.report.wait?.attempt == 1 }
        #expect(server.requests.map(\.range?.lowerBound) == [95_904])
        #expect(stores.song.stored == ByteRangeSet(0..<90_000))
        reading.cancel()
        await reader.close()
    }

    @Test func `cancelling a read ends it while the server holds the body back`() async throws {
        let server = MemoryServer(content(500_000))
        server.hold()
        let reader = try await open(server)
        _ = try await reader.read(at: 0, count: 100)
        try await wait(for: "the rest of the window to be held") { server.heldBodies == 1 }
        let waiting = Task { try await reader.read(at: 20_000, count: 100) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(server.heldBodies == 1, "the server had not gone on when the read ended")
        server.release()
        await reader.close()
    }

    @Test func `after a seek the new request leaves while the old body is held, and its bytes are cached`()
        async throws
    {
        let content = content(3_000_000)
        let stores = MemoryStores()
        let server = MemoryServer(content)
        let reader = try await open(server, stores)
        _ = try await reader.read(at: 0, count: 100)
        try await wait(for: "the first window") { reader.isStored(0..<65_536) }
        server.hold()
        reader.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "read-ahead to be held") { server.heldBodies == 1 }
        let stored = stores.song.stored.byteCount
        #expect(stored > 65_536)
        let bytes = try await reader.read(at: 2_500_000, count: 100)
        #expect(bytes.elementsEqual(content[2_500_000..<2_500_100]))
        #expect(server.requests.contains { $0.range?.lowerBound == 2_500_000 })
        #expect(server.heldBodies >= 1, "the old transfer had not ended when the new request left")
        server.release()
        await reader.close()
        #expect(stores.song.stored.byteCount >= stored && stores.song.isClosed)
    }

    @Test func `opening a resource that is being closed waits for that, and reads what it stored`()
        async throws
    {
        let content = content(50_000)
        let stores = MemoryStores()
        let server = MemoryServer(content)
        let loaders = loaders(server, stores)
        let first = try await loaders.open(.web(songURL))
        #expect(try await readAll(first) == content)
        let store = stores.song
        store.holdClose()
        async let closing: Void = first.close()
        try await wait(for: "the store to be closing") { store.isClosing }
        async let opening = loaders.open(.web(songURL))
        store.releaseClose()
        let second = try await opening
        await closing
        #expect(try await readAll(second) == content)
        #expect(server.requests.count == 1)
        await second.close()
    }

    @Test func `a server without ranges is read once from its first byte to its last`() async throws {
        let content = content(700_000)
        let server = MemoryServer(.init(content: content, hasRanges: false))
        let reader = try await open(server)
        let tail = try await reader.read(at: 650_000, count: 50_000)
        #expect(tail.elementsEqual(content[650_000..<650_000 + tail.count]))
        #expect(try await readAll(reader) == content)
        #expect(server.requests.count == 1 && server.sentBytes == 700_000)
        #expect(reader.report.isSeekable, "a complete resource can be seeked")
    }

    @Test func `a head costs one request of its announced bytes, of the lowest urgency`() async throws {
        let content = content(700_000)
        let server = MemoryServer(content)
        let reader = try #require(try await loaders(server).openHead(songURL))
        reader.willRead(0..<65_536)
        var bytes: [UInt8] = []
        while bytes.count < 65_536 {
            bytes += try await reader.read(at: Int64(bytes.count), count: 65_536 - bytes.count)
        }
        try await wait(for: "the end of the request") { !journal.requests.isEmpty }
        #expect(bytes == Array(content.prefix(65_536)) && server.sentBytes == 65_536)
        #expect(journal.requests.map(\.urgency) == [.tags])
        await reader.close()
    }

    @Test func `a head that fails is not requested again`() async throws {
        let server = MemoryServer(content(10))
        server.fail(.connectionRefused)
        let reader = try #require(try await loaders(server).openHead(songURL))
        let isOver = LateBound<Bool>()
        Task {
            await #expect(throws: MediaError.self) { _ = try await reader.read(at: 0, count: 10) }
            isOver.value = true
        }
        try await wait(for: "the failure") { isOver.value == true }
        #expect(server.requests.count == 1)
        await reader.close()
    }

    @Test func `no head is read of a resource that is open, nor if it would not stay cached`() async throws {
        let server = MemoryServer(content(10))
        let loaders = loaders(server)
        let reader = try await loaders.open(.web(songURL))
        #expect(try await loaders.openHead(songURL) == nil)
        await reader.close()
        #expect(try await self.loaders(server, MemoryStores(isPersistent: false)).openHead(songURL) == nil)
        #expect(server.requests.isEmpty)
    }

    @Test func `a read of a complete resource does not wait for the loader`() async throws {
        let content = content(100_000)
        let reader = try await open(MemoryServer(content), MemoryStores(content, [0..<100_000]))
        let loader = try #require(reader as? LoaderReader).loader
        let isHeld = Gate()
        let end = Gate()
        NamedThread.start("loader") {
            loader.step { _, _ in
                isHeld.open()
                end.wait()
                return []
            }
        }
        isHeld.wait()
        let bytes = LateBound<[UInt8]>()
        Task { bytes.value = try await reader.read(at: 0, count: 10) }
        defer { end.open() }
        try await wait(for: "the bytes", deadline: .seconds(20)) { bytes.value == Array(content.prefix(10)) }
    }

    @Test func `a rejected resource is discarded`() async throws {
        let stores = MemoryStores()
        let reader = try await open(MemoryServer(content(1_000)), stores)
        _ = try await reader.read(at: 0, count: 10)
        await reader.reject()
        #expect(stores.song.isDiscarded)
        await reader.close()
    }

    @Test func `a refusal that forbids storing discards nothing, and the next reader fetches the gap`()
        async throws
    {
        let content = content(300_000)
        let stores = MemoryStores(content, [0..<100_000])
        let server = MemoryServer(.init(content: content, status: 404, forbidsStoring: true))
        let loaders = loaders(server, stores)
        let reader = try await loaders.open(.web(songURL))
        await #expect(throws: MediaError.self) { _ = try await reader.read(at: 100_000, count: 1) }
        #expect(!stores.song.isDiscarded)
        #expect(try await reader.read(at: 0, count: 10).count == 10)
        await reader.close()
        server.serve(.init(content: content))
        let again = try await loaders.open(.web(songURL))
        #expect(try await readAll(again) == content)
        #expect(server.sentBytes == 200_000)
        await again.close()
    }

    @Test func `music that may not be stored is fetched once all the same`() async throws {
        let content = content(700_000)
        let stores = MemoryStores()
        let server = MemoryServer(.init(content: content, forbidsStoring: true))
        let reader = try await open(server, stores)
        reader.allowReadAhead(bytesPerSecond: 40_000)
        #expect(try await readAll(reader) == content)
        #expect(server.sentBytes == 700_000 && stores.song.isDiscarded)
        await reader.close()
    }

    @Test func `with --offline stored bytes are read, others fail at once, and no timer is left`()
        async throws
    {
        let reader = try await forcedOffline(MemoryStores(content(200_000), [0..<50_000], etag: nil))
            .open(.web(songURL))
        #expect(try await reader.read(at: 0, count: 100).count == 100)
        let error = await #expect(throws: MediaError.self) { _ = try await reader.read(at: 50_000, count: 1) }
        #expect(error?.code == .offline && reader.report.requestCount == 0)
        await reader.close()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `revalidation keeps a current entry, at the cost of one request in the journal`() async throws
    {
        let content = content(100_000)
        let stores = MemoryStores(content, [0..<100_000])
        let reader = try await loaders(MemoryServer(content), stores).openRevalidated(.web(songURL))
        #expect(reader.isStored(0..<100_000) && reader.report.requestCount == 1)
        #expect(journal.requests.map(\.urgency) == [.revalidate])
        #expect(journal.requests.map(\.status) == [304])
        #expect(try await readAll(reader) == content)
        await reader.close()
    }

    @Test func `revalidation replaces a changed entry while another reader still reads the old one`()
        async throws
    {
        let old = content(200_000)
        let new = content(150_000, seed: 2)
        let server = MemoryServer(old)
        let loaders = loaders(server)
        let before = try await loaders.open(.web(songURL))
        #expect(try await readAll(before) == old)
        server.serve(.init(content: new, etag: "\"2\""))
        let after = try await loaders.openRevalidated(.web(songURL))
        #expect(try await readAll(after) == new)
        #expect(try await readAll(before) == old)
        await before.close()
        let third = try await loaders.open(.web(songURL))
        #expect(try await readAll(third) == new)
        await third.close()
        await after.close()
    }

    @Test func `revalidation of an unreachable server changes nothing`() async throws {
        let content = content(100_000)
        let loaders = forcedOffline(MemoryStores(content, [0..<100_000]))
        let reader = try await loaders.openRevalidated(.web(songURL))
        #expect(try await readAll(reader) == content)
        await reader.close()
    }

    @Test func `a web page instead of the music discards no cached byte`() async throws {
        let old = content(100_000)
        let stores = MemoryStores(old, [0..<50_000])
        let page = MemoryServer(
            .init(content: content(500, seed: 2), etag: nil, hasRanges: false, contentType: "text/html")
        )
        for refresh in [false, true] {
            let loaders = loaders(page, stores)
            let location = ResourceLocation.web(songURL)
            let reader = try await refresh ? loaders.openRevalidated(location) : loaders.open(location)
            #expect(reader.isStored(0..<50_000))
            let error = await #expect(throws: MediaError.self) { try await readAll(reader) }
            #expect(error?.code == .badAnswer)
            await reader.close()
        }
        let reader = try await open(MemoryServer(old), stores)
        #expect(try await readAll(reader) == old)
        await reader.close()
    }
}
