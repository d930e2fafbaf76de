import Foundation
import TestSupport
import Testing

/// The screen in a real terminal, driven by keys and read back.
struct ScreenKeyTests {
    private let folder: TemporaryFolder

    /// Three songs of half a minute, named first, second and third.
    init() async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("music")
        for (seed, name) in ["first", "second", "third", "fourth"].enumerated() {
            let song = try await MP3Fixtures.file(.init(seconds: 40, seed: UInt64(seed + 1)))
            try FileManager.default.copyItem(atPath: song, toPath: folder.path("music/\(name).mp3"))
        }
    }

    private func start(_ options: [String] = []) async throws -> ScreenStage {
        let songs = ["first", "second", "third"].map { folder.path("music/\($0).mp3") }
        let stage = try await ScreenStage.playing(options + songs, folder: folder)
        return stage
    }

    @Test func `the queue, the title, the time and the volume are on the screen`() async throws {
        let stage = try await start(["--volume", "50"])
        let screen = try await stage.terminal.capture()
        #expect(screen[0].hasPrefix(" 1 Queue") && screen[0].contains("3 tracks"))
        #expect(screen[2].hasPrefix(" music") && screen[2].contains("3 tracks"))
        #expect(screen[3].hasPrefix(" ▶ 1   first"))
        #expect(screen[4].hasPrefix("   2   second"))
        #expect(screen[5].hasPrefix("   3   third"))
        #expect(try await stage.nowPlaying.hasPrefix("▶ first"))
        #expect(try await stage.nowPlaying.hasSuffix("/ 0:40"))
        #expect(try await stage.status.contains("vol 50%"))
        try await stage.keys("+")
        try await stage.waitForStatus(containing: "vol 55%")
        try await stage.keys("-", "-")
        try await stage.waitForStatus(containing: "vol 45%")
        try await stage.keys("m")
        try await stage.waitForStatus(containing: "muted")
        try await stage.quit()
    }

    @Test func `space pauses and resumes, and the right arrow and a typed seek move the position`()
        async throws
    {
        let stage = try await start()
        try await stage.pause()
        let paused = try #require(try await stage.position)
        try await stage.keys("Right")
        try await stage.wait(for: "5 seconds on") { try await $0.position == paused + 5 }
        try await stage.keys("Right", "Right", "Left")
        try await stage.wait(for: "5 seconds on again") { try await $0.position == paused + 10 }
        try await stage.terminal.type(":seek 0:30")
        try await stage.wait(for: "the line typed") { try await $0.row(fromBelow: 1).contains(":seek 0:30") }
        try await stage.keys("Enter")
        try await stage.waitForPosition(30)
        try await stage.waitForStatus("Paused")
        try await stage.keys("Space")
        try await stage.waitForStatus("Playing")
        try await stage.wait(for: "time to pass") { try await ($0.position ?? 0) > 30 }
        try await stage.keys("t")
        try await stage.wait(for: "the time left") { try await $0.nowPlaying.contains(" -0:0") }
        try await stage.quit()
    }

    @Test func `tracks are jumped to, added and removed`() async throws {
        let stage = try await start()
        try await stage.keys(">")
        try await stage.waitForCurrent(2)
        try await stage.keys("<")
        try await stage.waitForCurrent(1)
        try await stage.keys("j", "j", "Enter")
        try await stage.waitForCurrent(3)
        try await stage.keys("k", "Enter")
        try await stage.waitForCurrent(2)
        try await stage.command("add \(folder.path("music/fourth.mp3"))")
        try await stage.terminal.wait(for: "4 tracks")
        try await stage.terminal.wait(for: "4   fourth")
        try await stage.keys("G", "d")
        try await stage.terminal.wait(for: "3 tracks")
        #expect(try await !stage.terminal.capture().contains { $0.contains("fourth") })
        // Removing the current track plays the next.
        try await stage.keys("g", "j", "j", "d")
        try await stage.terminal.wait(for: "2 tracks")
        try await stage.wait(for: "third to play") { try await $0.nowPlaying.contains("third") }
        try await stage.command("nonsense")
        try await stage.wait(for: "an answer to nonsense") {
            try await $0.row(fromBelow: 2).contains("Unknown command \"nonsense\"")
        }
        // The line stays to be edited.
        try await stage.escape(from: ":nonsense")
        try await stage.command("quit")
        #expect(try await stage.ending() == .restored(exitCode: 0))
    }
}
