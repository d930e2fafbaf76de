import Foundation
import Media
import System
import TestSupport
import Testing

@testable import Loading

/// The scripts of faults that are tried.
private let faultSeeds = TestCount.seeds(20, full: 1_000)

/// The loaders against servers and networks as they are.
@Suite struct LoadersNetworkTests {
    private let url = WebURL("http://music.example/song.mp3").unwrapped
    private let other = WebURL("http://music.example/next.mp3").unwrapped
    private let clock = TestClock()
    private let journal = SavedJournal()

    private func loaders(_ transport: any RangeTransport, _ stores: MemoryStores = MemoryStores()) -> Loaders
    {
        Loaders(
            transport: transport,
            stores: stores,
            clock: clock,
            journal: journal,
            seed: 1
        )
    }

    /// Runs `body` while the clock is moved on whenever something sleeps.
    private func advancing<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let ticking = Task { [clock] in
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(500)) }
                await Task.yield()
            }
        }
        defer { ticking.cancel() }
        return try await body()
    }

    @Test func `a server that is away for a while is waited for, and the wait is reported`() async throws {
        let content = content(100_000)
        let transport = FaultyTransport { request, number in
            number <= 3 ? .fail(.connectionRefused) : FaultyTransport.honest(request, content)
        }
        let reader = try await loaders(transport).open(.web(url))
        let reading = Task { try await readAll(reader) }
        for attempt in 1...3 {
            try await wait(for: "attempt \(attempt) to fail") {
                reader.report.wait?.attempt == attempt && clock.sleeperCount == 1
            }
            #expect(transport.requests.count == attempt)
            clock.advance(by: .seconds(2))
        }
        #expect(try await reading.value == content)
        #expect(reader.report.wait == nil)
        // What is decided behind them depends on how soon the rest comes.
        #expect(journal.decisions.prefix(3) == [.retryLater, .retryLater, .retryLater])
        #expect(journal.decisions.count { $0 == .retryLater } == 3)
        #expect(
            journal.requests.map(\.end).prefix(4) == [
                "connection-refused", "connection-refused", "connection-refused", "complete",
            ]
        )
        await reader.close()
        #expect(clock.sleeperCount == 0, "no timer is left behind")
    }

    @Test func `a server that stays away fails the read after ten attempts, naming the URL`() async throws {
        let transport = FaultyTransport { _, _ in .fail(.unknownHost) }
        let reader = try await loaders(transport).open(.web(url))
        let error = await #expect(throws: MediaError.self) {
            try await advancing { try await reader.read(at: 0, count: 1) }
        }
        #expect(error?.code == .unknownHost)
        #expect(error?.description.contains("music.example/song.mp3") == true)
        #expect(transport.requests.count == 10 && reader.report.requestCount == 10)
        #expect(journal.decisions.last == .gaveUp)
        await reader.close()
    }

    @Test func `closing while it is waited for ends the read and the timer`() async throws {
        let reader = try await loaders(FaultyTransport { _, _ in .fail(.timedOut) }).open(.web(url))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the wait") { clock.sleeperCount == 1 }
        await reader.close()
        let result = await reading.result
        #expect(throws: CancellationError.self) { try result.get() }
        try await wait(for: "the timer to end") { clock.sleeperCount == 0 }
    }

    @Test func `when the network is back the waiting read goes on without the clock`() async throws {
        let content = content(50_000)
        let isAway = Locked(true)
        let transport = FaultyTransport { request, _ in
            isAway.withLock { $0 } ? .fail(.unknownHost) : FaultyTransport.honest(request, content)
        }
        let loaders = loaders(transport)
        let reader = try await loaders.open(.web(url))
        let reading = Task { try await readAll(reader) }
        try await wait(for: "the wait") { reader.report.wait != nil && clock.sleeperCount == 1 }
        isAway.withLock { $0 = false }
        loaders.networkIsBack()
        #expect(try await reading.value == content)
        await reader.close()
    }

    @Test func `a server that refuses ranges is read whole, once`() async throws {
        let content = content(300_000)
        let transport = FaultyTransport { request, _ in
            guard request.range == nil else { return .answer(.refused(403), bytes: []) }
            return FaultyTransport.honest(request, content)
        }
        let reader = try await loaders(transport).open(.web(url))
        #expect(try await readAll(reader) == content)
        #expect(transport.requests.map(\.range) == [0..<65_536, nil])
        #expect(transport.sentBytes == 300_000)
        #expect(journal.decisions == [.withoutRanges])
        await reader.close()
    }

    @Test(arguments: [true, false])
    func `a whole body of another file is noticed before its bytes are heard`(hasGap: Bool) async throws {
        let old = content(300_000)
        let new = content(300_000, seed: 2)
        let stores = MemoryStores()
        let stored: [ByteRange] = hasGap ? [0..<20_000, 90_000..<100_000] : [0..<100_000]
        stores.store(of: url).preload(old, stored, validators: Validators())
        let transport = FaultyTransport { _, _ in .answer(.whole(300_000, etag: nil), bytes: new) }
        let reader = try await loaders(transport, stores).open(.web(url))
        let error = await #expect(throws: MediaError.self) {
            _ = try await reader.read(at: 200_000, count: 1)
        }
        #expect(error?.code == .resourceChanged)
        await reader.close()
        #expect(stores.store(of: url).stored.isEmpty, "the next open finds a new entry")
    }

    @Test func `eight readers at random offsets are sent each byte once`() async throws {
        let content = content(3_000_000)
        let transport = ScriptedTransport(.init(content: content))
        let loaders = loaders(transport)
        let url = url
        let keeper = try await loaders.open(.web(url))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...8 as ClosedRange<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    let reader = try await loaders.open(.web(url))
                    if seed.isMultiple(of: 2) { reader.allowReadAhead(bytesPerSecond: 40_000) }
                    for _ in 0..<40 {
                        var offset = Int64.random(in: 0..<3_000_000, using: &random)
                        for _ in 0..<Int.random(in: 1...6, using: &random) where offset < 3_000_000 {
                            let bytes = try await reader.read(at: offset, count: 9_000)
                            #expect(bytes.elementsEqual(content[Int(offset)..<Int(offset) + bytes.count]))
                            offset += Int64(bytes.count)
                        }
                    }
                    await reader.close()
                }
            }
            try await group.waitForAll()
        }
        #expect(transport.sentBytes == keeper.report.stored.byteCount)
        #expect(transport.sentBytes == keeper.report.fetchedBytes)
        await keeper.close()
    }

    @Test func `the head of the next track waits until the current one needs the line no more`() async throws
    {
        let content = content(1_000_000)
        let transport = ScriptedTransport(.init(content: content))
        let loaders = loaders(transport)
        let current = try await loaders.open(.web(url))
        _ = try await current.read(at: 0, count: 100)
        let next = try await loaders.open(.web(other))
        transport.hold()
        current.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "read-ahead to be held") { transport.heldBodies >= 1 }
        next.prefetch(0..<400_000)
        next.fill()
        #expect(!transport.requests.contains { $0.url == other })
        transport.release()
        try await wait(for: "the next track") { next.isStored(0..<1_000_000) }
        // All that was ahead of the current one was asked for before.
        let first = transport.requests.firstIndex { $0.url == other } ?? 0
        #expect(transport.requests.suffix(from: first).allSatisfy { $0.url == other })
        #expect(current.isStored(0..<1_000_000))
        #expect(Set(journal.requests.map(\.why)) == [.demand, .readAhead, .prefetch, .fill])
        await current.close()
        await next.close()
    }

    @Test func `the opening of the next track, too, asks for nothing while the current one is fetched`()
        async throws
    {
        let content = content(1_000_000)
        let transport = ScriptedTransport(.init(content: content))
        let loaders = loaders(transport)
        let current = try await loaders.open(.web(url))
        _ = try await current.read(at: 0, count: 100)
        let next = try #require(try await loaders.open(.web(other)) as? LoaderReader)
        next.setPriority(isLow: true)
        transport.hold()
        current.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "read-ahead to be held") { transport.heldBodies >= 1 }
        let opening = Task { try await next.read(at: 0, count: 100) }
        try await wait(for: "the next one to wait") {
            next.loader.note { $0.state.readers.isAnyWaiting }
        }
        #expect(!transport.requests.contains { $0.url == other })
        transport.release()
        #expect(try await opening.value == Array(content[..<100]))
        let first = try #require(transport.requests.firstIndex { $0.url == other })
        #expect(transport.requests.suffix(from: first).allSatisfy { $0.url == other })
        #expect(current.isStored(0..<1_000_000))
        #expect(journal.requests.count { $0.why == .demand } == 1)
        await current.close()
        await next.close()
    }

    @Test func `a dead server does not delay requests to other servers`() async throws {
        let content = content(200_000)
        let dead = url
        let transport = FaultyTransport { request, _ in
            request.url == dead ? .fail(.connectionRefused) : FaultyTransport.honest(request, content)
        }
        let loaders = loaders(transport)
        let waiting = try await loaders.open(.web(url))
        let reading = Task { try await waiting.read(at: 0, count: 1) }
        try await wait(for: "the wait") { waiting.report.wait != nil }
        let filled = try await loaders.open(.web(other))
        filled.fill()
        let begun = filled.report
        #expect(
            !begun.inFlight.isEmpty || !begun.stored.isEmpty,
            "its request does not wait for the dead server"
        )
        try await wait(for: "all of it") { filled.isStored(0..<200_000) }
        reading.cancel()
        await waiting.close()
        await filled.close()
    }

    @Test func `a reload gets the new file while another reader still reads the old one`() async throws {
        let old = content(200_000)
        let new = content(150_000, seed: 2)
        let stores = MemoryStores()
        let transport = ScriptedTransport(.init(content: old))
        let loaders = loaders(transport, stores)
        let before = try await loaders.open(.web(url))
        #expect(try await readAll(before) == old)
        transport.change {
            $0.content = new
            $0.validators = Validators(etag: "\"2\"")
        }
        let after = try await loaders.openRevalidated(.web(url))
        #expect(try await readAll(after) == new)
        #expect(try await readAll(before) == old)
        await before.close()
        let third = try await loaders.open(.web(url))
        #expect(try await readAll(third) == new)
        await third.close()
        await after.close()
    }

    @Test func `asking whether it is current counts as a request and is in the journal`() async throws {
        let content = content(100_000)
        let stores = MemoryStores()
        stores.store(of: url).preload(content, [0..<100_000], validators: Validators(etag: "\"1\""))
        let transport = FaultyTransport { request, _ in FaultyTransport.honest(request, content) }
        let reader = try await loaders(transport, stores).openRevalidated(.web(url))
        #expect(reader.report.requestCount == 1)
        #expect(journal.requests.map(\.why) == [.revalidate])
        #expect(journal.requests.map(\.status) == [304])
        #expect(try await readAll(reader) == content)
        await reader.close()
    }

    @Test func `the journal records the range, the response and the bytes of each request`() async throws {
        let content = content(100_000)
        let transport = FaultyTransport { request, number in
            guard number == 2,
                case .answer(let answer, let bytes, _) = FaultyTransport.honest(request, content)
            else { return FaultyTransport.honest(request, content) }
            return .answer(answer, bytes: Array(bytes.prefix(10_000)), isCut: true)
        }
        let reader = try await loaders(transport).open(.web(url))
        #expect(try await readAll(reader) == content)
        await reader.close()
        let records = journal.requests
        let first = try #require(records.first).number
        #expect(records.map(\.number) == [first, first + 1, first + 2])
        #expect(records.map(\.asked) == [0..<65_536, 65_536..<100_000, 75_536..<100_000])
        #expect(records.map(\.answered) == records.map(\.asked))
        #expect(records.map(\.bytes) == [65_536, 10_000, 24_464])
        #expect(records.map(\.end) == ["complete", "cut", "complete"])
        #expect(records.allSatisfy { $0.why == .demand && $0.status == 206 && $0.firstByte == .zero })
    }

    @Test func `what another process stored meanwhile is not asked for`() async throws {
        let content = content(200_000)
        let stores = MemoryStores()
        let transport = FaultyTransport { request, _ in FaultyTransport.honest(request, content) }
        let reader = try await loaders(transport, stores).open(.web(url))
        _ = try await reader.read(at: 0, count: 1)
        stores.store(of: url).preload(content, [65_536..<110_000], validators: Validators(etag: "\"1\""))
        #expect(try await readAll(reader) == content)
        #expect(transport.sentBytes == 200_000 - (110_000 - 65_536))
        await reader.close()
    }

    @Test(arguments: faultSeeds)
    func `whatever the server does, what is read is the music and no waiter is left`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let content = content(Int.random(in: 1...400_000, using: &random), seed: seed)
        let length = Int64(content.count)
        let hasValidators = Bool.random(using: &random)
        let stores = MemoryStores()
        var pieces: [ByteRange] = []
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let start = Int64.random(in: 0..<length, using: &random)
            pieces.append(start..<min(length, start + Int64.random(in: 1...90_000, using: &random)))
        }
        let etag = hasValidators ? "\"1\"" : nil
        stores.store(of: url).preload(content, pieces, validators: Validators(etag: etag))
        let transport = FaultyTransport { request, number in
            var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
            return Self.reply(to: request, content, etag: etag, &random)
        }
        let reader = try await loaders(transport, stores).open(.web(url))
        if Bool.random(using: &random) { reader.allowReadAhead(bytesPerSecond: 40_000) }
        let steps = (0..<30).map { _ in
            (Int64.random(in: 0..<length, using: &random), Int.random(in: 1...70_000, using: &random))
        }
        try await advancing { [reader] in
            for (offset, count) in steps {
                let bytes = try await reader.read(at: offset, count: count)
                #expect(bytes.elementsEqual(content[Int(offset)..<Int(offset) + bytes.count]))
            }
            #expect(try await readAll(reader) == content)
        }
        await reader.close()
        #expect(clock.sleeperCount == 0)
    }

    /// A consistent response that is often not what was requested.
    private static func reply(
        to request: RangeRequest,
        _ content: [UInt8],
        etag: String?,
        _ random: inout SeededGenerator
    ) -> FaultyTransport.Reply {
        let honest = FaultyTransport.honest(request, content, etag: etag)
        guard case .answer(var answer, var bytes, _) = honest else { return honest }
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            return .fail(
                [.connectionRefused, .timedOut, .unknownHost, .cut].randomElement(using: &random) ?? .cut
            )
        case 1: return .answer(.refused(503, retryAfter: .seconds(2)), bytes: [])
        case 2: return .answer(answer, bytes: [])
        case 3:
            // Begins earlier than requested.
            guard case .part(let range, let total) = answer.kind, range.lowerBound > 0 else { return honest }
            let start = Int64.random(in: 0..<range.lowerBound, using: &random)
            answer.kind = .part(range: start..<range.upperBound, total: total)
            return .answer(answer, bytes: Array(content[Int(start)..<Int(range.upperBound)]))
        case 4:
            guard case .part(let range, _) = answer.kind else { return honest }
            answer.kind = .part(range: range, total: nil)
            return .answer(answer, bytes: bytes)
        case 5 where request.ifRange == nil:
            answer.kind = .whole(length: Bool.random(using: &random) ? Int64(content.count) : nil)
            return .answer(answer, bytes: content, isCut: false)
        case 6...9:
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            return .answer(answer, bytes: bytes, isCut: true)
        default: return honest
        }
    }
}
