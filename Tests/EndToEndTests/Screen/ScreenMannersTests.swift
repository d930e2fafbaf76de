import Foundation
import System
import TestSupport
import Testing

/// The screen in terminals of many kinds and sizes, and with unusual input.
@Suite struct ScreenMannersTests {
    private let folder: TemporaryFolder
    private let path: String

    init() async throws {
        folder = try TemporaryFolder()
        path = try folder.write(try await MP3Fixtures.bytes(.init(seconds: 40)), to: "first.mp3")
    }

    @Test(
        arguments: [
            ("xterm-256color", "", 80, 24), ("xterm-256color", "truecolor", 120, 40),
            ("tmux-256color", "truecolor", 40, 10), ("screen", "truecolor", 200, 60), ("linux", "", 80, 25),
            ("vt100", "", 80, 24), ("xterm-mono", "", 500, 200),
        ]
    )
    func `terminals of many kinds and sizes show the screen and are restored`(
        type: String,
        colors: String,
        columns: Int,
        rows: Int
    ) async throws {
        let stage = try await ScreenStage.playing(
            [path],
            folder: folder,
            environment: ["TERM": type, "COLORTERM": colors],
            columns: columns,
            rows: rows
        )
        let screen = try await stage.terminal.capture()
        #expect(screen.count == rows && screen[0].hasPrefix(" 1 Queue"))
        #expect(try await stage.nowPlaying.contains("first"))
        try await stage.keys("?")
        try await stage.terminal.wait(for: "play/pause")
        try await stage.keys("?")
        try await stage.terminal.wait(for: "1 track")
        try await stage.keys("q")
        #expect(try await stage.ending().exitCode == 0)
        // Without an alternate screen the summary still has a row to itself.
        let text = try await stage.terminal.capture().joined()
        #expect(text.contains("played 1 track;") && text.contains("0 requeststhe-shell-is-back"))
    }

    @Test func `sixteen colours are enough`() async throws {
        // Few systems describe such a terminal, so a common one is given fewer colours.
        let script = """
            infocmp -x xterm-256color | sed -e 's/^xterm-256color[^,]*/xterm-16color|sixteen colours/' \
                -e 's/colors#[^,]*/colors#16/' -e 's/pairs#[^,]*/pairs#256/' | tic -x -o "$0" -
            """
        _ = try await RunningProcess.run("sh", ["-c", script, folder.path("types")])
        let stage = try await ScreenStage.playing(
            [path],
            folder: folder,
            environment: ["TERM": "xterm-16color", "TERMINFO": folder.path("types")]
        )
        try await stage.quit()
    }

    @Test func `many resizes leave a complete screen`() async throws {
        let stage = try await ScreenStage.playing([path], folder: folder)
        var generator = SeededGenerator(seed: 6)
        for round in 0..<40 {
            let columns = Int.random(in: 1...240, using: &generator)
            try await stage.terminal.resize(columns: columns, rows: .random(in: 1...70, using: &generator))
            if round % 10 == 0 { try await stage.keys("?", "?") }
        }
        try await stage.terminal.resize(columns: 60, rows: 12)
        try await stage.wait(for: "the whole screen") { stage in
            let screen = try await stage.terminal.capture()
            return screen.count == 12 && screen[0].hasPrefix(" 1 Queue")
                && screen[1].hasPrefix(" ▶ 1 first") && screen[8].hasPrefix(" ▶ first")
                && screen[10].hasPrefix(" Playing")
        }
        // The size is part of the output of stty.
        try await stage.terminal.resize(columns: 80, rows: 24)
        try await stage.wait(for: "24 rows") { stage in
            let screen = try await stage.terminal.capture()
            return screen.count == 24 && screen[22].hasPrefix(" Playing")
        }
        try await stage.quit(hasOldText: false)
    }

    @Test func `ten thousand pasted characters are text in the command line, and sources in the queue`()
        async throws
    {
        let second = try folder.write(try await MP3Fixtures.bytes(.init(seconds: 2)), to: "second.mp3")
        let stage = try await ScreenStage.playing([path], folder: folder)
        try await stage.keys(":")
        // They contain keys that would quit, remove and move.
        try await stage.terminal.paste("seek " + String(repeating: "qdJ\n", count: 2_500) + "end")
        try await stage.wait(for: "the end of what was pasted") {
            try await $0.row(fromBelow: 1).contains("qdJ end")
        }
        try await stage.keys("Enter")
        try await stage.wait(for: "the answer") { try await $0.row(fromBelow: 2).contains("seek takes") }
        // The failed line stays to be edited.
        try await stage.escape(from: "qdJ")
        try await stage.terminal.paste("\(second)\n\(path)\r\n")
        try await stage.terminal.wait(for: "3 tracks")
        #expect(try await stage.status.hasPrefix("Playing"))
        try await stage.quit()
    }

    @Test func `commands are completed, and saved for the next session`() async throws {
        try folder.makeFolder("music")
        for name in ["one.mp3", "other.mp3"] {
            try FileManager.default.copyItem(atPath: path, toPath: folder.path("music/\(name)"))
        }
        let stage = try await ScreenStage.playing([path], folder: folder)
        try await stage.keys(":", "r", "e", "p", "Tab", "a", "Tab", "Enter")
        try await stage.waitForStatus(containing: "repeat all")
        try await stage.terminal.type(":add mus")
        try await stage.keys("Tab")
        try await stage.wait(for: "the folder") { try await $0.row(fromBelow: 1).contains(":add music/") }
        try await stage.keys("o", "Tab")
        try await stage.terminal.type("t")
        try await stage.keys("Tab")
        try await stage.wait(for: "the file") { try await $0.row(fromBelow: 1).contains("music/other.mp3") }
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "2 tracks")
        try await stage.command("add http://me:hidden@localhost:1/x.mp3")
        try await stage.quit()
        let state = try SQLiteConnection(path: folder.path("state/reprise/state.sqlite"))
        let history = try state.statement("SELECT line FROM history").all { $0.optionalText(0) }
        #expect(history == ["repeat all", "add music/other.mp3"])

        let next = try await ScreenStage.playing([path], folder: folder)
        try await next.keys(":", "Up", "Up")
        try await next.wait(for: "the oldest line") { try await $0.row(fromBelow: 1).contains(":repeat all") }
        try await next.escape(from: ":repeat all")
        try await next.quit()
    }

    @Test func `keys of the configuration run their commands`() async throws {
        try folder.write(
            "[keys]\nx = \"volume 33\"\nq = \"\"\nF10 = \"quit\"\n[colors]\nplaying = \"208\"\n",
            to: "config/reprise/config.toml"
        )
        let stage = try await ScreenStage.playing([path], folder: folder)
        try await stage.keys("q", "x")
        try await stage.waitForStatus(containing: "vol 33%")
        try await stage.keys("F10")
        #expect(try await stage.ending() == .restored(exitCode: 0))
    }

    @Test func `mouse reports run no keys`() async throws {
        let stage = try await ScreenStage.playing([path], folder: folder)
        for report in ["<0;5;2M", "<0;5;2m", "<64;5;2M", "<65;5;2M", "<35;6;2M", "<2;1;1M", "<999;1;1M"] {
            try await stage.terminal.type("\u{1B}[" + report)
        }
        // In the old form, with bytes that would be keys.
        try await stage.terminal.type("\u{1B}[Mqq!")
        try await stage.keys("-")
        try await stage.waitForStatus(containing: "vol 95%")
        #expect(try await stage.status.hasPrefix("Playing"))
        try await stage.quit()
    }
}
