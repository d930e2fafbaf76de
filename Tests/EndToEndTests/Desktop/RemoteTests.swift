import Foundation
import System
import TestSupport
import Testing

/// `reprise remote`, and the control socket of the built player.
struct RemoteTests {
    private let stage: Stage
    private let runtime: TemporaryFolder
    private let tracks: [String]

    init() async throws {
        stage = try await Stage([:])
        runtime = try TemporaryFolder()
        let music = try await MP3Fixtures.bytes(.init(seconds: 60))
        let folder = stage.folder
        tracks = try (1...3).map { number in
            try folder.write(MP3Fixtures.tag(title: "Title \(number)") + music, to: "\(number).mp3")
        }
    }

    private var environment: [String: String?] { ["XDG_RUNTIME_DIR": runtime.path] }
    private var socket: String { runtime.path("reprise/socket") }

    /// Starts a player with a socket; returns once its first track is heard and the socket is there.
    private func play(_ options: [String] = ["--socket"]) async throws -> RunningProcess {
        let player = try stage.startPlaying(options + tracks, environment: environment)
        try await player.event("playing")
        try await wait(for: "the socket") { FileManager.default.fileExists(atPath: socket) }
        return player
    }

    /// Starts `reprise remote` with these words.
    private func start(_ words: [String], folder: String? = nil) throws -> RunningProcess {
        try RunningProcess(
            BuiltProducts.reprise,
            ["remote"] + words,
            environment: stage.environment.merging(environment) { $1 },
            folder: folder ?? stage.folder.path
        )
    }

    /// Runs `reprise remote` to its end with the exit code `code`; returns it.
    @discardableResult
    private func remote(
        _ words: String...,
        code: Int32 = 0,
        folder: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> RunningProcess {
        let process = try start(words, folder: folder)
        let status = try await process.waitForExit()
        #expect(status == code, "\(words): \(process.errorText)", sourceLocation: sourceLocation)
        return process
    }

    private func quit(_ player: RunningProcess) async throws {
        try await remote("quit")
        #expect(try await player.waitForExit() == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func `each command reaches the player, and its event shows it`() async throws {
        let player = try await play()
        let other = try stage.folder.write(
            try await MP3Fixtures.bytes(.init(seconds: 2)),
            to: "more/other.mp3"
        )
        for (line, event) in [
            ("pause", "paused"), ("play", "playing"), ("toggle", "paused"), ("seek 0:20", "seeked"),
            ("seek -10", "seeked"), ("toggle", "playing"), ("next", "track"), ("previous", "track"),
            ("jump 2", "track"), ("chapter 1", "notice"), ("volume 30", "volume"), ("volume -5", "volume"),
            ("mute", "volume"), ("shuffle on", "mode"), ("shuffle off", "mode"), ("repeat all", "mode"),
            ("gain track", "mode"), ("reload", "playing"), ("add \(other)", "queue"), ("remove 4", "queue"),
            ("undo", "queue"), ("move 4 1", "queue"), ("play-next 1", "queue"), ("play-later 1", "queue"),
            ("sort source", "queue"), ("shuffle now", "queue"), ("pin 1", "notice"), ("download 1", "notice"),
            ("ahead 12t", "notice"), ("ahead off", "notice"), ("played 1", "notice"),
            ("unplayed 1", "notice"), ("save list.m3u8", "notice"), ("stop after track", "notice"),
            ("stop after off", "notice"), ("stop", "ended"), ("clear others", "queue"), ("clear", "queue"),
        ] {
            let count = player.lines.count
            let words = ["--wait", event] + line.split(separator: " ").map(String.init)
            let process = try start(words)
            let status = try await process.waitForExit()
            // A refusal is an answer to the program alone.
            #expect([0, 2].contains(status), "\(line): \(process.errorText)")
            if status == 0 { try await player.event(event, after: count) }
            #expect((status == 2) == (process.errorText != ""), "\(line)")
        }
        try await quit(player)
    }

    @Test func `answers are printed, and nobody else gets them`() async throws {
        let player = try await play()
        let before = player.lines.count
        try await remote("pause", "--wait", "paused")
        let status = try await remote("status")
        #expect(try status.events.map(\.event) == ["track", "paused", "status"])
        let list = try await remote("list")
        #expect(list.lines.count == 1 && list.lines[0].contains("3.mp3"))
        let refused = try await remote("remove", "9", code: 2)
        #expect(refused.errorText == "reprise: No track 9\n" && refused.output.isEmpty)
        #expect(try await remote("volume", "30").output.isEmpty)
        try await player.event("volume", after: before)
        let names = try player.events.dropFirst(before).map(\.event)
        #expect(!names.contains("status") && !names.contains("list") && !names.contains("answered"))
        #expect(player.errorText.isEmpty)
        // Nor do the answers to the lines of standard input reach programs.
        let program = try SocketProgram(socket)
        try player.send("status")
        try await player.event("status", after: before)
        try player.send("volume 31")
        try await program.event("volume")
        #expect(program.lines.count == 1)
        try await quit(player)
    }

    @Test func `wrong commands are refused at once, and without a player nothing is sent`() async throws {
        for words in [[], ["fly"], ["seek"], ["search", "x"], ["--wait", "fly"], ["play\nquit"], ["--fly"]] {
            let process = try start(words)
            #expect(try await process.waitForExit() == 64, "\(words)")
            #expect(process.errorText.contains("reprise remote --help"), "\(process.errorText)")
        }
        #expect(try await remote("toggle", code: 1).errorText.contains("No player"))
        let help = try await remote("--help").output
        #expect(String(decoding: help, as: UTF8.self).contains("--wait <event>"))
    }

    @Test func `sources are those of the folder in which the command is typed`() async throws {
        let player = try await play()
        let music = try await MP3Fixtures.bytes(.init(seconds: 2))
        for name in ["a b.mp3", "-c.mp3", "d\n.mp3"] {
            try stage.folder.write(music, to: "elsewhere/" + name)
        }
        let folder = stage.folder.path("elsewhere")
        try await remote("add", "a b.mp3", "-c.mp3", "d\n.mp3", folder: folder)
        try await remote("save", "list.m3u8", "--wait", "notice", folder: folder)
        let list = try await remote("list").lines.joined()
        for name in ["/a b.mp3", "/-c.mp3"] { #expect(list.contains(folder + name)) }
        #expect(try await remote("status").lines.last?.contains("\"tracks\":6") == true)
        #expect(FileManager.default.fileExists(atPath: folder + "/list.m3u8"))
        try await quit(player)
    }

    @Test func `the commands behind the one that brings the awaited event are sent too`() async throws {
        let player = try await play()
        try await remote("--wait", "queue", "add", tracks[0], tracks[1], tracks[2])
        #expect(try await remote("status").lines.last?.contains("\"tracks\":6") == true)
        try await quit(player)
    }

    @Test func `a command that fails later is an error, too`() async throws {
        let player = try await play()
        let place = stage.folder.path("none/list.m3u8")
        #expect(try await remote("save", place, code: 2).errorText.contains(place))
        try await quit(player)
        let icecast = try await IcecastServer()
        let song = try await MP3Fixtures.file(MP3Fixtures.Options(seconds: 120))
        let source = try await icecast.broadcast(song, at: "/live.mp3", name: "Radio")
        let radio = try stage.startPlaying(
            ["--socket", icecast.url("/live.mp3")],
            environment: environment
        )
        try await radio.event("playing")
        let refused = try await remote("seek", "0:01", code: 2)
        #expect(refused.errorText == "reprise: Can't seek in a live stream\n")
        try await quit(radio)
        source.signal(SIGTERM)
        try await source.waitForExit()
    }

    @Test func `a stopped player is not awaited but for its events`() async throws {
        let player = try await play()
        player.signal(SIGSTOP)
        let waiter = try start(["--wait", "volume"])
        let stopped = try await remote("toggle", code: 1)
        #expect(stopped.errorText == "reprise: The player does not answer: it is stopped, or too busy\n")
        player.signal(SIGCONT)
        try await remote("volume", "5")
        #expect(try await waiter.waitForExit() == 0)
        try await quit(player)
    }

    @Test func `many programs leave a player with few descriptors those for its music`() async throws {
        let player = try stage.startPlaying(
            ["--socket"] + tracks,
            environment: environment,
            wrapper: ["sh", "-c", #"ulimit -n 64; exec "$@""#, "sh"]
        )
        try await player.event("playing")
        try await wait(for: "the socket") { FileManager.default.fileExists(atPath: socket) }
        let programs = try (1...64).map { _ in try SocketProgram(socket) }
        try await wait(for: "the refusals") { programs.count { $0.isClosed } == 48 }
        let count = player.lines.count
        try programs[0].send("jump 3\n")
        #expect(try await player.event("playing", after: count).index == 3)
        // Its last word reaches a command, too.
        let refused = try await remote("pause", code: 1)
        #expect(refused.errorText == "reprise: Refused: 16 programs are connected\n")
        try programs[0].send("quit\n")
        #expect(try await player.waitForExit() == 0)
    }

    @Test func `commands are sent though nobody reads the events, and a full disk is an error`() async throws
    {
        let player = try await play()
        func run(_ script: String, _ words: String...) async throws -> RunningProcess {
            let process = try RunningProcess(
                "sh",
                ["-c", script, "sh", BuiltProducts.reprise, "remote"] + words,
                environment: stage.environment.merging(environment) { $1 },
                folder: stage.folder.path
            )
            try await process.waitForExit()
            return process
        }
        let closed = #"trap "" PIPE; { while echo x; do :; done 2>/dev/null; "$@"; echo $? >&2; } | :"#
        #expect(try await run(closed, "--follow", "add", tracks[0], tracks[1]).errorText == "0\n")
        #expect(try await remote("status").lines.last?.contains("\"tracks\":5") == true)
        let full = try await run(#""$@" >/dev/full"#, "status")
        #expect(try await full.waitForExit() == 1)
        #expect(full.errorText == "reprise: Can't write the events: No space left on device\n")
        try await quit(player)
    }

    @Test func `events are followed until the player ends`() async throws {
        let player = try await play()
        let follower = try start(["--follow"])
        // It follows once it has an event.
        try await follower.event("position")
        try await remote("pause")
        try await follower.event("paused")
        let waiter = try start(["--wait", "download"])
        try await quit(player)
        #expect(try await follower.waitForExit() == 0)
        #expect(try follower.events.last?.event == "summary")
        #expect(try await waiter.waitForExit() == 1)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
    func `a signal removes the socket`(signal: Int32) async throws {
        let player = try await play()
        player.signal(signal)
        #expect(try await player.waitForExit() == 4)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func `the socket of a killed player is replaced, and a second player has its own`() async throws {
        let killed = try await play()
        killed.signal(SIGKILL)
        try await killed.waitForExit()
        #expect(FileManager.default.fileExists(atPath: socket))
        try await remote("toggle", code: 1)
        let first = try await play()
        try await wait(for: "the first player") { try await start(["volume", "7"]).waitForExit() == 0 }
        try await first.event("volume")
        let second = try await play()
        let own = socket + ".\(second.processIdentifier)"
        try await wait(for: own) { FileManager.default.fileExists(atPath: own) }
        try await remote("--pid", "\(second.processIdentifier)", "volume", "8")
        try await second.event("volume")
        #expect(try first.events.count { $0.event == "volume" } == 1)
        // Without the first one, the second one is controlled.
        try first.send("quit")
        #expect(try await first.waitForExit() == 0)
        try await remote("quit")
        #expect(try await second.waitForExit() == 0 && !FileManager.default.fileExists(atPath: own))
    }

    @Test func `the socket needs its folder, and a player without a screen needs the option`() async throws {
        let script = try stage.startPlaying(tracks, environment: environment)
        try await script.event("playing")
        let lost = try stage.startPlaying(
            ["--socket"] + tracks,
            environment: ["XDG_RUNTIME_DIR": runtime.path("none")]
        )
        #expect(try await lost.event("notice").message?.contains("the control socket") == true)
        for player in [script, lost] {
            try player.send("quit")
            #expect(try await player.waitForExit() == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: runtime.path("reprise")))
    }

    @Test func `a player with a screen has the socket`() async throws {
        let screen = try await ScreenStage.playing(
            tracks,
            folder: stage.folder,
            environment: ["XDG_RUNTIME_DIR": runtime.path]
        )
        try await wait(for: "the socket") { FileManager.default.fileExists(atPath: socket) }
        try await remote("pause")
        try await screen.waitForStatus("Paused")
        #expect(try await remote("status").lines.count == 3)
        try await screen.keys("q")
        #expect(try await screen.ending().exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))
    }
}
