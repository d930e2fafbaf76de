import Media
import System
import TestSupport
import Testing

@testable import Loading

/// The scripts of faults that are tried.
private let faultSeeds = TestCount.seeds(20, full: 1_000)

/// The loaders against servers and networks as they are.
@Suite struct LoadersNetworkTests {
    private let other = WebURL("http://music.example/next.mp3").unwrapped
    private let clock = TestClock()
    private let journal = SavedJournal()
    private let history = RequestHistory()

    private func loaders(
        _ server: MemoryServer,
        _ stores: MemoryStores = MemoryStores(),
        journal: (any RequestJournal)? = nil
    ) -> Loaders {
        Loaders(transport: server, stores: stores, clock: clock, journal: journal ?? self.journal, seed: 1)
    }

    @Test func `a read waits while a server is unreachable, and the wait is reported`() async throws {
        let file = MemoryServer.File(content: content(100_000))
        let server = MemoryServer { $1 <= 3 ? .fail(.connectionRefused) : file.reply(to: $0) }
        let reader = try await loaders(server).open(.web(songURL))
        let reading = Task { try await readAll(reader) }
        for attempt in 1...3 {
            try await wait(for: "attempt \(attempt) to fail") {
                reader.report.wait?.attempt == attempt && clock.sleeperCount == 1
            }
            #expect(server.requests.count == attempt)
            clock.advance(by: .seconds(2))
        }
        #expect(try await reading.value == file.content)
        #expect(reader.report.wait == nil)
        // The later decisions depend on how soon the rest comes.
        #expect(journal.decisions.prefix(3) == [.retryLater, .retryLater, .retryLater])
        #expect(journal.decisions.count { $0 == .retryLater } == 3)
        let ends = Array(repeating: "connection-refused", count: 3) + ["complete"]
        #expect(journal.requests.map(\.end).prefix(4) == ends[...])
        await reader.close()
        #expect(clock.sleeperCount == 0, "no timer is left behind")
    }

    @Test func `closing a reader that waits ends the read and the timer`() async throws {
        let reader = try await loaders(MemoryServer { _, _ in .fail(.timedOut) }).open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the wait") { clock.sleeperCount == 1 }
        await reader.close()
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await wait(for: "the timer to end") { clock.sleeperCount == 0 }
    }

    @Test func `when the network is back the waiting read goes on without the clock`() async throws {
        let file = MemoryServer.File(content: content(50_000))
        let server = MemoryServer { _, _ in .fail(.unknownHost) }
        let loaders = loaders(server)
        let reader = try await loaders.open(.web(songURL))
        let reading = Task { try await readAll(reader) }
        try await wait(for: "the wait") { reader.report.wait != nil && clock.sleeperCount == 1 }
        server.serve(file)
        loaders.networkIsBack()
        #expect(try await reading.value == file.content)
        await reader.close()
    }

    @Test(arguments: [true, false])
    func `no byte of a whole body of another file is returned`(hasGap: Bool) async throws {
        let stored: [ByteRange] = hasGap ? [0..<20_000, 90_000..<100_000] : [0..<100_000]
        let stores = MemoryStores(content(300_000), stored, etag: nil)
        let file = MemoryServer.File(content: content(300_000, seed: 2), etag: nil, hasRanges: false)
        let reader = try await loaders(MemoryServer(file), stores).open(.web(songURL))
        let error = await #expect(throws: MediaError.self) {
            _ = try await reader.read(at: 200_000, count: 1)
        }
        #expect(error?.code == .resourceChanged)
        await reader.close()
        #expect(stores.song.stored.isEmpty, "the next open finds a new entry")
    }

    @Test func `eight readers at random offsets are sent each byte once`() async throws {
        let content = content(3_000_000)
        let server = MemoryServer(content)
        let loaders = loaders(server)
        let keeper = try await loaders.open(.web(songURL))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 1...8 as ClosedRange<UInt64> {
                group.addTask {
                    var random = SeededGenerator(seed: seed)
                    let reader = try await loaders.open(.web(songURL))
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
        // Only the close of the last reader waits for bytes that are still on their way into the store.
        await keeper.close()
        #expect(server.sentBytes == keeper.report.stored.byteCount)
        #expect(server.sentBytes == keeper.report.fetchedBytes)
    }

    @Test(arguments: [false, true])
    func `requests for the next track wait until the current one needs no more`(isOpening: Bool) async throws
    {
        let content = content(1_000_000)
        let server = MemoryServer(content)
        let loaders = loaders(server)
        let current = try await loaders.open(.web(songURL))
        _ = try await current.read(at: 0, count: 100)
        let next = try #require(try await loaders.open(.web(other)) as? LoaderReader)
        server.hold()
        current.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "read-ahead to be held") { server.heldBodies >= 1 }
        let opening = Task {
            guard isOpening else { return [UInt8]() }
            next.setPriority(isLow: true)
            return try await next.read(at: 0, count: 100)
        }
        if isOpening {
            try await wait(for: "the next one to wait") {
                next.loader.note { $0.state.readers.isAnyWaiting }
            }
        } else {
            next.prefetch(0..<400_000)
            next.fill()
        }
        #expect(!server.requests.contains { $0.url == other })
        server.release()
        let head = try await opening.value
        #expect(head.elementsEqual(content.prefix(isOpening ? 100 : 0)))
        if !isOpening { try await wait(for: "the next track") { next.isStored(0..<1_000_000) } }
        // All read-ahead of the current track was requested before.
        let first = try #require(server.requests.firstIndex { $0.url == other })
        #expect(server.requests.suffix(from: first).allSatisfy { $0.url == other })
        #expect(current.isStored(0..<1_000_000))
        #expect(journal.requests.count { $0.urgency == .demand } == 1)
        let reasons: Set<Urgency> =
            isOpening ? [.demand, .readAhead] : [.demand, .readAhead, .prefetch, .fill]
        #expect(Set(journal.requests.map(\.urgency)).isSuperset(of: reasons))
        await current.close()
        await next.close()
    }

    @Test func `a dead server does not delay requests to other servers`() async throws {
        let file = MemoryServer.File(content: content(200_000))
        let server = MemoryServer { request, _ in
            request.url == songURL ? .fail(.connectionRefused) : file.reply(to: request)
        }
        let loaders = loaders(server)
        let waiting = try await loaders.open(.web(songURL))
        let reading = Task { try await waiting.read(at: 0, count: 1) }
        try await wait(for: "the wait") { waiting.report.wait != nil }
        let filled = try await loaders.open(.web(other))
        filled.fill()
        #expect(!filled.report.inFlight.isEmpty || !filled.report.stored.isEmpty, "its request left at once")
        try await wait(for: "all of it") { filled.isStored(0..<200_000) }
        reading.cancel()
        await waiting.close()
        await filled.close()
    }

    @Test func `the journal records the range, the response and the bytes of each request`() async throws {
        let file = MemoryServer.File(content: content(100_000))
        var cut = file
        cut.cutAfter = 10_000
        let server = MemoryServer { [cut] in ($1 == 2 ? cut : file).reply(to: $0) }
        let reader = try await loaders(server).open(.web(songURL))
        #expect(try await readAll(reader) == file.content)
        await reader.close()
        let records = journal.requests
        let first = try #require(records.first).number
        #expect(records.map(\.number) == [first, first + 1, first + 2])
        #expect(records.map(\.asked) == [0..<65_536, 65_536..<100_000, 75_536..<100_000])
        #expect(records.map(\.answered) == records.map(\.asked))
        #expect(records.map(\.bytes) == [65_536, 10_000, 24_464])
        #expect(records.map(\.end) == ["complete", "cut", "complete"])
        #expect(records.allSatisfy { $0.urgency == .demand && $0.status == 206 && $0.firstByte == .zero })
    }

    private var requestsUnderWay: [RequestRecord] {
        history.underWay.compactMap { if case .request(let request) = $0.event { request } else { nil } }
    }

    @Test func `a request is reported as under way until it has ended`() async throws {
        let server = MemoryServer(content(60_000))
        server.hold()
        let reader = try await loaders(server, journal: history).open(.web(songURL))
        #expect(try await !reader.read(at: 0, count: 100).isEmpty)
        try await wait(for: "the first chunk") { requestsUnderWay.map(\.bytes) == [16_384] }
        let request = try #require(requestsUnderWay.first)
        #expect(request.urgency == .demand && request.status == 206 && request.answered?.lowerBound == 0)
        #expect(request.firstByte != nil && request.end.isEmpty)
        #expect(history.recordCount == 0)
        server.release()
        try await wait(for: "its end") { requestsUnderWay.isEmpty }
        #expect(history.recordCount == 1)
        await reader.close()
    }

    @Test func `a request that was not sent while offline is not reported`() async throws {
        let server = MemoryServer { _, _ in .fail(.offline) }
        let reader = try await loaders(server, journal: history).open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 100) }
        try await wait(for: "the refusal") { server.requests.count > 0 && requestsUnderWay.isEmpty }
        #expect(!history.newest.records.contains { if case .request = $0.event { true } else { false } })
        await reader.close()
        _ = await reading.result
    }

    @Test func `bytes that another process has stored meanwhile are not requested`() async throws {
        let content = content(200_000)
        let stores = MemoryStores()
        let server = MemoryServer(content)
        let reader = try await loaders(server, stores).open(.web(songURL))
        _ = try await reader.read(at: 0, count: 1)
        stores.song.preload(content, [65_536..<110_000])
        #expect(try await readAll(reader) == content)
        #expect(server.sentBytes == 200_000 - (110_000 - 65_536))
        await reader.close()
    }

    @Test
    func
        `only the first attempt for a waiting read is urgent: retries and read-ahead look for other processes`()
        async throws
    {
        let file = MemoryServer.File(content: content(200_000))
        let server = MemoryServer { $1 == 1 ? .fail(.connectionRefused) : file.reply(to: $0) }
        let stores = MemoryStores()
        let reader = try await loaders(server, stores).open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the failure") { reader.report.wait != nil && clock.sleeperCount == 1 }
        #expect(stores.song.refreshes == [true])
        clock.advance(by: .seconds(2))
        _ = try await reading.value
        #expect(stores.song.refreshes == [true, false])
        reader.allowReadAhead(bytesPerSecond: 40_000)
        try await wait(for: "all of it") { stores.song.stored == ByteRangeSet(0..<200_000) }
        #expect(stores.song.refreshes.dropFirst().allSatisfy { !$0 })
        await reader.close()
    }

    @Test(arguments: faultSeeds)
    func `whatever the server does, each read returns the music and no timer is left`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let content = content(Int.random(in: 1...400_000, using: &random), seed: seed)
        let length = Int64(content.count)
        let file = MemoryServer.File(content: content, etag: Bool.random(using: &random) ? "\"1\"" : nil)
        let pieces = randomPieces(0...4, of: length, upTo: 90_000, using: &random)
        let server = MemoryServer { request, number in
            var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
            return Self.reply(to: request, file, &random)
        }
        let stores = MemoryStores(content, pieces, etag: file.etag)
        let reader = try await loaders(server, stores).open(.web(songURL))
        if Bool.random(using: &random) { reader.allowReadAhead(bytesPerSecond: 40_000) }
        let steps = (0..<30).map { _ in
            (Int64.random(in: 0..<length, using: &random), Int.random(in: 1...70_000, using: &random))
        }
        let ticking = Task { [clock] in
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: .milliseconds(500)) }
                await Task.yield()
            }
        }
        defer { ticking.cancel() }
        for (offset, count) in steps {
            let bytes = try await reader.read(at: offset, count: count)
            #expect(bytes.elementsEqual(content[Int(offset)..<Int(offset) + bytes.count]))
        }
        #expect(try await readAll(reader) == content)
        await reader.close()
        #expect(clock.sleeperCount == 0)
    }

    /// A consistent response that is often not what was requested.
    private static func reply(
        to request: RangeRequest,
        _ file: MemoryServer.File,
        _ random: inout SeededGenerator
    ) -> MemoryServer.Reply {
        let honest = file.reply(to: request)
        guard case .answer(var answer, var bytes, _) = honest else { return honest }
        switch Int.random(in: 0..<16, using: &random) {
        case 0:
            let codes: [MediaError.Code] = [.connectionRefused, .timedOut, .unknownHost, .cut]
            return .fail(codes.randomElement(using: &random) ?? .cut)
        case 1: return .answer(.refused(503, retryAfter: .seconds(2)), bytes: [])
        case 2: return .answer(answer, bytes: [])
        case 3:
            // Begins earlier than requested.
            guard case .part(let range, let total) = answer.kind, range.lowerBound > 0 else { return honest }
            let start = Int64.random(in: 0..<range.lowerBound, using: &random)
            answer.kind = .part(range: start..<range.upperBound, total: total)
            return .answer(answer, bytes: Array(file.content[Int(start)..<Int(range.upperBound)]))
        case 4:
            guard case .part(let range, _) = answer.kind else { return honest }
            answer.kind = .part(range: range, total: nil)
            return .answer(answer, bytes: bytes)
        case 5 where request.ifRange == nil:
            answer.kind = .whole(length: Bool.random(using: &random) ? Int64(file.content.count) : nil)
            return .answer(answer, bytes: file.content)
        case 6...9:
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            return .answer(answer, bytes: bytes, isCut: true)
        default: return honest
        }
    }
}
