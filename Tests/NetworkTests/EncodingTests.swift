import Media
import RepriseOrigin
import TestSupport
import Testing

/// A server that compresses although the request forbids it.
@Suite struct EncodingTests {
    @Test(arguments: [[Fault.gzip, .ignoresRanges], [.gzip], [.gzip, .ignoresRanges, .chunked]])
    func `forced gzip plays undamaged or says why not, and is never cached`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        if let error = playing.error, faults.count != 2 {
            #expect(playing.samples.isEmpty)
            #expect(["compress", "packed"].contains { error.description.contains($0) }, "\(error)")
        } else {
            #expect(playing.isAll(of: song))
        }
        // A whole body in gzip plays from one request.
        if faults.count == 2 { #expect(chain.server.log.requests.count == 1) }
        #expect(chain.server.log.requests.allSatisfy { $0.fields["Accept-Encoding"] == "identity" })
        try await chain.endWithoutBytes()
    }
}
