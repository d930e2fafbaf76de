import HTTP
import Loading
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Unreachable servers, and networks that are lost and come back.
@Suite struct ConnectionTests {
    @Test(arguments: [MediaError.Code.connectionRefused, .unknownHost])
    func `a dead server is tried twice within three seconds, and its other tracks fail without a request`(
        code: MediaError.Code
    ) async throws {
        let chain = try Chain()
        await chain.server.stop()
        let isUnknown = code == .unknownHost
        let base = isUnknown ? "http://\(UnknownHost.name)" : chain.server.url("")
        let playing = try await chain.play(base + "/song.mp3")
        #expect(playing.error?.code == code)
        #expect(playing.error?.description.contains(base + "/song.mp3") == true)
        #expect(playing.report.requestCount == 2 && chain.clock.now < .seconds(3))
        for number in 1...100 {
            let next = try await chain.play(base + "/\(number).mp3")
            #expect(next.error?.code == code && next.report.requestCount == 0)
        }
        #expect(chain.clock.now < .seconds(5))
        #expect(!chain.watch.report.isOffline, "that says nothing about the network")
        try await chain.end()
    }

    @Test func `a server that answered with an error before is tried ten times`() async throws {
        let chain = try Chain()
        #expect(try await chain.play("/missing.mp3").error?.code == .httpStatus)
        await chain.server.stop()
        let playing = try await chain.play()
        #expect(playing.error?.code == .connectionRefused && playing.report.requestCount == 10)
        #expect(chain.clock.now > .seconds(10), "with pauses between the attempts")
        try await chain.end()
    }

    @Test func `music that broke off in mid-body goes on after ten minutes without its server`()
        async throws
    {
        let (song, chain) = try await Chain.short()
        let gate = chain.server.origin.hold("/song.mp3", .afterBytesTogether(100_000))
        let port = chain.server.origin.port
        let playing = Task { try await chain.play() }
        try await gate.reached()
        await chain.server.stop()
        try await wait(for: "ten minutes without its server") { chain.clock.now > .seconds(600) }
        #expect(chain.readers.first?.reader.report.wait?.error.code == .connectionRefused)
        let back = try TestOrigin(["/song.mp3": song.bytes], port: port)
        let played = try await playing.value
        #expect(played.isAll(of: song), "\(played.samples.count) samples, \(played.error as Any)")
        try await chain.end(storing: song)
        await back.stop()
    }

    @Test func `after several failed attempts a server that is back sends no byte twice`() async throws {
        let (song, chain) = try await Chain.short()
        let reader = try await chain.openWithFirstWindow()
        let port = chain.server.origin.port
        await chain.server.stop()
        let read = Task { try await chain.bytes(reader, from: 1_000) }
        try await wait(for: "the third attempt") { reader.reader.report.requestCount >= 4 }
        let back = try TestOrigin(["/song.mp3": song.bytes], port: port)
        #expect(try await read.value.elementsEqual(song.bytes[1_000...]))
        let before = chain.server.log.sentRanges(for: "/song.mp3")
        #expect(!before.isEmpty && before.intersection(back.log.sentRanges(for: "/song.mp3")).isEmpty)
        try await chain.end(storing: song)
        await back.stop()
    }

    @Test func `without a network cached music plays, and other music is skipped with the reason`()
        async throws
    {
        let (song, first) = try await Chain.short()
        #expect(try await first.play().isAll(of: song))
        try await first.end()
        await first.server.stop()
        let chain = try Chain(server: first.server, folder: first.folder) {
            $0.localNetwork.hasRoute = { false }
        }
        let away = "http://\(UnknownHost.name)"
        #expect(try await chain.play(away + "/first.mp3").error?.code == .networkUnreachable)
        #expect(chain.watch.report.isOffline)
        let before = chain.clock.now
        let skipped = try await chain.play(away + "/second.mp3")
        #expect(skipped.error?.code == .offline)
        #expect(skipped.error?.cause.string.contains("the network is away") == true)
        #expect(skipped.report.requestCount == 0 && chain.clock.now - before < .seconds(1))
        let playing = try await chain.play()
        #expect(playing.isAll(of: song) && playing.report.requestCount == 0)
        try await chain.end()
    }
}
