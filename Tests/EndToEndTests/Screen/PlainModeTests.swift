import Foundation
import TestSupport
import Testing

/// Plain mode: lines instead of a screen, with the same keys.
@Suite struct PlainModeTests {
    private let folder: TemporaryFolder
    private let songs: [String]

    init() async throws {
        folder = try TemporaryFolder()
        let bytes = try await MP3Fixtures.bytes(.init(seconds: 40))
        songs = try ["first", "second"].map { [folder] in try folder.write(bytes, to: "\($0).mp3") }
    }

    @Test(arguments: [(["--plain"], "xterm-256color"), ([], "dumb")])
    func `a terminal without a screen shows lines and takes keys`(
        options: [String],
        type: String
    ) async throws {
        let stage = try await ScreenStage(options + songs, folder: folder, environment: ["TERM": type])
        let terminal = stage.terminal
        try await terminal.wait(for: "2 tracks")
        try await terminal.wait(for: "Playing 1 of 2: first.mp3, 0:40")
        #expect(try await terminal.terminal("#{alternate_on} #{cursor_flag}") == "0 1")
        try await terminal.sendKeys("Space")
        try await terminal.wait(for: "Paused at 0:")
        try await terminal.sendKeys("-")
        try await terminal.wait(for: "Volume 95 %")
        try await terminal.sendKeys("j")
        try await terminal.wait(for: "2 second")
        try await terminal.sendKeys("Right")
        // A busy machine may have played more than five seconds before.
        try await terminal.wait(for: "At 0:")
        try await terminal.sendKeys("?")
        try await terminal.wait(for: "q: quit")
        // The terminal itself edits the line.
        try await openLine(on: stage)
        try await terminal.type("seek 0:39x")
        try await terminal.sendKeys("BSpace", "Enter")
        try await terminal.wait(for: "At 0:39")
        try await terminal.sendKeys("t")
        try await terminal.wait(for: "Paused 1 of 2: first, 0:39 of 0:40")
        try await terminal.sendKeys(">")
        try await terminal.wait(for: "Paused 2 of 2: second")
        // Lines scroll: the earlier text has moved up.
        try await stage.quit(hasOldText: false)
        try await terminal.wait(for: "from the network")
    }

    @Test func `pasted sources are added, and run no keys`() async throws {
        let stage = try await ScreenStage(["--plain"] + songs, folder: folder)
        try await stage.terminal.wait(for: "Playing 1 of 2")
        try await stage.terminal.paste("\(songs[0])\n\(songs[1])\n")
        try await stage.terminal.wait(for: "4 tracks")
        try await stage.keys("G")
        try await stage.terminal.wait(for: "4 second")
        // While a line is typed the terminal does not mark pastes: the first line is the command, the rest is
        // dropped.
        try await openLine(on: stage)
        try await expectOneCommand("volume 50\nqd\n", on: stage)
        try await stage.quit(hasOldText: false)
    }

    @Test func `without paste marks, lines pasted after a command are dropped`() async throws {
        let stage = try await ScreenStage(["--plain"] + songs, folder: folder, environment: ["TERM": "dumb"])
        try await stage.terminal.wait(for: "Playing 1 of 2")
        try await expectOneCommand(":volume 50\nqd\n", on: stage)
        try await stage.keys("q")
        #expect(try await stage.ending().exitCode == 0)
    }

    /// Opens the line of a command, and returns once the terminal edits it: what is typed sooner is taken as
    /// keys. Other rows contain a colon too, but the prompt is nothing else.
    private func openLine(on stage: ScreenStage) async throws {
        try await stage.keys(":")
        try await stage.wait(for: "the prompt") { try await $0.terminal.capture().contains(":") }
    }

    /// Pastes lines, of which only the first may be obeyed.
    private func expectOneCommand(_ lines: String, on stage: ScreenStage) async throws {
        try await stage.terminal.paste(lines)
        try await stage.terminal.wait(for: "Volume 50 %")
        try await stage.keys("-")
        try await stage.terminal.wait(for: "Volume 45 %")
    }

    @Test(arguments: [(SIGTERM, 4), (SIGABRT, 128 + 6)])
    func `a signal restores the modes of the terminal`(signal: Int32, exitCode: Int) async throws {
        let stage = try await ScreenStage(["--plain"] + songs, folder: folder)
        try await stage.terminal.wait(for: "Playing 1 of 2")
        try stage.signal(signal)
        #expect(try await stage.ending() == .restored(exitCode: exitCode))
        guard exitCode > 128 else { return }
        #expect(try await stage.terminal.capture().contains { $0.hasPrefix("reprise: ended by SIGABRT") })
    }

    @Test func `without a terminal commands are read as lines, and nothing is saved`() async throws {
        let stage = try await Stage()
        let process = try stage.start(["--plain", "--sink", "null", songs[0]])
        try await process.waitForLine { $0 == "1 track" }
        try await process.waitForLine { $0.hasPrefix("Playing 1 of 1: ") }
        try process.send("quit\n")
        #expect(try await process.waitForExit() == 0)
        #expect(!FileManager.default.fileExists(atPath: stage.folder.path("state/reprise")))
    }
}
