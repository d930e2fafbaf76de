import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// No cached byte is requested.
@Suite(.serialized) struct NeverTwiceTests {
    @Test func `a track that is in the queue twice is fetched once`() async throws {
        let music = ExactMusic.short[0]
        let bytes = try await music.bytes
        let stage = try await Stage(bytes)
        let run = try stage.session([stage.url(), stage.url()])
        let sound = try await run.finish()
        let reference = try await music.reference
        expectSame(sound, as: reference + reference)
        #expect(stage.server.log.bytesSent == Int64(bytes.count))
        #expect(try run.ends.map(\.reason) == ["finished", "finished"])
    }

    @Test func `the beginning and a piece behind a seek come from the disk the next time`() async throws {
        let music = ExactMusic.steady
        let bytes = try await music.bytes
        let length = Int64(bytes.count)
        let tenth = length / 10
        let stage = try await Stage(bytes)
        let path = Stage.path(0)

        let beginning = stage.server.origin.hold(path, .afterBytesTogether(tenth))
        let run = try stage.session([stage.url()], sink: "null:fast")
        try await beginning.reached()
        let count = stage.server.log.requests.count
        let behind = stage.server.origin.hold(path, .afterBytesTogether(tenth))
        try run.command("seek 60%")
        try await wait(for: "a request for the new place") { stage.server.log.requests.count > count }
        beginning.release()
        try await run.event("seeked")
        try await behind.reached()
        try await run.quit()
        behind.release()

        let stored = try stage.claims().ranges
        let inBeginning = stored.intersection(ByteRangeSet(0..<length / 2)).byteCount
        #expect(stored.contains(0))
        #expect(inBeginning >= 64 << 10)
        #expect(inBeginning <= 2 * tenth)
        // Of the place that was sought the first answer at least: the gate counts all answers together, and read-ahead
        // may have come first with the rest.
        #expect(stored.covers(length * 6 / 10 + 4_096..<length * 6 / 10 + 16_384))
        #expect(stored.byteCount <= 3 * tenth)
        #expect(try stage.claims().firstFalseByte(comparedWith: bytes) == nil)

        stage.server.log.reset()
        try await expectSame(stage.samples(), as: music.reference)
        let missing = ByteRangeSet(0..<length).subtracting(stored)
        #expect(stage.server.log.sentRanges(for: path) == missing)
        #expect(stage.server.log.bytesSent == missing.byteCount)
    }
}
