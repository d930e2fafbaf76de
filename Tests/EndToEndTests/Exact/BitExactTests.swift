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
    func `a local file is played bit for bit`(music: ExactMusic) async throws {
        let stage = try await Stage()
        try await expectSame(stage.session([try await music.path]).finish(), as: music.reference)
    }

    @Test(arguments: everything)
    func `music from a server is played bit for bit the first time`(music: ExactMusic) async throws {
        let stage = try await Stage(try await music.bytes)
        try await expectSame(stage.samples(), as: music.reference)
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
    func `music from the cache is played bit for bit with the server gone`(music: ExactMusic) async throws {
        let stage = try await Stage(try await music.bytes)
        let first = try stage.session([stage.url()], sink: "null:fast")
        try await first.finish()
        await stage.server.stop()
        stage.server.log.reset()
        let again = try stage.session([stage.url()], options: ["--offline"])
        try await expectSame(again.finish(), as: music.reference)
        let end = try #require(try again.ends.first)
        #expect(end.reason == "finished")
        #expect(end.requests == 0)
        #expect(end.bytes?.fetched == 0)
        #expect(stage.server.log.requests.isEmpty)
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
        let stage = try await Stage(
            try await album[0].bytes,
            try await album[1].bytes,
            try await album[2].bytes
        )
        let sound = try await stage.samples(3)
        let references = [
            try await album[0].reference, try await album[1].reference, try await album[2].reference,
        ]
        expectSame(sound, as: references[0] + references[1] + references[2])
    }
}
