import Media
import RepriseOrigin
import TestSupport
import Testing

/// Bodies that are cut, and lengths that a server states wrongly or not at all.
@Suite struct BodyLengthTests {
    @Test(arguments: [[], [Fault.noValidators], [.ignoresIfRange], [.etag("W/\"1\""), .lastModified(nil)]])
    func `a body cut after 50 kB every time is put together at the very byte`(faults: [Fault]) async throws {
        let (song, chain) = try await Chain.short([.cut(afterBytes: 50_000)] + faults)
        let playing = try await chain.play()
        #expect(playing.error == nil)
        #expect(isSame(playing.samples, song.pcm))
        let requests = chain.server.log.requests
        #expect(chain.server.log.sentRanges(for: "/song.mp3") == ByteRangeSet(0..<song.length))
        // No byte is sent twice except for comparison if there is no validator.
        let overlap = faults.contains(.noValidators) ? Int64(requests.count) * 4_096 : 0
        #expect(chain.server.log.bytesSent <= song.length + overlap)
        #expect(requests.count <= Int(song.length / 45_000) + 8)
        try await chain.end(storing: song)
    }

    @Test func `a body cut after a few bytes more each time loses none and repeats none`() async throws {
        let (song, chain) = try await Chain.short()
        let faults = (1...60).map { [Fault.cut(afterBytes: Int64($0 * 311))] }
        chain.server.origin.script(faults, for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.bytesSent == song.length)
        try await chain.end()
    }

    @Test(arguments: [Fault.lengthOff(by: 20_000), .lengthOff(by: -20_000)])
    func `a Content-Length that is off costs requests and no byte of the music`(fault: Fault) async throws {
        let (song, chain) = try await Chain.short()
        // Right in the end: the last bytes of all could never come with a length that is too short.
        chain.server.origin.script(Array(repeating: [fault], count: 5), for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        let log = chain.server.log
        #expect(log.sentRanges(for: "/song.mp3") == ByteRangeSet(0..<song.length))
        #expect(log.bytesSentAgain() == 0)
        try await chain.end(storing: song)
    }

    @Test(arguments: [Fault.contentLength(0), .cut(afterBytes: 0)])
    func `parts that are always empty end in a clear error after ten attempts`(fault: Fault) async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[]], thenAlways: [fault], for: "/song.mp3")
        let playing = try await chain.play()
        let error = try #require(playing.error)
        #expect(error.code == .cut)
        #expect(error.subject.string.contains("/song.mp3"))
        #expect(isSame(playing.samples, song.pcm.prefix(playing.samples.count)))
        #expect(!playing.samples.isEmpty, "received music is played")
        let requests = chain.server.log.requests
        #expect((10...12).contains(requests.count), "\(requests.count)")
        #expect(chain.server.log.bytesSentAgain() == 0)
        try await chain.end()
        // The received bytes stay stored; the next time continues after them.
        let kept = try await chain.claims(of: song.bytes)
        #expect(kept.stored == chain.server.log.sentRanges(for: "/song.mp3"))
    }

    @Test(arguments: [[Fault.unknownTotal], [.unknownTotal, .unsatisfied(nil)]])
    func `a total of star is learned at the end, and only then is the entry complete`(
        faults: [Fault]
    ) async throws {
        let (song, chain) = try await Chain.short(faults)
        let reader = try await chain.openWithFirstWindow()
        _ = try await chain.bytes(reader, from: song.length - 1_000)
        #expect(reader.reader.report.stored.byteCount < song.length)
        await chain.close(reader)
        let playing = try await chain.play()
        #expect(playing.isAll(of: song) && playing.report.length == song.length)
        #expect(chain.server.log.bytesSentAgain() == 0, "\(chain.server.log.requests)")
        try await chain.end(storing: song)
    }

    @Test func `a total that is too large is corrected at the end`() async throws {
        let song = try await Song.short()
        let chain = try Chain(["/song.mp3": song.bytes], faults: [.total(song.length + 50_000)])
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.bytesSentAgain() == 0)
        try await chain.end(storing: song)
    }

    @Test(arguments: [[], [Fault.total(65_536)]])
    func `a total that is only the end of the first part cuts no music off`(later: [Fault]) async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script([[.total(65_536)]], thenAlways: later, for: "/song.mp3")
        #expect(try await chain.play().isAll(of: song))
        // If the second part extends beyond its own total, it is not stored beside the first; the whole
        // resource is requested.
        let asked = chain.server.log.askedRanges()
        #expect(asked.count { $0 == nil } == (later.isEmpty ? 0 : 1), "\(asked)")
        if later.isEmpty { #expect(chain.server.log.bytesSentAgain() == 0) }
        try await chain.end(storing: song)
    }

    @Test(
        arguments: [
            [Fault.ignoresRanges], [.ignoresRanges, .chunked], [.ignoresRanges, .closeDelimited],
            [.ignoresRanges, .closeDelimited, .protocolName("HTTP/1.0")],
            [.ignoresRanges, .closeDelimited, .noValidators],
        ]
    )
    func `a whole body plays from one request, and without a length its end is the length`(
        faults: [Fault]
    ) async throws {
        let (song, chain) = try await Chain.short(faults)
        let playing = try await chain.play()
        #expect(playing.isAll(of: song) && playing.report.length == song.length)
        #expect(chain.server.log.requests.count == 1 && chain.server.log.bytesSent == song.length)
        try await chain.end(storing: song)
    }

    @Test(
        arguments: [
            [Fault.chunked], [.closeDelimited], [.closeDelimited, .protocolName("HTTP/1.0")],
            [.shortParts(atMost: 10_000)],
        ]
    )
    func `of parts without a length, or shorter than requested, no byte is sent twice`(
        faults: [Fault]
    ) async throws {
        let (song, chain) = try await Chain.short(faults)
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.bytesSent == song.length)
        try await chain.end()
    }

    @Test func `a chunked body that breaks off is requested again`() async throws {
        let (song, chain) = try await Chain.short()
        chain.server.origin.script(
            [[.ignoresRanges, .chunked, .cut(afterBytes: 200_000)]],
            thenAlways: [.ignoresRanges, .chunked],
            for: "/song.mp3"
        )
        #expect(try await chain.play().isAll(of: song))
        #expect(chain.server.log.requests.count == 2)
        try await chain.end(storing: song)
    }
}
