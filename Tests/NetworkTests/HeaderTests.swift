import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Heads as they are: any case, folded, twice, far too long.
@Suite struct HeaderTests {
    @Test(
        arguments: [
            [Fault.lowerCaseFields], [.foldedFields], [.repeatedFields(2)],
            [.lowerCaseFields, .foldedFields],
            [.paddedHead(bytes: 30_000)],
        ]
    )
    func `odd heads are understood`(faults: [Fault]) async throws {
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

    @Test func `a megabyte of fields is refused, and little of it read`() async throws {
        let (song, chain) = try await Chain.short([.paddedHead(bytes: 1 << 20)])
        let playing = try await chain.play()
        let error = try #require(playing.error)
        #expect(error.subject.string.contains("/song.mp3"))
        #expect(
            error.code == .badAnswer && error.cause.string.contains("header larger than any honest one"),
            "\(error)"
        )
        // The head is given up before its end, so that no byte of the body comes; and it would come again.
        #expect(playing.samples.isEmpty && chain.server.log.bytesSent == 0)
        #expect(chain.server.log.requests.count == 1)
        try await chain.end()
        #expect(try await chain.claims(of: song.bytes).stored.isEmpty)
    }

    @Test(
        arguments: [
            [Fault.addedField("Content-Range", "bytes 0-9/10")],
            [.ignoresRanges, .addedField("Content-Length", "10")],
        ]
    )
    func `fields that contradict each other are believed in neither`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        if playing.error == nil {
            #expect(isSame(playing.samples, song.pcm))
        } else {
            #expect(playing.samples.isEmpty)
        }
        try await chain.end()
        // Whatever was taken is right; the comparison is in here.
        _ = try await chain.claims(of: song.bytes)
    }
}
