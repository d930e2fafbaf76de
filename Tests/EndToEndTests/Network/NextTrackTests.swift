import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The bytes fetched of a track before its turn, and after it, with the built player.
@Suite struct NextTrackTests {
    @Test func `the first ten seconds of the next track come before the current one ends, and no more`()
        async throws
    {
        // 40,000 bytes a second.
        let stage = try await Stage(try await ExactMusic.steady.bytes)
        let log = stage.server.log
        let current = try await MP3Fixtures.file(.init(seconds: 12))
        let process = try stage.startPlaying([current, stage.url()])
        let head: ByteRange = 0..<400_000
        try await wait(for: "the head of the next track") {
            log.sentRanges(for: Stage.path(0)).covers(head)
                && log.requests.allSatisfy { $0.outcome != .underWay }
        }
        #expect(process.lines.allSatisfy { !$0.contains(#""event":"ended""#) }, "the current one goes on")
        // The first request shows the kind of file; the next ones fetch its music, from its first frame on.
        let asked = log.requests.map(\.asked)
        #expect(asked.first == 0..<65_536)
        for (earlier, later) in zip(asked, asked.dropFirst()) {
            #expect(later.lowerBound == earlier.upperBound, "no byte twice, and none left out")
        }
        let end = try #require(asked.last?.upperBound)
        // The music begins after the frame that describes it, and its rate is the mean of all frames.
        #expect(end >= head.upperBound && end <= head.upperBound + 2_000, "\(asked)")
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
    }

    @Test(arguments: [true, false])
    func `with --fill a skipped track is fetched to its end behind the next one`(
        fills: Bool
    ) async throws {
        let songs = [try await ExactMusic.steady.bytes, try await ExactMusic.short[0].bytes]
        let stage = try await Stage(songs[0], songs[1])
        let (log, path) = (stage.server.log, Stage.path(0))
        let journal = stage.folder.path("journal")
        let options = ["--read-ahead", "300kB", "--journal", journal] + (fills ? ["--fill"] : [])
        let process = try stage.startPlaying(options + [stage.url(0), stage.url(1)])
        try await process.event("playing")
        try process.send("next")
        try await process.waitForLine { $0.contains(#""event":"playing","#) && $0.contains(#""index":2"#) }
        let whole = Int64(songs[0].count)
        #expect(log.sentRanges(for: path).byteCount < whole || fills)
        try await wait(for: "what is to come") {
            let left = log.sentRanges(for: path)
            let next = log.sentRanges(for: Stage.path(1))
            let isQuiet = log.requests.allSatisfy { $0.outcome != .underWay }
            return (fills ? left.covers(0..<whole) : next.byteCount >= 300_000) && isQuiet
        }
        if fills {
            try await wait(for: "all of it to be cached") { try stage.claims().ranges.covers(0..<whole) }
        }
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
        let sent = log.sentRanges(for: path)
        #expect(sent.covers(0..<whole) == fills)
        let reasons = try String(contentsOfFile: journal, encoding: .utf8)
        #expect(reasons.contains(#""why":"fill""#) == fills)
        guard fills else { return }
        let twice = log.requests(for: path).reduce(0) { $0 + Int64($1.sent.count) } - whole
        // Bytes of a cancelled response that were sent but not read, in the socket's buffers, are sent again.
        #expect(twice < 1 << 20)
        #expect(try stage.claims().firstFalseByte(comparedWith: songs[0]) == nil)
    }
}
