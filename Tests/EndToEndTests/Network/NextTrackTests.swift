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
        try await process.quit()
    }

    @Test(arguments: [true, false])
    func `a skipped track is fetched to its end beside the next one, but only with --fill`(
        fills: Bool
    ) async throws {
        let song = try await ExactMusic.steady.bytes
        // The next one is long: it must not end before the rest of the skipped one was stored.
        let stage = try await Stage(song, try await ExactMusic.short[0].bytes)
        let log = stage.server.log
        let whole = 0..<Int64(song.count)
        let journal = stage.folder.path("journal")
        let options = ["--read-ahead", "300kB", "--journal", journal] + (fills ? ["--fill"] : [])
        let process = try stage.startPlaying(options + [stage.url(0), stage.url(1)])
        try await process.event("playing")
        try await process.event("playing", of: "next")
        try await wait(for: "the rest of the skipped track, or the read-ahead of the next one") {
            let isThere =
                fills
                ? try stage.claims().ranges.covers(whole)
                : log.sentRanges(for: Stage.path(1)).byteCount >= 300_000
            return isThere && log.requests.allSatisfy { $0.outcome != .underWay }
        }
        // The next track plays for one more second, in which a fill would have ended.
        try process.send("seek 39")
        #expect(try await process.waitForExit() == 0)
        #expect(log.sentRanges(for: Stage.path(0)).covers(whole) == fills)
        #expect(try String(contentsOfFile: journal, encoding: .utf8).contains(#""why":"fill""#) == fills)
        #expect(try stage.claims().firstFalseByte(comparedWith: song) == nil)
        // Bytes of a cancelled response that were sent but not read, in the socket's buffers, are sent again.
        #expect(log.bytesSent(for: Stage.path(0)) < whole.upperBound + 1 << 20)
    }
}
