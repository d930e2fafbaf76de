import Media
import RepriseOrigin
import TestSupport
import Testing

/// A server whose response is not the requested part.
@Suite struct WrongRangeTests {
    @Test(arguments: [[Fault.noValidators], [.etag("\"same\""), .lastModified(nil)]])
    func `a 200 in the middle is never stored there but read from its first byte`(
        faults: [Fault]
    ) async throws {
        let (song, chain) = try await Chain.short(faults)
        let reader = try await chain.openWithFirstWindow()
        chain.server.origin.setFaults(faults + [.ignoresRanges], for: "/song.mp3")
        // Far beyond the stored bytes: the whole body must be received.
        let tail = try await chain.bytes(reader, from: song.length - 100_000)
        #expect(tail.elementsEqual(song.bytes.suffix(100_000)))
        // With a validator a 200 can mean that the condition was not understood: it is left out once.
        let statuses = chain.server.log.requests.map(\.status)
        #expect(statuses.first == 206 && statuses.dropFirst().allSatisfy { $0 == 200 } && statuses.count <= 3)
        // A cancelled response may have gone into the socket's buffers as a whole.
        #expect(chain.server.log.requests.contains { $0.outcome == .finished && $0.status == 200 })
        try await chain.end(storing: song)
        #expect(chain.notices.isEmpty)
    }

    @Test func `a part that starts earlier is stored at its stated place`() async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[]], thenAlways: [.shiftedRange(by: -1_000)], for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        try await chain.end(storing: song)
        // At most a thousand bytes again with each request but the first. If a later window comes before an
        // earlier one, the bytes between them are stored by the later, and the earlier ends before them.
        #expect(chain.server.log.bytesSentAgain() <= Int64(chain.server.log.requests.count - 1) * 1_000)
    }

    @Test(arguments: [Fault.shiftedRange(by: 1_000), .contentRange(nil), .multipart])
    func `a part that cannot be placed is refused, and the whole is requested once`(fault: Fault) async throws
    {
        let (song, chain) = try await Chain.short([fault])
        #expect(try await chain.play().isAll(of: song))
        let asked = chain.server.log.askedRanges()
        #expect(asked.count { $0 == nil } == 1, "\(asked)")
        #expect(asked.count <= 3)
        try await chain.end(storing: song)
    }
}
