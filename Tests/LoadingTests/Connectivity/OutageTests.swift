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

    /// Moves the time on to the next deadline, once a reader that waits and the watch both sleep towards
    /// theirs.
    private func step(until isOver: () -> Bool = { false }) async throws {
        let now = clock.now
        try await wait(for: "the reader and the watch to sleep at \(now)") {
            clock.sleeperCount == 2 || isOver()
        }
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
        server.fail(.unknownHost)
        let before = server.requests.count
        let start = Int64(head.count)
        let reading = Task { try await readAll(reader, from: start) }
        while clock.now < .seconds(600) { try await step() }
        try await wait(for: "both to sleep") { clock.sleeperCount == 2 }
        #expect(watch.report.isOffline && reader.report.wait?.error.code == .unknownHost)
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
        watch.end()
        try await wait(for: "all timers to end") { clock.sleeperCount == 0 }
    }

    @Test func `a track of which nothing is cached is requested ten times, and then its read fails`()
        async throws
    {
        server.fail(.unknownHost)
        let (loaders, watch) = loaders()
        let reader = try await loaders.open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the loss") { watch.report.isOffline }
        while reader.report.requestCount < 10 { try await step { reader.report.requestCount == 10 } }
        let error = await #expect(throws: MediaError.self) { _ = try await reading.value }
        #expect(error?.code == .unknownHost)
        #expect(error?.cause.string.contains("10 attempts") == true)
        // The watch may have requested a byte itself in the meantime.
        #expect(reader.report.requestCount == 10)
        await reader.close()
        watch.end()
    }

    @Test func `without a network, reads of uncached tracks fail at once and cached tracks play`()
        async throws
    {
        let (loaders, watch) = loaders()
        let heard = try await loaders.open(.web(url("heard.mp3")))
        #expect(try await readAll(heard).count == music.count)
        server.fail(.unknownHost)
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
        watch.end()
    }

    @Test func `an idle player learns that the network is back`() async throws {
        let (loaders, watch) = loaders()
        server.fail(.unknownHost)
        let reader = try await loaders.open(.web(songURL))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the loss") { clock.sleeperCount == 2 }
        reading.cancel()
        await reader.close()
        try await wait(for: "the watch's own timer alone") { clock.sleeperCount == 1 }
        server.serve(.init(content: music))
        clock.advance(by: .seconds(31))
        // The journal is told after the report has changed.
        try await wait(for: "the network to be noted as back") { journal.decisions.last == .wentOnline }
        #expect(!watch.report.isOffline)
        #expect(clock.sleeperCount == 0)
    }
}
