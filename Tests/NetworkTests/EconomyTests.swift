import Cache
import HTTP
import Loading
import Media
import RepriseOrigin
import System
import TestSupport
import Testing

/// The bytes fetched before the first sound after a seek, and ahead of the music heard: no more than needed.
@Suite struct EconomyTests {
    enum Kind: String, Sendable, CaseIterable {
        case constant, table
    }

    private func song(_ kind: Kind) async throws -> Song {
        switch kind {
        case .constant: try await Song.long()
        case .table: try await Song.longVariable()
        }
    }

    @Test(arguments: Kind.allCases)
    func `a cold start has its first sound from one request of 64 KiB`(kind: Kind) async throws {
        let song = try await song(kind)
        let chain = try Chain(["/song.mp3": song.bytes])
        let reader = try await chain.open()
        let samples = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open(readsAhead: false)
            return try await decoding.samples(1)
        }
        #expect(isSame(samples, song.pcm.prefix(samples.count)))
        #expect(chain.server.log.askedRanges() == ["bytes=0-65535"])
        try await chain.end()
    }

    @Test(arguments: Kind.allCases)
    func `a far seek into a gap has its first sound from one request of at most 64 KiB`(
        kind: Kind
    ) async throws {
        let song = try await song(kind)
        let chain = try Chain(["/song.mp3": song.bytes])
        // Read-ahead is not allowed, so that only bytes for which a read waits are requested.
        let reader = try await chain.open()
        let (before, samples) = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open(readsAhead: false)
            _ = try await decoding.samples(5 * 44_100 * 2)
            let before = chain.server.log.requests.count
            _ = try await decoding.seek(to: .seconds(240))
            return (before, try await decoding.samples(1))
        }
        #expect(!samples.isEmpty)
        let after = chain.server.log.requests.dropFirst(before)
        #expect(after.count == 1, "\(after)")
        #expect(after.reduce(0) { $0 + $1.bodyBytesSent } <= 65_536)
        #expect(chain.clock.now == .zero, "no time passed")
        if kind == .constant {
            // The frame that it claims is the frame that comes.
            let start = 240 * 44_100 * 2
            #expect(isSame(samples, song.pcm[start..<start + samples.count]))
        }
        try await chain.end()
    }

    @Test func `a far seek cancels read-ahead, and no byte of it is lost`() async throws {
        let (song, chain) = try await Chain.long()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(200_000))
        let reader = try await chain.open()
        let samples = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open()
            let first = try await decoding.samples(44_100)
            #expect(isSame(first, song.pcm.prefix(first.count)))
            try await gate.reached()
            gate.release()
            _ = try await decoding.seek(to: .seconds(200))
            return try await decoding.samples(44_100)
        }
        let start = 200 * 44_100 * 2
        #expect(isSame(samples, song.pcm[start..<start + samples.count]))
        await chain.close(reader)
        let sent = chain.server.log.sentRanges(for: "/song.mp3")
        try await chain.end()
        // The socket and libcurl buffer bytes that were sent but not delivered when the request ended.
        let kept = try await chain.claims(of: song.bytes).stored
        #expect(sent.byteCount - kept.byteCount <= 1 << 20)
    }

    @Test func `a far seek while the line is busy with read-ahead opens no connection`() async throws {
        let song = try await Song.long()
        var settings = LoadSettings()
        settings.readAhead = .size(1_600_000)
        let chain = try Chain(["/song.mp3": song.bytes], settings: settings)
        let reader = try await chain.open()
        let log = chain.server.log
        try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open(readsAhead: false)
            try await wait(for: "the first window") { reader.isStored(0..<65_536) }
            // An answer over the loopback would be here before the second request is sent.
            let start = chain.server.origin.hold("/song.mp3", .beforeHead)
            reader.reader.allowReadAhead(bytesPerSecond: 16_000)
            try await wait(for: "two requests side by side") {
                start.heldCount == 2
            } seeing: {
                "\(log.requests)"
            }
            #expect(Set(log.requests.suffix(2).map(\.connection)).count == 2)
            start.release()
            try await wait(for: "read-ahead to rest") {
                reader.isStored(0..<1_600_000) && log.requests.allSatisfy { $0.outcome != .underWay }
            }
            let gate = chain.server.origin.hold("/song.mp3", .afterBytesOfEach(10_000))
            while !gate.isReached { _ = try await decoding.samples(44_100) }
            let before = log.requests
            let busy = before.filter { $0.outcome == .underWay }
            #expect(busy.count == 1)
            async let landing = decoding.seek(to: .seconds(250))
            try await wait(for: "the request for the new place") { log.requests.count > before.count }
            let demanded = try #require(log.requests.dropFirst(before.count).first)
            #expect(demanded.connection != busy.first?.connection)
            #expect(before.contains { $0.connection == demanded.connection }, "it is warm: \(before)")
            try await wait(for: "the old window to be left") {
                log.requests.first { $0.number == busy.first?.number }?.outcome == .aborted
            }
            gate.release()
            _ = try await landing
        }
        try await chain.end()
    }

    @Test func `after ten seconds over a line of 2 MB a second little more than the read-ahead is sent`()
        async throws
    {
        let song = try await Song.long()
        let shaping = Shaping(bytesPerSecond: 2_000_000)
        let server = try TestOrigin(["/song.mp3": song.bytes], shaping: shaping)
        let folder = try TemporaryFolder()
        // On the real clock, since windows go by the rate that is measured; the default settings.
        let transport = CurlTransport()
        let settings = LoadSettings()
        let loaders = Loaders(
            transport: transport,
            stores: CacheFolder(path: folder.path("cache")),
            clock: SystemClock(),
            settings: settings
        )
        let url = try #require(WebURL(server.url("/song.mp3")))
        let reader = WatchedReader(try await loaders.open(.web(url)))
        let decoding = Decoding(reader)
        try await decoding.open()
        let heard = try await decoding.samples(10 * 44_100 * 2)
        #expect(isSame(heard, song.pcm.prefix(heard.count)))
        try await wait(for: "read-ahead to rest") {
            reader.reader.report.inFlight.isEmpty
                && server.log.requests.allSatisfy { $0.outcome != .underWay }
        }
        let rate = try #require(reader.reader.report.bytesPerSecond)
        #expect(rate < 4_000_000, "the line was measured, and not the machine: \(rate)")
        // 128 kbit/s: ten seconds and sixty, of which a MiB is the least, and a window.
        let readAhead = max(60 * 16_000, settings.leastReadAhead)
        #expect(server.log.bytesSent <= 10 * 16_000 + 32_768 + readAhead + settings.largestWindow)
        #expect(server.log.bytesSent >= 10 * 15_000 + readAhead, "and it does read ahead")
        #expect(server.log.bytesSent < song.length / 2)
        await reader.reader.close()
        await transport.shutdown()
    }

    @Test(arguments: [10, 60])
    func `after ten seconds no more is sent than those, the read-ahead and one window`(
        readAhead: Int
    ) async throws {
        let song = try await Song.long()
        var settings = LoadSettings()
        settings.readAhead = .time(.seconds(readAhead))
        settings.leastReadAhead = 0
        let chain = try Chain(["/song.mp3": song.bytes], settings: settings)
        let window = settings.largestWindow
        let reader = try await chain.open()
        try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open()
            var heard = 0
            for second in 1...10 {
                heard += try await decoding.samples(second * 44_100 * 2 - heard).count
                // All that may come has come, before it is counted.
                try await wait(for: "read-ahead to rest") {
                    chain.readers[0].reader.report.inFlight.isEmpty
                        && chain.server.log.requests.allSatisfy { $0.outcome != .underWay }
                }
                // 128 kbit/s; the decoder itself reads up to 32 KiB ahead of what it gives.
                let bound = Int64(second + readAhead) * 16_000 + 64_000 + window
                #expect(chain.server.log.bytesSent <= bound, "after \(second) s")
            }
            #expect(heard >= 10 * 44_100 * 2)
        }
        #expect(chain.server.log.bytesSent >= Int64(10 + readAhead) * 15_000, "and it does read ahead")
        try await chain.end()
    }
}
