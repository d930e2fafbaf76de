import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// The bytes fetched of a track before its turn, with the built player.
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
}
