import Loading
import Media
import RepriseOrigin
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
    func `a cold start and a far seek have their first sound from one request of at most 64 KiB each`(
        kind: Kind
    ) async throws {
        let song = try await song(kind)
        let chain = try Chain(["/song.mp3": song.bytes])
        // Read-ahead is not allowed, so that only bytes for which a read waits are requested.
        let reader = try await chain.open()
        let (before, samples) = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open(readsAhead: false)
            let first = try await decoding.samples(1)
            #expect(isSame(first, song.pcm.prefix(first.count)))
            #expect(chain.server.log.askedRanges() == ["bytes=0-65535"])
            _ = try await decoding.samples(5 * 44_100 * 2)
            let before = chain.server.log.requests.count
            _ = try await decoding.seek(to: .seconds(240))
            return (before, try await decoding.samples(1))
        }
        #expect(!samples.isEmpty)
        let after = chain.server.log.requests.dropFirst(before)
        #expect(after.count == 1 && after.allSatisfy { $0.bodyBytesSent <= 65_536 }, "\(after)")
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

    /// `nil` stands for the default read-ahead: sixty seconds and at least a MiB.
    @Test(arguments: [nil, 10, 60])
    func `after ten seconds no more is sent than those, the read-ahead and one window`(seconds: Int?)
        async throws
    {
        let song = try await Song.long()
        var settings = LoadSettings()
        if let seconds {
            settings.readAhead = .time(.seconds(seconds))
            settings.leastReadAhead = 0
        }
        // 128 kbit/s.
        let readAhead = max(Int64(seconds ?? 60) * 16_000, settings.leastReadAhead)
        let most = readAhead + settings.largestWindow
        let chain = try Chain(["/song.mp3": song.bytes], settings: settings)
        let reader = try await chain.open()
        try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open()
            var heard = 0
            for second in 1...10 {
                heard += try await decoding.samples(second * 44_100 * 2 - heard).count
                try await wait(for: "read-ahead to rest") {
                    chain.readers[0].reader.report.inFlight.isEmpty
                        && chain.server.log.requests.allSatisfy { $0.outcome != .underWay }
                }
                // The decoder itself reads up to 32 KiB ahead of its samples.
                let bound = Int64(second) * 16_000 + most + 64_000
                #expect(chain.server.log.bytesSent <= bound, "after \(second) s")
            }
            #expect(heard >= 10 * 44_100 * 2)
        }
        #expect(chain.server.log.bytesSent >= 10 * 15_000 + readAhead * 15 / 16, "and it does read ahead")
        #expect(chain.server.log.bytesSent < song.length / 2)
        try await chain.end()
    }
}
