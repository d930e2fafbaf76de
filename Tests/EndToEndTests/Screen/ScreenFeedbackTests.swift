import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// What a newcomer's first keys do, in the built program.
struct ScreenFeedbackTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Three songs of 40 seconds from a server, the first one playing.
    private func start(_ server: TestOrigin) async throws -> ScreenStage {
        var urls: [String] = []
        for (seed, name) in ["first", "second", "third"].enumerated() {
            let song = try await MP3Fixtures.bytes(.init(seconds: 40, seed: UInt64(seed + 1)))
            server.set(song, at: "/\(name).mp3")
            urls.append(server.url("/\(name).mp3"))
        }
        return try await ScreenStage.playing(urls, folder: folder)
    }

    private func row(_ text: String, _ stage: ScreenStage) async throws -> String {
        try await stage.terminal.capture().first { $0.contains(text) } ?? ""
    }

    @Test func `search, filter and sort act on the view in which they are typed, or say that they do not`()
        async throws
    {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.keys("3")
        // The queue shows it without its ending.
        try await stage.terminal.wait(for: "first.mp3")
        try await stage.terminal.type("/first")
        try await stage.keys("Enter", "d")
        try await stage.terminal.wait(for: "again to delete")
        try await stage.terminal.type("fnothing")
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "No match for \"nothing\"")
        try await stage.keys("Escape")
        try await stage.wait(for: "the row") { try await $0.terminal.capture()[3].contains("first") }
        try await stage.keys("S")
        try await stage.terminal.wait(for: "Can't sort this view (1 opens the queue)")
        // The word that is typed after a refused key is ignored up to Enter.
        try await stage.keys("C", "q", "Enter", "4", "f")
        try await stage.terminal.wait(for: "Can't filter this view (1 opens the queue)")
        try await stage.keys("q", "Enter", "1")
        try await stage.terminal.wait(for: "3   third")
        try await stage.quit()
    }

    @Test func `C keeps what plays, u brings back the rest and what d has stopped, and every key answers`()
        async throws
    {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.command("seek 0:20")
        try await stage.wait(for: "second 20") { try await ($0.position ?? 0) >= 20 }
        try await stage.keys("C")
        try await stage.terminal.wait(for: "Cleared 2 tracks · u undo")
        try await stage.wait(for: "one track") { try await $0.terminal.capture()[0].contains(" 1 track") }
        #expect(try await stage.status.hasPrefix("Playing"))
        #expect(try await (stage.position ?? 0) >= 20)
        try await stage.keys("u")
        try await stage.terminal.wait(for: "Restored 2 tracks")
        try await stage.pause()
        try await stage.keys("g", "j", "d")
        try await stage.terminal.wait(for: "Removed 1 track · u undo")
        try await stage.wait(for: "the next") { try await $0.nowPlaying.contains("second") }
        try await stage.keys("u")
        try await stage.wait(for: "the first again, where it was") { stage in
            let position = try await stage.position ?? 0
            return try await stage.nowPlaying.contains("first") && (20...39).contains(position)
        }
        try await stage.waitForStatus("Paused")
        try await stage.keys("p")
        try await stage.terminal.wait(for: "p is not bound (? for help)")
        try await stage.terminal.type(":jmp 2")
        try await stage.keys("Enter")
        try await stage.terminal.wait(for: "Unknown command \"jmp\" – did you mean jump?")
        try await stage.keys("Home", "Right", "u", "Enter")
        try await stage.wait(for: "the second") { try await $0.nowPlaying.contains("second") }
        try await stage.quit()
    }

    @Test func `P in the queue pins and downloads the marked tracks, with the progress in their rows`()
        async throws
    {
        let server = try TestOrigin()
        let stage = try await start(server)
        try await stage.keys("g", "j", "j", "x", "x", "P")
        // The end of the downloads soon takes its place below, but not among the messages.
        try await stage.keys("5")
        try await stage.terminal.wait(for: "Pinned 2 tracks (never evicted)")
        try await stage.terminal.wait(for: "2 tracks downloaded")
        try await stage.keys("1")
        for name in ["second", "third"] {
            try await stage.wait(for: "all of \(name)") { stage in
                try await row(name, stage).contains("♦ ━━━━━━━━━━")
            }
        }
        #expect(try await stage.nowPlaying.contains("first"))
        try await stage.quit()
    }

    @Test func `a dead link's row gives the reason instead of the URL`() async throws {
        let server = try TestOrigin()
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        server.set(song, at: "/good.mp3")
        let gone = server.url("/gone.mp3")
        let stage = try await ScreenStage.playing([gone, server.url("/good.mp3")], folder: folder)
        try await stage.wait(for: "the reason") { stage in
            try await row("✗ 1   gone", stage).contains("the server has no such file (404)")
        }
        try await stage.quit()
    }

    @Test(arguments: [("#ffffff", "38;5;22m"), ("#000000", "38;5;114m")])
    func `the colours fit the background that the terminal reports`(background: String, color: String)
        async throws
    {
        let song = try folder.write(try await MP3Fixtures.bytes(.init(seconds: 40)), to: "song.mp3")
        let script = """
            unset NO_COLOR
            tmux set-option -p window-style 'bg=\(background)'
            export XDG_STATE_HOME='\(folder.path("state"))' XDG_CONFIG_HOME='\(folder.path("config"))'
            exec '\(BuiltProducts.reprise)' --sink null --no-cache '\(song)'
            """
        let terminal = try await TmuxSession(["sh", "-c", script])
        try await terminal.wait(for: "Playing")
        try await wait(for: "the colours") { try await terminal.captureStyled().contains(color) }
        // The reply is no key: it neither opened a prompt nor was answered.
        #expect(!(try await terminal.capture().contains { $0.contains("is not bound") }))
        try await terminal.sendKeys("q")
    }

    @Test func `the user's theme is shown as one moves to it, goes with Esc, and stays with Enter`()
        async throws
    {
        let song = try folder.write(try await MP3Fixtures.bytes(.init(seconds: 40)), to: "song.mp3")
        let theme = "[colors]\nbackground = \"19\"\n"
        _ = try folder.write(Array(theme.utf8), to: "config/reprise/themes/sea.toml")
        let script = """
            unset NO_COLOR COLORTERM
            export XDG_STATE_HOME='\(folder.path("state"))' XDG_CONFIG_HOME='\(folder.path("config"))'
            exec '\(BuiltProducts.reprise)' --sink null --no-cache --theme paper '\(song)'
            """
        let terminal = try await TmuxSession(["sh", "-c", script])
        func wait(behind color: Int) async throws {
            try await TestSupport.wait(for: "the background \(color)") {
                try await terminal.captureStyled().contains("48;5;\(color)m")
            }
        }
        try await wait(behind: 255)
        try await terminal.sendKeys(":", "t", "h", "e", "m", "e", "Enter")
        for name in ["auto", "midnight", "sea"] { try await terminal.wait(for: name) }
        try await terminal.sendKeys("Up")
        try await wait(behind: 19)
        try await terminal.sendKeys("Up", "Up", "Up")
        try await wait(behind: 233)
        try await terminal.sendKeys("Escape")
        try await wait(behind: 255)
        try await terminal.sendKeys(":", "t", "h", "e", "m", "e", "Space", "s", "Tab")
        try await wait(behind: 19)
        try await terminal.sendKeys("Enter")
        try await terminal.wait(for: "Theme sea")
        try await wait(behind: 19)
        try await terminal.sendKeys("q")
    }
}
