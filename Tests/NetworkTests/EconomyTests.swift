import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// How little is fetched: before the first sound after a seek, and ahead of what is heard.
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
        await chain.close(reader)
        try await chain.end()
    }

    @Test(arguments: Kind.allCases)
    func `a far seek into a gap has its first sound from one request of at most 64 KiB`(
        kind: Kind
    ) async throws {
        let song = try await song(kind)
        let chain = try Chain(["/song.mp3": song.bytes])
        // What read-ahead would bring is held, so that only what a read waits for is sent.
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
        await chain.close(reader)
        try await chain.end()
    }

    @Test func `a far seek cancels read-ahead, and no byte of it is lost`() async throws {
        let song = try await Song.long()
        let chain = try Chain(["/song.mp3": song.bytes])
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(200_000))
        let reader = try await chain.open()
        let samples = try await chain.watched {
            let decoding = Decoding(reader)
            try await decoding.open()
            let first = try await decoding.samples(44_100)
            #expect(isSame(first, song.pcm.prefix(first.count)))
            try await gate.reached()
            let landing = Task {}
            await landing.value
            gate.release()
            _ = try await decoding.seek(to: .seconds(200))
            return try await decoding.samples(44_100)
        }
        let start = 200 * 44_100 * 2
        #expect(isSame(samples, song.pcm[start..<start + samples.count]))
        await chain.close(reader)
        let sent = chain.server.log.sentRanges(for: "/song.mp3")
        try await chain.end()
        // The socket and libcurl hold what was sent and not handed on when the request ended.
        let kept = try await chain.claims(of: song.bytes).stored
        #expect(sent.byteCount - kept.byteCount <= 1 << 20)
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
        #expect(chain.server.log.bytesSent >= Int64(10 + readAhead) * 16_000, "and it does read ahead")
        await chain.close(reader)
        try await chain.end()
    }
}
