import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A file that is replaced on its server during playback, through the binary.
@Suite struct ChangedFileTests {
    @Test func `if the file changes during playback, the new one goes on at the same position`() async throws
    {
        let old = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 3))
        let new = ExactMusic.made(MP3Fixtures.Options(seconds: 60, rate: .constant(192), seed: 4))
        let stage = try await Stage(try await old.bytes)
        let path = Stage.path(0)
        let gate = stage.server.origin.hold(path, .afterBytesTogether(300_000))
        let run = try stage.session([stage.url()], options: ["--read-ahead", "200kB"])
        try await gate.reached()
        stage.server.set(try await new.bytes, at: path)
        gate.release()
        let sound = try await run.finish()

        let (before, after) = (try await old.reference, try await new.reference)
        let change = try #require(sound.firstDifference(from: before), "the new file is heard")
        // At 192 kbit/s a quarter of a megabyte is ten seconds.
        #expect(change > 10 * 44_100 * 4)
        expectSame(sound.suffix(from: change), as: after.suffix(from: change))
        #expect(try run.ends.map(\.reason) == ["finished"])
        #expect(try run.notices.map(\.code) == ["resource-changed"])

        // Only the new file is cached, as far as it was played.
        let claims = try stage.claims()
        #expect(try claims.firstFalseByte(comparedWith: try await new.bytes) == nil)
        #expect(claims.ranges.byteCount > 500_000)
    }
}
