import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Unusual headers: in any case, folded, repeated, far too long, of a body in gzip that was not requested.
@Suite struct HeaderTests {
    @Test(
        arguments: [
            [Fault.lowerCaseFields], [.foldedFields], [.repeatedFields(2)],
            [.lowerCaseFields, .foldedFields],
            [.paddedHead(bytes: 30_000)],
        ]
    )
    func `unusual headers are understood`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        #expect(playing.isAll(of: song))
        #expect(playing.report.length == song.length)
        #expect(chain.server.log.bytesSent == song.length)
        for request in chain.server.log.requests.dropFirst() {
            #expect(request.ifRange?.hasPrefix("\"") == true, "the entity tag was understood too")
        }
        try await chain.end()
    }

    @Test func `a megabyte of header fields is refused before its end`() async throws {
        let (_, chain) = try await Chain.short([.paddedHead(bytes: 1 << 20)])
        let playing = try await chain.play()
        let error = try #require(playing.error)
        #expect(error.subject.string.contains("/song.mp3"))
        #expect(error.code == .badAnswer)
        #expect(error.cause.string.contains("header larger than any honest one"), "\(error)")
        // The head is given up before its end, so that no byte of the body comes; and it would come again.
        #expect(playing.samples.isEmpty && chain.server.log.bytesSent == 0)
        #expect(chain.server.log.requests.count == 1)
        try await chain.end(storing: nil)
    }

    @Test(
        arguments: [
            [Fault.addedField("Content-Range", "bytes 0-9/10")],
            [.ignoresRanges, .addedField("Content-Length", "10")],
        ]
    )
    func `of fields that contradict each other none is trusted`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        #expect(playing.error == nil ? isSame(playing.samples, song.pcm) : playing.samples.isEmpty)
        try await chain.end()
        // Whatever was cached is compared with the song.
        _ = try await chain.claims(of: song.bytes)
    }

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
        try await chain.end(storing: nil)
    }
}
