import Media
import RepriseOrigin
import TestSupport
import Testing

/// The server sends nothing, or very slowly.
@Suite struct StallTests {
    @Test(arguments: [false, true])
    func `a stall in mid-body ends after the idle time-out and resumes at the byte`(
        isRepeated: Bool
    ) async throws {
        let (song, chain) = try await Chain.short()
        let stall = [Fault.stall(afterBytes: 30_000)]
        chain.server.origin.script([stall], thenAlways: isRepeated ? stall : [], for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.bytesSentAgain() == 0)
        #expect(chain.server.log.askedRanges().contains { $0?.hasPrefix("bytes=30000-") == true })
        #expect(chain.clock.now >= .seconds(10))
        try await chain.end(storing: song)
    }

    @Test func `a server that never answers is given up after ten attempts, and the error names it`()
        async throws
    {
        let chain = try Chain(["/song.mp3": [1]], faults: [.silence])
        let playing = try await chain.play()
        #expect(playing.error?.code == .timedOut)
        #expect(playing.error?.subject.string.contains("/song.mp3") == true)
        #expect(chain.server.log.askedRanges() == Array(repeating: "bytes=0-65535", count: 10))
        #expect(chain.clock.now >= .seconds(150), "ten times the first-byte time-out")
        try await chain.end(storing: nil)
    }

    @Test func `a header that drips is given up after the first-byte time-out`() async throws {
        let (song, chain) = try await Chain.short()
        let gate = chain.server.origin.hold("/song.mp3", .afterHeadBytesOfEach(1))
        let reader = try await chain.open()
        let read = Task { try await reader.read(at: 0, count: 100) }
        try await gate.reached()
        // A byte every five seconds: never silent for long, and never done.
        for _ in 0..<2 {
            chain.clock.advance(by: .seconds(5))
            gate.letPass(1)
            try await wait(for: "the byte to leave") { gate.heldCount == 1 }
            #expect(reader.waitingReads == 1 && chain.server.log.requests[0].outcome == .underWay)
        }
        chain.clock.advance(by: .seconds(5))
        try await wait(for: "the request to be given up") { chain.server.log.requests[0].outcome == .aborted }
        gate.release()
        let bytes = try await chain.keepingTime { try await read.value }
        #expect(bytes.elementsEqual(song.bytes[..<bytes.count]) && !bytes.isEmpty)
        #expect(chain.server.log.requests.count == 2)
        try await chain.end()
    }

    @Test func `a body that drips is read to its end, however long it takes`() async throws {
        let (song, chain) = try await Chain.short()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesOfEach(1))
        let reader = try await chain.open()
        for count in 1...40 {
            let byte = try await chain.watched { try await reader.read(at: Int64(count - 1), count: 1) }
            #expect(byte == [song.bytes[count - 1]])
            chain.clock.advance(by: .seconds(9))
            gate.letPass(1)
        }
        gate.release()
        let rest = try await chain.bytes(reader, from: 40)
        #expect(rest.elementsEqual(song.bytes[40...]))
        #expect(chain.server.log.bytesSentAgain() == 0)
        #expect(chain.server.log.requests.allSatisfy { $0.outcome == .finished })
        try await chain.end()
    }

    @Test func `while a body stalls, other reads are answered and a cancelled one ends at once`() async throws
    {
        let (song, chain) = try await Chain.long()
        chain.server.origin.script([[], [.stall(afterBytes: 0)]], for: "/song.mp3")
        let reader = try await chain.openWithFirstWindow()
        let waiting = Task { try await reader.read(at: 70_000, count: 1_000) }
        try await wait(for: "the stall") { chain.server.log.requests.last?.isHeld == true }
        let other = try await chain.open()
        let stored = try await chain.watched { try await other.read(at: 0, count: 1_000) }
        #expect(stored.elementsEqual(song.bytes[..<1_000]))
        let far = try await chain.watched { try await other.read(at: 4_000_000, count: 1_000) }
        #expect(far.elementsEqual(song.bytes[4_000_000..<4_000_000 + far.count]))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(chain.clock.now == .zero, "none of this took any time")
        await chain.close(reader)
        await chain.close(other)
        try await wait(for: "the stalled request to end") {
            chain.server.log.requests.allSatisfy { $0.outcome != .underWay }
        }
        try await chain.end()
    }
}
