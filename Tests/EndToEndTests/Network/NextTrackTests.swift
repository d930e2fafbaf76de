import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The bytes fetched of a track before its turn, and after it, with the built player.
@Suite struct NextTrackTests {
    @Test func `the first ten seconds of the next track are here before the current one ends, and no more`()
        async throws
    {
        let stage = try await NetworkStage()
        // 40,000 bytes a second.
        let next = try await ExactMusic.steady.bytes
        let server = try TestOrigin(["/next.mp3": next])
        let current = try await MP3Fixtures.file(.init(seconds: 12))
        let process = try stage.start(["--sink", "null", current, server.url("/next.mp3")])
        let head: ByteRange = 0..<400_000
        try await wait(for: "the head of the next track") {
            server.log.sentRanges(for: "/next.mp3").covers(head)
                && server.log.requests.allSatisfy { $0.outcome != .underWay }
        }
        let requests = server.log.requests
        #expect(process.lines.allSatisfy { !$0.contains(#""event":"ended""#) }, "the current one goes on")
        // The first request shows the kind of file; the next ones fetch its music, from its first frame on.
        let asked = requests.compactMap { Self.asked(by: $0) }
        #expect(asked.count == requests.count)
        #expect(asked.first == 0..<65_536)
        for (earlier, later) in zip(asked, asked.dropFirst()) {
            #expect(later.lowerBound == earlier.upperBound, "no byte twice, and none left out")
        }
        let end = try #require(asked.last?.upperBound)
        // The music begins after the frame that describes it, and its rate is the mean of all frames.
        #expect(end >= head.upperBound && end <= head.upperBound + 2_000, "\(asked)")
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
        await server.stop()
    }

    @Test(arguments: [true, false])
    func `a track that was left is fetched to its end behind the next one, where that is wished`(
        fills: Bool
    ) async throws {
        let stage = try await NetworkStage()
        let songs = [try await ExactMusic.steady.bytes, try await ExactMusic.short[0].bytes]
        let server = try TestOrigin(["/left.mp3": songs[0], "/next.mp3": songs[1]])
        let journal = stage.folder.path("journal")
        let process = try stage.start(
            ["--sink", "null", "--read-ahead", "300kB", "--journal", journal] + (fills ? ["--fill"] : [])
                + [server.url("/left.mp3"), server.url("/next.mp3")]
        )
        try await process.waitForLine { $0.contains(#""event":"playing","#) }
        try process.send("next")
        try await process.waitForLine { $0.contains(#""event":"playing","#) && $0.contains(#""index":2"#) }
        let whole = Int64(songs[0].count)
        #expect(server.log.sentRanges(for: "/left.mp3").byteCount < whole || fills)
        try await wait(for: "what is to come") {
            let left = server.log.sentRanges(for: "/left.mp3")
            let next = server.log.sentRanges(for: "/next.mp3")
            let isQuiet = server.log.requests.allSatisfy { $0.outcome != .underWay }
            return (fills ? left.covers(0..<whole) : next.byteCount >= 300_000) && isQuiet
        }
        let claims = { try IndexClaims(cachePath: stage.folder.path("cache"), url: server.url("/left.mp3")) }
        if fills { try await wait(for: "all of it to be kept") { try claims().ranges.covers(0..<whole) } }
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
        let sent = server.log.sentRanges(for: "/left.mp3")
        #expect(sent.covers(0..<whole) == fills)
        let reasons = try String(contentsOfFile: journal, encoding: .utf8)
        #expect(reasons.contains(#""why":"fill""#) == fills)
        guard fills else { return }
        let twice = server.log.requests(for: "/left.mp3").reduce(0) { $0 + Int64($1.sent.count) } - whole
        // Bytes of a cancelled response that were sent but not read, in the socket's buffers, are sent again.
        #expect(twice < 1 << 20)
        #expect(try claims().firstFalseByte(comparedWith: songs[0]) == nil)
        await server.stop()
    }

    /// The range of a field `bytes=FIRST-LAST`; `nil` for any other.
    private static func asked(by request: LoggedRequest) -> ByteRange? {
        let numbers = (request.range ?? "").split { !$0.isNumber }.compactMap { Int64($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return nil }
        return numbers[0]..<numbers[1] + 1
    }
}
