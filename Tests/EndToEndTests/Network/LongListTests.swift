import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// A list of 100,000 entries through the binary: its first song waits for none of the others.
@Suite struct LongListTests {
    @Test func `the first song of a long list plays while a list at its end is still awaited`() async throws {
        let stage = try await NetworkStage()
        let server = try TestOrigin(["/last.m3u8": Array("last.mp3\n".utf8)])
        let gate = server.origin.hold("/last.m3u8", .beforeHead)
        let song = stage.folder.path("web/song.mp3")
        let others = (2..<100_000).map { "#EXTINF:\($0 % 600),Artist - Title \($0)\ntrack-\($0).mp3\n" }
        let list = try stage.folder.write(
            "#EXTM3U\n\(song)\n" + others.joined() + server.url("/last.m3u8") + "\n",
            to: "long.m3u8"
        )
        let process = try stage.start(["--sink", "null", list])
        try await process.event("playing")
        try await gate.reached()
        #expect(try process.events.allSatisfy { $0.event != "loaded" })
        // Obeyed at once, and once all is known.
        try process.send("pause")
        try await process.event("paused")
        let count = process.lines.count
        try process.send("jump 100001")
        try process.send("remove 2-100000")
        try process.send("status")
        try await process.event("paused", after: count)
        #expect(try process.events.allSatisfy { $0.event != "loaded" && $0.index.map { $0 == 1 } != false })
        gate.release()
        #expect(try await process.event("loaded").tracks == 100_000)
        try await process.waitForLine { $0.contains("there is no track 100001") }
        try process.send("save \(stage.folder.path("saved.m3u8"))")
        try await process.waitForLine { $0.contains(#""code":"saved""#) && $0.contains("1 track") }
        try process.send("quit")
        #expect(try await process.waitForExit() == 0)
        #expect(try process.events.filter { $0.event == "loaded" }.count == 1)
        await server.stop()
    }
}
