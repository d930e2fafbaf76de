import Media
import RepriseOrigin
import TestSupport
import Testing

/// A server that compresses although the request forbids it.
@Suite struct EncodingTests {
    @Test(arguments: [[Fault.gzip, .ignoresRanges], [.gzip], [.gzip, .ignoresRanges, .chunked]])
    func `forced gzip plays undamaged or says why not, and is never kept`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        if let error = playing.error {
            #expect(playing.samples.isEmpty)
            #expect(
                error.description.contains("compress") || error.description.contains("packed"),
                "\(error)"
            )
        } else {
            #expect(isSame(playing.samples, song.pcm))
        }
        for request in chain.server.log.requests {
            #expect(request.fields["Accept-Encoding"] == "identity")
        }
        try await chain.end()
        #expect(try await chain.claims(of: song.bytes).stored.isEmpty)
    }

    @Test func `a whole body in gzip plays`() async throws {
        let (song, chain) = try await Chain.short([.gzip, .ignoresRanges])
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.requests.count == 1)
        try await chain.end()
    }
}
