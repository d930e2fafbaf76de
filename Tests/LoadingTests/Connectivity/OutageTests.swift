import Loading
import Media
import System
import TestSupport
import Testing

/// Loaders, and what watches the network, while it goes and comes back.
@Suite struct OutageTests {
    private static let length = 400_000

    private let clock = TestClock()
    private let journal = SavedJournal()
    private let stores = MemoryStores()
    private let cable = Cable()
    private let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }

    private final class Cable: Sendable {
        private let cut = Locked(false)

        var isCut: Bool { cut.withLock { $0 } }
        func cut(_ isCut: Bool) { cut.withLock { $0 = isCut } }
    }

    /// The outcome of a request.
    private var line: FaultyTransport {
        FaultyTransport { [cable, content] request, _ in
            if cable.isCut { return .fail(.unknownHost) }
            return FaultyTransport.honest(request, content)
        }
    }

    private func url(_ path: String) throws -> WebURL {
        try #require(WebURL("http://music.example/\(path)"))
    }

    /// Wired as the player wires them.
    private func loaders(over line: FaultyTransport, isForced: Bool = false) -> (Loaders, NetworkWatch) {
        let watch = NetworkWatch(over: line, clock: clock, isForced: isForced, journal: journal)
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

    private func readAll(_ source: any ByteSource, from start: Int64 = 0) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try await source.read(at: start + Int64(bytes.count), count: 20_000)
            if more.isEmpty { return bytes }
            bytes += more
        }
    }

    /// Moves the time on to the next deadline, once a reader that waits and the watch both sleep towards theirs.
    private func step(until isOver: () -> Bool = { false }) async throws {
        let now = clock.now
        try await wait(for: "the reader and the watch to sleep at \(now)") {
            clock.sleeperCount == 2 || isOver()
        }
        if let wake = clock.nextWake { clock.advance(to: wake) }
    }

    @Test func `an outage of ten minutes is waited through, and the music goes on by itself`() async throws {
        let line = line
        let (loaders, watch) = loaders(over: line)
        let reader = try await loaders.open(.web(url("song.mp3")))
        let head = try await reader.read(at: 0, count: 10_000)
        #expect(head.elementsEqual(content.prefix(10_000)))
        try await wait(for: "the end of the first window") { reader.isStored(0..<65_536) }
        cable.cut(true)
        let before = line.requests.count
        let start = Int64(head.count)
        let reading = Task { try await readAll(reader, from: start) }
        while clock.now < .seconds(600) { try await step() }
        try await wait(for: "both to sleep") { clock.sleeperCount == 2 }
        #expect(watch.report.isOffline && reader.report.wait?.error.code == .unknownHost)
        // Eight while the pauses grow to half a minute, then one every half minute.
        let tries = line.requests.count - before
        #expect(tries >= 20 && tries <= 30, "\(tries) attempts")
        cable.cut(false)
        clock.advance(by: .seconds(30))
        let rest = try await reading.value
        #expect(rest.elementsEqual(content[head.count...]))
        #expect(!watch.report.isOffline && reader.report.wait == nil)
        #expect(!journal.decisions.contains(.gaveUp))
        #expect(line.sentBytes == Int64(Self.length), "each byte once")
        await reader.close()
        watch.end()
        try await wait(for: "all timers to end") { clock.sleeperCount == 0 }
    }

    @Test func `music that was never here is asked for ten times and then told`() async throws {
        cable.cut(true)
        let line = line
        let (loaders, watch) = loaders(over: line)
        let reader = try await loaders.open(.web(url("song.mp3")))
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

    @Test func `what is asked for without a network and is not here is skipped at once, the rest plays`()
        async throws
    {
        let line = line
        let (loaders, watch) = loaders(over: line)
        let heard = try await loaders.open(.web(url("heard.mp3")))
        #expect(try await readAll(heard).count == Self.length)
        cable.cut(true)
        let lost = try await loaders.open(.web(url("lost.mp3")))
        let waiting = Task { try await lost.read(at: 0, count: 1) }
        try await wait(for: "the loss") { watch.report.isOffline }
        let sent = line.requests.count
        for number in 1...20 {
            let next = try await loaders.open(.web(url("\(number).mp3")))
            let error = await #expect(throws: MediaError.self) { _ = try await next.read(at: 0, count: 1) }
            #expect(error?.code == .offline)
            #expect(next.report.requestCount == 0)
            await next.close()
        }
        #expect(line.requests.count == sent, "nothing was sent for them")
        #expect(try await readAll(heard).elementsEqual(content))
        waiting.cancel()
        await lost.close()
        await heard.close()
        watch.end()
    }

    @Test func `by wish what is not here fails at once, and no timer is left`() async throws {
        let line = line
        let (loaders, watch) = loaders(over: line, isForced: true)
        let reader = try await loaders.open(.web(url("song.mp3")))
        let error = await #expect(throws: MediaError.self) { _ = try await reader.read(at: 0, count: 1) }
        #expect(error?.code == .offline && line.requests.isEmpty)
        await reader.close()
        watch.end()
        #expect(clock.sleeperCount == 0)
    }

    @Test func `an idle player hears that the network is back`() async throws {
        let (loaders, watch) = loaders(over: line)
        cable.cut(true)
        let reader = try await loaders.open(.web(url("song.mp3")))
        let reading = Task { try await reader.read(at: 0, count: 1) }
        try await wait(for: "the loss") { clock.sleeperCount == 2 }
        reading.cancel()
        await reader.close()
        try await wait(for: "the watch's own timer alone") { clock.sleeperCount == 1 }
        cable.cut(false)
        clock.advance(by: .seconds(31))
        try await wait(for: "the network to be known as back") { !watch.report.isOffline }
        #expect(journal.decisions.last == .wentOnline)
        #expect(clock.sleeperCount == 0)
    }
}
