import Media
import RepriseOrigin
import TestSupport
import Testing

/// A server whose response is not the requested part.
@Suite struct WrongRangeTests {
    @Test func `a 200 to the first range plays in one request`() async throws {
        let (song, chain) = try await Chain.short([.ignoresRanges])
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.requests.count == 1 && chain.server.log.bytesSent == song.length)
        try await chain.end(storing: song)
    }

    @Test(arguments: [[Fault.noValidators], [.etag("\"same\""), .lastModified(nil)]])
    func `a 200 in the middle is never stored there but read from its first byte`(
        faults: [Fault]
    ) async throws {
        let (song, chain) = try await Chain.short(faults)
        let reader = try await chain.open()
        let head = try await reader.read(at: 0, count: 1_000)
        #expect(head.elementsEqual(song.bytes[..<head.count]))
        try await wait(for: "the first window") { reader.reader.report.inFlight.isEmpty }
        chain.server.origin.setFaults(faults + [.ignoresRanges], for: "/song.mp3")
        // Far beyond the stored bytes: the whole body must be received.
        let tail = try await chain.bytes(reader, from: song.length - 100_000)
        #expect(tail.elementsEqual(song.bytes.suffix(100_000)))
        // With a validator a 200 can mean that the condition was not understood: it is left out once.
        let statuses = chain.server.log.requests.map(\.status)
        #expect(statuses.first == 206 && statuses.dropFirst().allSatisfy { $0 == 200 } && statuses.count <= 3)
        // One that was cancelled may have gone into the line's buffers whole before anyone said so.
        #expect(chain.server.log.requests.contains { $0.outcome == .finished && $0.status == 200 })
        try await chain.end(storing: song)
        #expect(chain.notices.isEmpty)
    }

    @Test func `a 200 with another validator than the one that was sent is another file`() async throws {
        let song = try await Song.short()
        let other = try await Song.short(seed: 2)
        let chain = try Chain(["/song.mp3": song.bytes])
        let reader = try await chain.openWithFirstWindow()
        chain.server.set(other.bytes, at: "/song.mp3")
        chain.server.origin.setFaults([.ignoresRanges], for: "/song.mp3")
        await #expect { _ = try await chain.bytes(reader, from: 300_000) } throws: { error in
            (error as? MediaError)?.code == .resourceChanged
        }
        #expect(chain.server.log.requests.last?.ifRange != nil)
        await chain.close(reader)
        let playing = try await chain.play()
        #expect(playing.error == nil && isSame(playing.samples, other.pcm))
        try await chain.end()
        #expect(try await chain.claims(of: other.bytes).stored == ByteRangeSet(0..<other.length))
        #expect(chain.notices.map(\.code) == [.resourceChanged])
    }

    @Test func `a part that starts earlier is stored at its stated place`() async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[]], thenAlways: [.shiftedRange(by: -1_000)], for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        try await chain.end(storing: song)
        // At most a thousand bytes again with each request but the first. If a later window comes before an earlier
        // one, the bytes between them are stored by the later, and the earlier ends before them.
        #expect(chain.server.log.bytesSentAgain() <= Int64(chain.server.log.requests.count - 1) * 1_000)
    }

    @Test(arguments: [Fault.shiftedRange(by: 1_000), .contentRange(nil), .multipart])
    func `a part that cannot be placed is refused, and the whole asked for once`(fault: Fault) async throws {
        let (song, chain) = try await Chain.short([fault])
        #expect(try await chain.play().isAll(of: song))
        let asked = chain.server.log.askedRanges()
        #expect(asked.count { $0 == nil } == 1, "\(asked)")
        #expect(asked.count <= 3)
        try await chain.end(storing: song)
    }

    @Test func `parts shorter than what was asked are followed by the rest`() async throws {
        let (song, chain) = try await Chain.short([.shortParts(atMost: 10_000)])
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.bytesSentAgain() == 0)
        try await chain.end()
    }
}
