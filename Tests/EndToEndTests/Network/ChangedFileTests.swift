import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A file that is replaced on its server while it is heard, through the binary.
@Suite struct ChangedFileTests {
    @Test func `a file swapped under way is gone on with in the new one, at the place that was heard`()
        async throws
    {
        let old = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 3))
        let new = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 4))
        let stage = try ExactStage(try await old.bytes)
        let path = ExactStage.path(0)
        let gate = stage.server.origin.hold(path, .afterBytesTogether(300_000))
        let run = try ExactRun([stage.url()], on: stage, options: ["--read-ahead", "200kB"])
        try await gate.reached()
        stage.server.set(try await new.bytes, at: path)
        gate.release()
        let sound = try await run.finish()

        let (before, after) = (try await old.reference, try await new.reference)
        let change = try #require(sound.firstDifference(from: before), "the new file is heard")
        // At 192 kbit/s a quarter of a megabyte is ten seconds.
        #expect(change > 10 * 44_100 * 4)
        #expect(sound.suffix(from: change).firstDifference(from: after.suffix(from: change)) == nil)
        #expect(try run.ends.map(\.reason) == ["finished"])
        let notices = try run.events.filter { $0.event == "notice" }.compactMap(\.code)
        #expect(notices == ["resource-changed"])

        // Only the new file is cached, as far as it was played.
        let claims = try stage.claims()
        #expect(try claims.firstFalseByte(comparedWith: try await new.bytes) == nil)
        #expect(claims.ranges.byteCount > 500_000)
    }
}
