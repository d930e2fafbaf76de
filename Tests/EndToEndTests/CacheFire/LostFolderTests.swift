import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// A folder that cannot be written to, or is gone, costs what would have been kept, and nothing else.
@Suite(.serialized) struct LostFolderTests {
    @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
    func `in a read-only folder what is kept is played and the rest is fetched`(isPartlyKept: Bool)
        async throws
    {
        let scene: FireScene = isPartlyKept ? .seek : .download
        let stage = try await scene.stage()
        try stage.folder.makeFolder("cache")
        let before = try stage.claims()
        let script = #"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@""#
        let run = try ExactRun(
            [stage.url()],
            on: stage,
            wrapper: ["unshare", "-m", "sh", "-c", script, "sh", stage.cachePath]
        )
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        #expect(sound.firstDifference(from: reference) == nil)
        let notices = try run.events.filter { $0.event == "notice" }
        #expect(notices.map(\.code) == ["not-cached"], "\(notices)")
        #expect(try stage.claims().ranges == before.ranges)
        #expect(try await stage.falseClaims() == [])
    }

    @Test(arguments: ["", "/objects", "/index.sqlite"], [100_000, 1_200_000] as [Int64])
    func `what is removed while it plays costs nobody the music`(part: String, held: Int64) async throws {
        let stage = try await FireScene.download.stage()
        let gate = stage.server.origin.hold(ExactStage.path(0), .afterBytesTogether(held))
        let run = try ExactRun([stage.url()], on: stage)
        try await gate.reached()
        if held > 1 << 20 {
            try await wait(for: "a commit") { try !stage.claims().ranges.isEmpty }
        }
        try FileManager.default.removeItem(atPath: stage.cachePath + part)
        gate.release()
        let sound = try await run.finish()
        let reference = try await FireScene.music[0].reference
        #expect(sound.firstDifference(from: reference) == nil)
        let notices = try run.events.filter { $0.event == "notice" }
        #expect(notices.count <= 1, "\(notices)")
        // Without the objects what was claimed before is no longer true; the next session finds that out.
        if part != "/objects" { #expect(try await stage.falseClaims() == []) }

        let next = try await stage.play()
        #expect(next.firstDifference(from: reference) == nil)
        let length = Int64(try await FireScene.music[0].bytes.count)
        #expect(try stage.claims().ranges == ByteRangeSet(0..<length))
        #expect(try await stage.falseClaims() == [])
    }
}
