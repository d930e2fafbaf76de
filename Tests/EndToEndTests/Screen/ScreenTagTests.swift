import Foundation
import TestSupport
import Testing

/// Tags and pictures on the screen of the built program.
@Suite struct ScreenTagTests {
    private let folder: TemporaryFolder
    private let music: [UInt8]

    init() async throws {
        folder = try TemporaryFolder()
        music = try await MP3Fixtures.bytes(.init(seconds: 60))
    }

    @Test
    func
        `a folder shows the tags of tracks that were not played, finds them without accents, and sorts them`()
        async throws
    {
        for (number, title) in ["Zug", "Été à Paris", "Abend"].enumerated() {
            let tag = MP3Fixtures.tag(title: title, artist: "Band \(number)")
            try folder.write(tag + music, to: "music/\(number + 1).mp3")
        }
        try folder.write(music, to: "music/4.mp3")
        let stage = try await ScreenStage.playing([folder.path("music")], folder: folder)
        try await stage.terminal.wait(for: "3   Abend")
        try await stage.terminal.wait(for: "4   4 ")
        try await stage.terminal.type("fete")
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "1 of 4")
        let screen = try await stage.terminal.captureStyled()
        let row = try #require(screen.split(separator: "\n").first { $0.contains("Band 1") })
        // The letters that match have a style of their own.
        #expect(row.contains("Été") && !row.contains("Été à"), "\(row)")
        try await stage.escape(from: "1 of 4")
        try await stage.command("sort title")
        try await stage.terminal.wait(for: "2   Abend")
        try await stage.waitForCurrent(4)
        try await stage.quit()
    }

    @Test func `what is cached shows its tags at the next start, before it is played`() async throws {
        let web = folder.path("web")
        try folder.write(MP3Fixtures.tag(title: "Abend", artist: "Band") + music, to: "web/1.mp3")
        try folder.write(music, to: "web/2.mp3")
        let server = try await FolderServer(.nginx, serving: web)
        let urls = ["/2.mp3", "/1.mp3"].map { server.baseURL + $0 }
        let first = try await ScreenStage.playing([urls[1]], folder: folder)
        try await first.terminal.wait(for: "Abend")
        try await first.quit()
        try FileManager.default.removeItem(atPath: folder.path("state"))
        try await server.stop()
        let next = try await ScreenStage(["--offline"] + urls, folder: folder)
        try await next.wait(for: "its tags") {
            try await $0.terminal.capture().contains { $0.contains("2   Abend") && $0.contains("Band") }
        }
        try await next.quit()
    }

    @Test
    func `a track with a picture of 1.2 MB in front starts at the start of its bar, and clicks land in time`()
        async throws
    {
        try folder.write(
            MP3Fixtures.tag(title: "Abend", pictureByteCount: 1_200_000) + music,
            to: "web/1.mp3"
        )
        let server = try await FolderServer(.nginx, serving: folder.path("web"))
        let stage = try await ScreenStage.playing([server.baseURL + "/1.mp3"], folder: folder)
        try await stage.pause()
        try await expectHead(of: stage, after: 0, within: 20)
        try await stage.command("seek 50%")
        try await stage.waitForPosition(30)
        try await expectHead(of: stage, after: 30, within: 1)
        // The bar is the row before the last two, counted from 1; so are columns.
        try await stage.terminal.type("\u{1B}[<0;22;22M\u{1B}[<0;22;22m")
        try await stage.waitForPosition(15)
        try await expectHead(of: stage, after: 15, within: 1)
        try await stage.quit()
    }

    /// Expects the sign of the position in the cell of the time that is shown, which is `seconds` or a little
    /// more.
    private func expectHead(of stage: ScreenStage, after seconds: Int, within length: Int) async throws {
        let bar = try await stage.bar
        let column = try #require(bar.firstIndex(of: "▌").map { bar.distance(from: bar.startIndex, to: $0) })
        let position = try #require(try await stage.position)
        #expect((seconds...seconds + length).contains(position), "\(position) s")
        let cells = Double(position) / 60 * 78...Double(position + 1) / 60 * 78
        #expect(cells.lowerBound.rounded(.down)...cells.upperBound.rounded(.up) ~= Double(column), "\(bar)")
    }
}
