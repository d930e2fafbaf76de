import Media
import System
import TestSupport
import Testing

@testable import Loading

@Suite struct LoadersTests {
    private let url = WebURL("http://music.example/song.mp3").unwrapped

    private func loaders(
        _ transport: any RangeTransport,
        _ stores: MemoryStores,
        connectivity: NetworkWatch? = nil,
        onNotice: @escaping @Sendable (MediaError) -> Void = { _ in }
    ) -> Loaders {
        Loaders(
            transport: transport,
            stores: stores,
            clock: TestClock(),
            connectivity: connectivity,
            onNotice: onNotice
        )
    }

    private func forcedOffline(_ stores: MemoryStores) -> Loaders {
        let line = ScriptedTransport(.init(content: content(10)))
        let watch = NetworkWatch(over: line, clock: TestClock(), isForced: true)
        return loaders(watch, stores, connectivity: watch)
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `whatever pieces are stored, all is read right and only the gaps are sent`(seed: UInt64) async throws
    {
        var random = SeededGenerator(seed: seed)
        let content = content(Int.random(in: 1...900_000, using: &random), seed: seed)
        let length = Int64(content.count)
        let hasValidators = Bool.random(using: &random)
        let stores = MemoryStores()
        var pieces: [ByteRange] = []
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            let start = Int64.random(in: 0..<length, using: &random)
            pieces.append(start..<min(length, start + Int64.random(in: 1...150_000, using: &random)))
        }
        let validators = hasValidators ? Validators(etag: "\"1\"") : Validators()
        stores.store(of: url).preload(content, pieces, validators: validators)
        let missing = length - stores.store(of: url).stored.byteCount
        let gaps = stores.store(of: url).stored.gaps(in: 0..<length).count
        let transport = ScriptedTransport(.init(content: content, validators: validators))
        let reader = try await loaders(transport, stores).open(.web(url))
        reader.allowReadAhead(bytesPerSecond: Double.random(in: 1...80_000, using: &random))
        #expect(try await readAll(reader, count: Int.random(in: 1_000...70_000, using: &random)) == content)
        await reader.close()
        if hasValidators {
            #expect(transport.sentBytes == missing)
        } else {
            let overlaps = Int64(max(gaps, transport.requests.count)) * 4_096
            #expect(transport.sentBytes <= missing + overlaps)
        }
        #expect(reader.report.fetchedBytes == transport.sentBytes)
        #expect(reader.report.cachedBytes == length - missing)
        #expect(reader.report.requestCount == transport.requests.count)
    }

    @Test func `a complete entry costs no request`() async throws {
        let content = content(300_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(content, [0..<300_000], validators: Validators(etag: "\"1\""))
        let transport = ScriptedTransport(.init(content: content))
        let reader = try await loaders(transport, stores).open(.web(url))
        reader.allowReadAhead(bytesPerSecond: 40_000)
        #expect(try await readAll(reader) == content)
        #expect(transport.requests.isEmpty)
    }

    @Test func `eight readers of one resource get each byte from one request`() async throws {
        let content = content(1_000_000)
        let transport = ScriptedTransport(.init(content: content))
        let loaders = loaders(transport, MemoryStores())
        let url = url
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<8 as Range<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    let reader = try await loaders.open(.web(url))
                    for _ in 0..<60 {
                        let offset = Int64.random(in: 0..<1_000_000, using: &random)
                        let bytes = try await reader.read(at: offset, count: 5_000)
                        #expect(bytes.elementsEqual(content[Int(offset)..<Int(offset) + bytes.count]))
                    }
                    await reader.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(transport.sentBytes <= 1_000_000)
    }

    @Test func `cancelling a read ends it while the server holds the body back`() async throws {
        let transport = ScriptedTransport(.init(content: content(500_000)))
        transport.hold()
        let reader = try await loaders(transport, MemoryStores()).open(.web(url))
        _ = try await reader.read(at: 0, count: 100)
        try await wait(for: "the rest of the window to be held") { transport.heldBodies == 1 }
        let waiting = Task { try await reader.read(at: 20_000, count: 100) }
        waiting.cancel()
        let result = await waiting.result
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(transport.heldBodies == 1, "the server had not gone on when the read ended")
        transport.release()
        await reader.close()
    }

    @Test func `after a seek the new request leaves while the old body is held, and its bytes are kept`()
        async throws
    {
        let content = content(3_000_000)
        let stores = MemoryStores()
        let transport = ScriptedTransport(.init(content: content))
        let reader = try await loaders(transport, stores).open(.web(url))
        _ = try await reader.read(at: 0, count: 100)
        try await wait(for: "the first window") { reader.isStored(0..<65_536) }
        transport.hold()
        reader.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "read-ahead to be held") { transport.heldBodies == 1 }
        let kept = stores.store(of: url).stored.byteCount
        #expect(kept > 65_536)
        let bytes = try await reader.read(at: 2_500_000, count: 100)
        #expect(bytes.elementsEqual(content[2_500_000..<2_500_100]))
        #expect(transport.requests.contains { $0.range?.lowerBound == 2_500_000 })
        #expect(transport.heldBodies >= 1, "the old transfer had not ended when the new request left")
        transport.release()
        await reader.close()
        #expect(stores.store(of: url).stored.byteCount >= kept)
        #expect(stores.store(of: url).state.withLock { $0.isClosed })
    }

    @Test func `opening a resource that is being closed waits for that, and reads what it stored`()
        async throws
    {
        let content = content(50_000)
        let stores = MemoryStores()
        let transport = ScriptedTransport(.init(content: content))
        let loaders = loaders(transport, stores)
        let first = try await loaders.open(.web(url))
        #expect(try await readAll(first) == content)
        let store = stores.store(of: url)
        store.holdClose()
        let url = url
        async let closing: Void = first.close()
        try await wait(for: "the store to be closing") { store.isClosing }
        async let opening = loaders.open(.web(url))
        store.releaseClose()
        let second = try await opening
        await closing
        #expect(try await readAll(second) == content)
        #expect(transport.requests.count == 1)
        await second.close()
    }

    @Test func `a server without ranges is read once from its first byte to its last`() async throws {
        let content = content(700_000)
        let transport = ScriptedTransport(.init(content: content, hasRanges: false))
        let reader = try await loaders(transport, MemoryStores()).open(.web(url))
        let tail = try await reader.read(at: 650_000, count: 50_000)
        #expect(tail.elementsEqual(content[650_000..<650_000 + tail.count]))
        #expect(try await readAll(reader) == content)
        #expect(transport.requests.count == 1)
        #expect(transport.sentBytes == 700_000)
        #expect(reader.report.isSeekable, "a complete resource can be seeked")
    }

    @Test func `bodies that are cut again and again are put together without a byte twice`() async throws {
        let content = content(400_000)
        let transport = ScriptedTransport(.init(content: content, cutAfter: 30_000))
        let reader = try await loaders(transport, MemoryStores()).open(.web(url))
        #expect(try await readAll(reader) == content)
        #expect(transport.sentBytes == 400_000)
    }

    @Test func `a changed file is an error for the reader and a new entry for the next`() async throws {
        let old = content(300_000, seed: 1)
        let new = content(300_000, seed: 2)
        let stores = MemoryStores()
        stores.store(of: url).preload(old, [0..<100_000], validators: Validators(etag: "\"1\""))
        let transport = ScriptedTransport(.init(content: new, validators: Validators(etag: "\"2\"")))
        let loaders = loaders(transport, stores)
        let reader = try await loaders.open(.web(url))
        await #expect(throws: MediaError.self) { _ = try await reader.read(at: 150_000, count: 10) }
        await reader.close()
        let again = try await loaders.open(.web(url))
        #expect(try await readAll(again) == new)
        await again.close()
    }

    @Test func `without validators a differing overlap is a changed file`() async throws {
        let stores = MemoryStores()
        stores.store(of: url).preload(content(300_000, seed: 1), [0..<100_000], validators: Validators())
        let transport = ScriptedTransport(.init(content: content(300_000, seed: 2), validators: Validators()))
        let reader = try await loaders(transport, stores).open(.web(url))
        let error = await #expect(throws: MediaError.self) {
            _ = try await reader.read(at: 100_000, count: 10)
        }
        #expect(error?.code == .resourceChanged)
        await reader.close()
    }

    @Test func `what is no music is forgotten, unless it was kept before`() async throws {
        let stores = MemoryStores()
        let transport = ScriptedTransport(.init(content: content(1_000)))
        let reader = try await loaders(transport, stores).open(.web(url))
        _ = try await reader.read(at: 0, count: 10)
        await reader.reject()
        #expect(stores.store(of: url).state.withLock { $0.isDiscarded })
        await reader.close()
    }

    @Test func `a refusal that forbids storing leaves what is kept, and the next time the gap is fetched`()
        async throws
    {
        let content = content(300_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(content, [0..<100_000], validators: Validators(etag: "\"1\""))
        let transport = ScriptedTransport(.init(content: content, status: 404, forbidsStoring: true))
        let loaders = loaders(transport, stores)
        let reader = try await loaders.open(.web(url))
        await #expect(throws: MediaError.self) { _ = try await reader.read(at: 100_000, count: 1) }
        #expect(!stores.store(of: url).state.withLock { $0.isDiscarded })
        #expect(try await reader.read(at: 0, count: 10).count == 10)
        await reader.close()
        transport.change {
            $0.status = nil; $0.forbidsStoring = false
        }
        let again = try await loaders.open(.web(url))
        #expect(try await readAll(again) == content)
        #expect(transport.sentBytes == 200_000)
        await again.close()
    }

    @Test func `music that may not be kept is fetched once all the same`() async throws {
        let content = content(700_000)
        let stores = MemoryStores()
        let transport = ScriptedTransport(.init(content: content, forbidsStoring: true))
        let reader = try await loaders(transport, stores).open(.web(url))
        reader.allowReadAhead(bytesPerSecond: 40_000)
        #expect(try await readAll(reader) == content)
        #expect(transport.sentBytes == 700_000)
        #expect(stores.store(of: url).state.withLock { $0.isDiscarded })
        await reader.close()
    }

    @Test func `offline what is stored plays and what is not names the reason`() async throws {
        let content = content(200_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(content, [0..<50_000], validators: Validators())
        let reader = try await forcedOffline(stores).open(.web(url))
        #expect(try await reader.read(at: 0, count: 100).count == 100)
        let error = await #expect(throws: MediaError.self) { _ = try await reader.read(at: 50_000, count: 1) }
        #expect(error?.code == .offline)
        #expect(reader.report.requestCount == 0)
        await reader.close()
    }

    @Test func `revalidation keeps a current entry and replaces a changed one`() async throws {
        let old = content(100_000, seed: 1)
        let stores = MemoryStores()
        stores.store(of: url).preload(old, [0..<100_000], validators: Validators(etag: "\"1\""))
        let transport = ScriptedTransport(.init(content: old))
        let loaders = loaders(transport, stores)
        let current = try await loaders.openRevalidated(.web(url))
        #expect(current.isStored(0..<100_000) && transport.requests.count == 1)
        await current.close()
        let new = content(90_000, seed: 2)
        transport.change {
            $0.content = new; $0.validators = Validators(etag: "\"2\"")
        }
        let changed = try await loaders.openRevalidated(.web(url))
        #expect(try await readAll(changed) == new)
        await changed.close()
    }

    @Test func `a web page in the music's place does not drop what is kept`() async throws {
        let old = content(100_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(old, [0..<50_000], validators: Validators(etag: "\"1\""))
        let page = ScriptedTransport(
            .init(content: content(500, seed: 2), validators: Validators(), contentType: "text/html")
        )
        for refresh in [false, true] {
            let loaders = loaders(page, stores)
            let reader = try await refresh ? loaders.openRevalidated(.web(url)) : loaders.open(.web(url))
            #expect(reader.isStored(0..<50_000))
            let error = await #expect(throws: MediaError.self) { try await readAll(reader) }
            #expect(error?.code == .badAnswer)
            await reader.close()
        }
        let reader = try await loaders(ScriptedTransport(.init(content: old)), stores).open(.web(url))
        #expect(try await readAll(reader) == old)
        await reader.close()
    }

    @Test func `revalidation of an unreachable server changes nothing`() async throws {
        let old = content(100_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(old, [0..<100_000], validators: Validators(etag: "\"1\""))
        let reader = try await forcedOffline(stores).openRevalidated(.web(url))
        #expect(try await readAll(reader) == old)
        await reader.close()
    }
}

extension Optional {
    /// The value of a literal that the test itself wrote.
    var unwrapped: Wrapped {
        guard let self else { preconditionFailure("the test's own literal is wrong") }
        return self
    }
}
