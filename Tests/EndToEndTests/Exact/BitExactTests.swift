import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The output is identical to that of the reference decoder, sample by sample, wherever the bytes come from.
@Suite(.serialized) struct BitExactTests {
    static let everything = ExactMusic.assets + ExactMusic.long

    @Test func `all pieces are there and the long ones are long`() async throws {
        #expect(ExactMusic.assets.count >= 9)
        for music in ExactMusic.long {
            let count = try await music.bytes.count
            #expect(count >= 8 << 20, "\(music.testDescription)")
        }
    }

    @Test(arguments: everything)
    func `a local file, and music from a server the first time, are played bit for bit`(
        music: ExactMusic
    ) async throws {
        let stage = try await Stage(try await music.bytes)
        try await expectSame(stage.session([try await music.path]).finish(), as: music.reference)
        #expect(stage.server.log.requests.isEmpty)
        try await expectSame(stage.samples(), as: music.reference)
        try await stage.server.settle()
        #expect(stage.server.log.requests.allSatisfy { $0.status == 206 && $0.outcome == .finished })
    }

    /// Less than the smallest window, so that each request meets it.
    @Test(arguments: ExactMusic.long)
    func `music whose every answer is cut after 60 kB is played bit for bit, and no byte is sent twice`(
        music: ExactMusic
    ) async throws {
        let bytes = try await music.bytes
        let stage = try await Stage(bytes, faults: [.cut(afterBytes: 60_000)])
        let run = try stage.session([stage.url()])
        try await expectSame(run.finish(), as: music.reference)
        #expect(try run.ends.map(\.reason) == ["finished"])
        #expect(stage.server.log.requests.contains { $0.outcome == .cut }, "it was cut")
        #expect(stage.server.log.bytesSent == Int64(bytes.count))
    }

    @Test(arguments: everything)
    func `music from the cache is played bit for bit with the server gone, and no byte is sent for it`(
        music: ExactMusic
    ) async throws {
        let bytes = try await music.bytes
        let stage = try await Stage(bytes)
        let log = stage.server.log
        try await stage.session([stage.url()], sink: "null:fast").finish()
        // All of it, but for the inside of a large picture, and nothing twice.
        let stored = try stage.claims().ranges
        #expect(stored.contains(0) && stored.contains(Int64(bytes.count) - 1))
        #expect(log.sentRanges(for: Stage.path(0)) == stored)
        #expect(log.bytesSent == stored.byteCount)
        log.reset()
        let connections = log.connectionCount
        let again = try stage.session([stage.url()])
        try await expectSame(again.finish(), as: music.reference)
        #expect(log.connectionCount == connections)
        await stage.server.stop()
        let offline = try stage.session([stage.url()], options: ["--offline"])
        try await expectSame(offline.finish(), as: music.reference)
        #expect(log.requests.isEmpty)
        for end in try again.ends + offline.ends {
            #expect(end.reason == "finished" && end.requests == 0)
            #expect(end.bytes == ReportedEvent.Bytes(cached: stored.byteCount, fetched: 0))
        }
    }

    @Test(arguments: everything)
    func `music from a server without ranges is played bit for bit`(music: ExactMusic) async throws {
        let bytes = try await music.bytes
        let stage = try await Stage(bytes, faults: [.ignoresRanges])
        try await expectSame(stage.samples(), as: music.reference)
        // One body, read to its end: it cannot be resumed.
        #expect(stage.server.log.requests.map(\.status) == [200])
        #expect(stage.server.log.bytesSent == Int64(bytes.count))
        #expect(try stage.claims().ranges == ByteRangeSet(0..<Int64(bytes.count)))
    }

    @Test func `tracks of one format follow each other without a sample between them`() async throws {
        let album = ExactMusic.assets.filter { $0.testDescription.contains("evening") }
        #expect(album.count == 3)
        let stage = try await Stage()
        var reference = Data()
        for (index, music) in album.enumerated() {
            stage.server.set(try await music.bytes, at: Stage.path(index))
            reference += try await music.reference
        }
        expectSame(try await stage.samples(3), as: reference)
    }
}
