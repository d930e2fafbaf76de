import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Chapters of a book from a server, in the built program.
@Suite struct ScreenChapterTests {
    private static let chapters = [
        (start: 0, title: "Dawn"), (start: 10, title: "Noon"), (start: 30, title: "Dusk"),
    ]

    /// A book of 45 seconds, whose chapters are in a track too.
    private func book(in folder: TemporaryFolder) async throws -> [UInt8] {
        let input = try folder.write(
            MadeWave(rate: 44_100, frames: 44_100 * 45, loudness: 0.2).bytes,
            to: "in.wav"
        )
        let song = folder.path("song.m4b")
        let codec = ["-c:a", "aac", "-b:a", "64k", song]
        _ = try await RunningProcess.run("ffmpeg", ["-v", "error", "-nostdin", "-i", input] + codec)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: song)))
        return try await ChapterFixtures.adding(
            Self.chapters,
            until: 45,
            to: bytes,
            "m4b",
            ["-movflags", "+faststart"]
        )
    }

    /// The columns of the bar with a tick.
    private func ticks(_ stage: ScreenStage) async throws -> [Int] {
        try await stage.row(fromBelow: 4).dropFirst().enumerated().filter { $0.element == "▾" }.map(\.offset)
    }

    @Test func `the keys go from chapter to chapter, each is named, and the bar shows where they begin`()
        async throws
    {
        let folder = try TemporaryFolder()
        let server = try TestOrigin(["/book.m4b": try await book(in: folder)])
        let stage = try await ScreenStage.playing([server.url("/book.m4b")], folder: folder)
        try await stage.pause()
        #expect(try await ticks(stage) == [17, 52])
        try await stage.keys("}")
        try await stage.terminal.wait(for: "Chapter 2 of 3: Noon")
        try await stage.waitForPosition(10)
        try await stage.keys("}")
        try await stage.terminal.wait(for: "Chapter 3 of 3: Dusk")
        try await stage.waitForPosition(30)
        try await stage.keys("}")
        try await stage.terminal.wait(for: "No next chapter (this is the last of 3)")
        try await stage.keys("{")
        try await stage.terminal.wait(for: "Chapter 2 of 3: Noon")
        try await stage.waitForPosition(10)
        try await stage.keys("2")
        try await stage.terminal.wait(for: "▸ 0:10  Noon")
        // The selection is on it: the next row is the next chapter.
        try await stage.keys("j", "Enter")
        try await stage.terminal.wait(for: "▸ 0:30  Dusk")
        try await stage.waitForPosition(30)
        try await stage.command("chapter 9")
        try await stage.terminal.wait(for: "No chapter 9 (there are 3)")
        try await stage.command("chapter 1")
        try await stage.terminal.wait(for: "Chapter 1 of 3: Dawn")
        try await stage.waitForPosition(0)
        try await stage.quit()
    }
}
