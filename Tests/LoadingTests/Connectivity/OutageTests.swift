import Media
import System
import TestSupport
import Testing

@testable import Loading

/// Loaders over a `NetworkWatch`, while the network goes and comes back.
@Suite struct OutageTests {
    private let clock = TestClock()
    private let journal = SavedJournal()
    private let stores = MemoryStores()
    private let music = content(400_000)
    private let server: MemoryServer

    init() { server = MemoryServer(music) }

    private func url(_ path: String) throws -> WebURL {
        try #require(WebURL("http://music.example/\(path)"))
    }

    /// Wired as the player wires them.
    private func loaders() -> (Loaders, NetworkWatch) {
        let watch = NetworkWatch(over: server, clock: clock, journal: journal)
        let loaders = Loaders(
            transport: watch,
            stores: stores,
            clock: clock,
            connectivity: watch,
            journal: journal,
            seed: 1
        )
        watch.observe { if !$0.isOffline { loaders.networkIsBack() } }
        return (loaders, watch)
    }

    /// Moves the time on to the next deadline, once a reader that waits sleeps towards it.
    private func step(until isOver: () -> Bool = { false }) async throws {
        let now = clock.now
        try await wait(for: "the reader to sleep at \(now)") { clock.sleeperCount == 1 || isOver() }
        if let wake = clock.nextWake { clock.advance(to: wake) }
    }

    @Test func `an episode is opened in the store as one, and as offline only while the network is lost`()
        async throws
    {
        let episode = Episode(feed: "http://h/feed", guid: "1", date: nil, place: 0)
        let watch = NetworkWatch(over: server, clock: clock, isForced: true)
        for (connectivity, count) in [(nil, 0), (watch, 2)] as [(NetworkWatch?, Int)] {
            let loaders = Loaders(transport: server, stores: stores, clock: clock, connectivity: connectivity)
            try await loaders.open(.web(songURL)).close()
            try await loaders.open(.web(songURL), of: episode).close()
            try await loaders.openRevalidated(.web(songURL), of: episode).close()
            #expect(stores.openedOffline == Array(repeating: episode, count: count))
        }
    }

    @Test func `a read waits through an outage of ten minutes and then returns the music`() async throws {
        let (loaders, watch) = loaders()
        let reader = try await loaders.open(.web(songURL))
        let head = try await reader.read(at: 0, count: 10_000)
        #expect(head.elementsEqual(music.prefix(10_000)))
        try await wait(for: "the end of the first window") { reader.isStored(0..<65_536) }
        server.fail(.networkUnreachable)
        let before = server.requests.count
        let start = Int64(head.count)
        let reading = Task { try await readAll(reader, from: start) }
        while clock.now < .seconds(600) { try await step() }
        try await wait(for: "the reader to sleep") { clock.sleeperCount == 1 }
        #expect(watch.report.isOffline && reader.report.wait?.error.code == .networkUnreachable)
        // Eight while the pauses grow to half a minute, then one every half minute.
        let tries = server.requests.count - before
        #expect(tries >= 20 && tries <= 30, "\(tries) attempts")
        server.serve(.init(content: music))
        clock.advance(by: .seconds(30))
        let rest = try await reading.value
        #expect(rest.elementsEqual(music[head.count...]))
        #expect(!watch.report.isOffline && reader.report.wait == nil)
        #expect(!journal.decisions.contains(.gaveUp))
        #expect(server.sentBytes == Int64(music.count), "each byte once")
        await reader.close()
        try await wait(for: "all timers to end") { clock.sleeperCount == 0 }
    }

    @Test func `a track of which nothing is cached is requested ten times, and then its read fails`()
        async throws
    {
        server.fail(.networkUnreachable)
        let (loaders, watch) = loaders()
        let reader = try await loaders.open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the loss") { watch.report.isOffline }
        while reader.report.requestCount < 10 { try await step { reader.report.requestCount == 10 } }
        let error = await #expect(throws: MediaError.self) { _ = try await reading.value }
        #expect(error?.code == .networkUnreachable)
        #expect(error?.cause.string.contains("10 attempts") == true)
        #expect(reader.report.requestCount == 10)
        await reader.close()
    }

    @Test func `without a network, reads of uncached tracks fail at once and cached tracks play`()
        async throws
    {
        let (loaders, watch) = loaders()
        let heard = try await loaders.open(.web(url("heard.mp3")))
        #expect(try await readAll(heard).count == music.count)
        server.fail(.networkUnreachable)
        let lost = try await loaders.open(.web(url("lost.mp3")))
        let waiting = Task { try await lost.read(at: 0, count: 1) }
        try await wait(for: "the loss") { watch.report.isOffline }
        let sent = server.requests.count
        for number in 1...20 {
            let next = try await loaders.open(.web(url("\(number).mp3")))
            let error = await #expect(throws: MediaError.self) { _ = try await next.read(at: 0, count: 1) }
            #expect(error?.code == .offline)
            #expect(next.report.requestCount == 0)
            await next.close()
        }
        #expect(server.requests.count == sent, "no request was sent for them")
        #expect(try await readAll(heard).elementsEqual(music))
        waiting.cancel()
        await lost.close()
        await heard.close()
    }

    @Test func `a partly cached track of a host that refuses connections waits until it answers`()
        async throws
    {
        let (loaders, watch) = loaders()
        let reader = try await loaders.open(.web(songURL))
        _ = try await reader.read(at: 0, count: 10_000)
        try await wait(for: "the end of the first window") { reader.isStored(0..<65_536) }
        server.fail(.connectionRefused)
        let reading = Task { try await readAll(reader, from: 65_536) }
        while clock.now < .seconds(600) { try await step() }
        #expect(!watch.report.isOffline && reader.report.wait?.mostAttempts == nil)
        server.serve(.init(content: music))
        try await step { reader.report.wait == nil }
        let rest = try await reading.value
        #expect(rest.elementsEqual(music[65_536...]))
        await reader.close()
    }

    @Test func `of a host that never answers, a partly cached track waits and the others fail at once`()
        async throws
    {
        stores.song.preload(music, [0..<65_536])
        let file = MemoryServer.File(content: music)
        let isBack = Locked(false)
        let silent = MemoryServer { request, _ in
            isBack.withLock { $0 } ? file.reply(to: request) : .dead(.connectionRefused)
        }
        let watch = NetworkWatch(over: silent, clock: clock)
        let loaders = Loaders(
            transport: watch,
            stores: stores,
            clock: clock,
            connectivity: watch,
            seed: 1
        )
        let reader = try await loaders.open(.web(songURL))
        let reading = Task { try await readAll(reader) }
        while clock.now < .seconds(120) { try await step() }
        let others = silent.requests.count
        // Two at first, then one every thirty seconds at most.
        #expect(others >= 4 && others <= 7, "\(others) requests")
        let lost = try await loaders.open(.web(url("lost.mp3")))
        let error = await #expect(throws: MediaError.self) { _ = try await lost.read(at: 0, count: 1) }
        #expect(error?.code == .connectionRefused && lost.report.requestCount == 0)
        await lost.close()
        isBack.withLock { $0 = true }
        while reader.report.wait != nil { try await step { reader.report.wait == nil } }
        #expect(try await reading.value.elementsEqual(music))
        await reader.close()
    }
}
