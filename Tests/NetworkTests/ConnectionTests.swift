import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Unreachable servers, and networks that are lost and come back.
@Suite struct ConnectionTests {
    @Test func `a refused connection is tried again and then told`() async throws {
        let chain = try Chain()
        await chain.server.stop()
        let playing = try await chain.play()
        #expect(playing.error?.code == .connectionRefused)
        #expect(playing.error?.subject.string.contains("/song.mp3") == true)
        #expect(playing.report.requestCount == 10)
        #expect(chain.clock.now > .seconds(10), "with pauses between the tries")
        #expect(chain.watch.report.isOffline, "the only host is away, and it was tried all the same")
        try await chain.end()
    }

    @Test func `an unknown host is told by its name`() async throws {
        let chain = try Chain()
        let playing = try await chain.play("http://\(UnknownHost.name)/song.mp3")
        #expect(playing.error?.code == .unknownHost)
        #expect(playing.report.requestCount == 10)
        #expect(playing.error?.description.contains(UnknownHost.name) == true)
        try await chain.end()
    }

    @Test func `what is stored plays while the server is away`() async throws {
        let song = try await Song.short()
        let first = try Chain(["/song.mp3": song.bytes])
        #expect(isSame(try await first.play().samples, song.pcm))
        try await first.end()
        await first.server.stop()
        let second = try Chain(server: first.server, folder: first.folder)
        let playing = try await second.play()
        #expect(playing.isAll(of: song))
        #expect(playing.report.requestCount == 0)
        try await second.end()
    }

    @Test func `a server that goes and comes back is gone on with at the byte`() async throws {
        let (song, chain) = try await Chain.short()
        let reader = try await chain.openWithFirstWindow()
        let port = chain.server.origin.port
        await chain.server.stop()
        let read = Task { try await chain.bytes(reader, from: 1_000) }
        // Several failed attempts: the time keeper of the read moves on from one to the next.
        try await wait(for: "the third try") { reader.reader.report.requestCount >= 4 }
        let back = try TestOrigin(["/song.mp3": song.bytes], port: port)
        #expect(try await read.value.elementsEqual(song.bytes[1_000...]))
        let stored = chain.server.log.sentRanges(for: "/song.mp3")
        #expect(stored.intersection(back.log.sentRanges(for: "/song.mp3")).isEmpty)
        try await chain.end(storing: song)
        await back.stop()
    }

    @Test func `a network that is away for longer than ten tries take comes back, and the music goes on`()
        async throws
    {
        let (song, chain) = try await Chain.short()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(100_000))
        let port = chain.server.origin.port
        let playing = Task { try await chain.play() }
        try await gate.reached()
        await chain.server.stop()
        try await wait(for: "ten minutes without a network") { chain.clock.now > .seconds(600) }
        #expect(chain.watch.report.isOffline)
        #expect(chain.readers.first?.reader.report.wait?.error.code == .connectionRefused)
        let back = try TestOrigin(["/song.mp3": song.bytes], port: port)
        let played = try await playing.value
        #expect(
            played.error == nil && isSame(played.samples, song.pcm),
            "\(String(describing: played.error)) \(played.samples.count) \(song.pcm.count)"
        )
        #expect(!chain.watch.report.isOffline)
        try await chain.end(storing: song)
        await back.stop()
    }

    @Test func `while the network is away what is here plays, and what is not is skipped with the reason`()
        async throws
    {
        let (song, chain) = try await Chain.short()
        #expect(isSame(try await chain.play().samples, song.pcm))
        await chain.server.stop()
        #expect(try await chain.play("/first.mp3").error?.code == .connectionRefused)
        #expect(chain.watch.report.isOffline)
        let before = chain.clock.now
        let skipped = try await chain.play("/second.mp3")
        #expect(skipped.error?.code == .offline)
        #expect(skipped.error?.cause.string.contains("the network is away") == true)
        #expect(skipped.report.requestCount == 0 && chain.clock.now - before < .seconds(1))
        #expect(isSame(try await chain.play().samples, song.pcm))
        try await chain.end()
    }

    @Test func `a server that stops in mid-body is gone on with when it is back`() async throws {
        let (song, chain) = try await Chain.short()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(100_000))
        let port = chain.server.origin.port
        let playing = Task { try await chain.play() }
        try await gate.reached()
        await chain.server.stop()
        try await wait(for: "a try in vain") { chain.readers.first?.reader.report.wait != nil }
        let back = try TestOrigin(["/song.mp3": song.bytes], port: port)
        let played = try await playing.value
        #expect(played.error == nil && isSame(played.samples, song.pcm))
        try await chain.end(storing: song)
        await back.stop()
    }
}
