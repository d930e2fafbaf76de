import Media
import RepriseOrigin
import TestSupport
import Testing

/// Many readers of one resource, which share its bytes.
@Suite struct SharingTests {
    @Test(arguments: 0..<3 as Range<UInt64>)
    func `eight readers at random offsets receive each byte once`(seed: UInt64) async throws {
        let bytes = ByteFixtures.bytes(count: 1_500_000, seed: seed)
        let chain = try Chain(["/song.mp3": bytes])
        try await chain.watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 as Range<UInt64> {
                    group.addTask {
                        var random = SeededGenerator(seed: seed * 100 + number)
                        let reader = try await chain.open()
                        if number % 2 == 0 { reader.reader.allowReadAhead(bytesPerSecond: 16_000) }
                        for _ in 0..<25 {
                            let offset = Int64.random(in: 0..<1_500_000, using: &random)
                            let count = Int.random(in: 1...60_000, using: &random)
                            let got = try await reader.read(at: offset, count: count)
                            #expect(!got.isEmpty && got.count <= count)
                            #expect(got == Array(bytes[Int(offset)..<Int(offset) + got.count]))
                        }
                    }
                }
                try await group.waitForAll()
            }
            // The server may send bytes again: those that were on their way when a reader left for another
            // offset, which cancelled their request.
            let reader = try #require(chain.readers.first).reader
            try await wait(for: "all that was received to be stored, with no byte received twice") {
                let report = reader.report
                return report.inFlight.isEmpty && report.fetchedBytes == report.stored.byteCount
            }
        }
        // One that was sent at the very end may not be answered yet.
        #expect(chain.server.log.requests.allSatisfy { $0.status == 206 || $0.status == nil })
        try await chain.end()
        // Bytes that were still on their way when the last reader closed were not cached.
        let kept = try await chain.claims(of: bytes).stored
        #expect(kept.subtracting(chain.server.log.sentRanges(for: "/song.mp3")).isEmpty)
        #expect(kept.byteCount >= 1_000_000)
    }

    @Test func `eight players of one track hear all of it from one download`() async throws {
        let (song, chain) = try await Chain.short()
        try await withThrowingTaskGroup(of: Playing.self) { group in
            for _ in 0..<8 { group.addTask { try await chain.play() } }
            for try await playing in group { #expect(playing.isAll(of: song)) }
        }
        #expect(chain.server.log.bytesSent == song.length)
        try await chain.end()
    }
}
