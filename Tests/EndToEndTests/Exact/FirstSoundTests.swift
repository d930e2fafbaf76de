import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A cold start costs one round trip.
@Suite(.serialized) struct FirstSoundTests {
    /// All but the piece whose picture is larger than one answer.
    static let withoutCover = BitExactTests.everything.filter { !$0.testDescription.contains("cover") }

    @Test(arguments: withoutCover)
    func `one answer of 64 KiB brings the first sound`(music: ExactMusic) async throws {
        let stage = try await Stage(try await music.bytes)
        // All other requests get no response.
        stage.server.origin.script([[]], thenAlways: [.silence], for: Stage.path(0))
        let run = try stage.session([stage.url()])
        let playing = try await run.event("playing")
        #expect(playing.exact == true)
        #expect(stage.server.log.bytesSent <= 64 << 10)
        try await run.quit()
    }

    @Test func `behind a cover of 600 KB two answers of 128 KiB in all bring the first sound`() async throws {
        let music = try #require(ExactMusic.assets.first { $0.testDescription.contains("cover") })
        let bytes = try await music.bytes
        let audio = try #require(Self.audioStart(of: bytes))
        #expect(audio >= 600_000)
        let stage = try await Stage(bytes)
        stage.server.origin.script([[], []], thenAlways: [.silence], for: Stage.path(0))
        let run = try stage.session([stage.url()])
        try await run.event("playing")
        #expect(stage.server.log.bytesSent <= 128 << 10)
        let answered = stage.server.log.requests.filter { $0.status != nil }
        #expect(answered.count <= 2)
        // The picture is passed over: neither answer reaches into its middle.
        #expect(
            answered.allSatisfy { $0.sent.upperBound <= 64 << 10 || $0.sent.lowerBound > audio - (64 << 10) }
        )
        try await run.quit()
    }

    /// The sink is a pipe without a reader, so that the player stops directly after its first sound; the log
    /// then shows the requests that this took.
    @Test(arguments: [.constant(64), .variable(quality: 5, hasXing: true)] as [MP3Fixtures.Rate])
    func `nothing but one request for 64 KiB is made before the first sound`(
        rate: MP3Fixtures.Rate
    ) async throws {
        let music = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: rate, isMono: true))
        let stage = try await Stage(try await music.bytes)
        let (pipe, reader) = try unreadPipe(of: stage)
        defer { close(reader) }
        let run = try stage.session([stage.url()], sink: "raw:" + pipe, options: ["--read-ahead", "1B"])
        try await run.event("playing")
        // At once: if the window was still arriving, read-ahead may go on with a request of its own from
        // here.
        let log = stage.server.log
        #expect(log.requests.map(\.range) == ["bytes=0-65535"] && log.connectionCount == 1)
        try await run.quit()
    }

    /// Loading it takes longer than all else that a replay waits for.
    @Test func `a replay does not even load the HTTP library, and a cold start does`() async throws {
        let stage = try await Stage(try await ExactMusic.steady.bytes)
        let (pipe, reader) = try unreadPipe(of: stage)
        defer { close(reader) }
        for isReplay in [false, true] {
            if isReplay { _ = try await stage.samples() }
            let run = try stage.session([stage.url()], sink: "raw:" + pipe)
            try await run.event("playing")
            let maps = "/proc/\(run.process.processIdentifier)/maps"
            let file = try #require(FileHandle(forReadingAtPath: maps))
            let mapped = String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
            #expect(mapped.contains("libcurl") == !isReplay)
            try await run.quit()
        }
    }

    /// A pipe that is open for reading, so that it can be opened for writing, and that nobody reads.
    private func unreadPipe(of stage: Stage) throws -> (path: String, reader: Int32) {
        let path = stage.folder.path("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        return (path, open(path, O_RDONLY | O_NONBLOCK))
    }

    /// Where the ID3v2 tag at the start of `bytes` ends (ID3v2.4 §3.1: four times seven bits).
    private static func audioStart(of bytes: [UInt8]) -> Int64? {
        guard bytes.starts(with: Array("ID3".utf8)), bytes.count > 10 else { return nil }
        return 10 + bytes[6..<10].reduce(0) { $0 << 7 | Int64($1) }
    }
}
