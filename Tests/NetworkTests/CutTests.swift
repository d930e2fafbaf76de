import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The server breaks off, or announces and sends too little, and the music continues at the same byte.
@Suite struct CutTests {
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
}
