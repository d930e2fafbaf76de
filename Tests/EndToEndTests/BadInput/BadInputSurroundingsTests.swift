import Foundation
import TestSupport
import Testing

/// Playback that must continue in a faulty environment.
@Suite struct BadInputSurroundingsTests {
    /// Expects of a run over two tracks of the web that both were heard, and that the folder was reported
    /// once.
    private func expectNotCached(
        _ run: BadInputRun,
        _ folder: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectOneSentence(run, [folder], status: 0, sourceLocation: sourceLocation)
        #expect(run.failureCodes == ["not-cached"], sourceLocation: sourceLocation)
        #expect(run.events("notice").first?.message?.contains(folder) == true, sourceLocation: sourceLocation)
        #expect(run.finished == [88_200, 88_200], sourceLocation: sourceLocation)
        #expect(run.events.last?.failed == 0, sourceLocation: sourceLocation)
    }

    private func server(_ stage: BadInputStage) throws -> (origin: TestOrigin, sources: [String]) {
        let origin = try TestOrigin(["/a.mp3": stage.musicBytes, "/b.mp3": stage.musicBytes])
        return (origin, [origin.url("/a.mp3"), origin.url("/b.mp3")])
    }

    @Test func `a file in the place of the cache folder is told once and the music plays`() async throws {
        let stage = try await BadInputStage()
        let server = try server(stage)
        try stage.folder.write("not a folder", to: "cache")
        let run = try await stage.play(server.sources)
        expectNotCached(run, stage.cacheFolder)
        #expect(FileManager.default.contents(atPath: stage.cacheFolder) == Data("not a folder".utf8))
    }

    @Test(arguments: [false, true])
    func `a cache folder that cannot be written to is told once and the music plays`(
        wasUsed: Bool
    ) async throws {
        let stage = try await BadInputStage()
        let server = try server(stage)
        if wasUsed {
            _ = try await stage.play([server.sources[0]])
        } else {
            try stage.folder.makeFolder("cache")
        }
        let arguments = BadInputStage.silent + ["--cache-dir", stage.cacheFolder] + server.sources
        let process = try RunningProcess(
            Self.readOnly[0],
            Array(Self.readOnly.dropFirst()) + [stage.cacheFolder, BuiltProducts.reprise] + arguments,
            environment: stage.environment,
            folder: stage.folder.path
        )
        try process.closeInput()
        let run = try await BadInputRun(endOf: process)
        expectNotCached(run, stage.cacheFolder)
    }

    /// Runs a command while a folder, its first argument, cannot be written to.
    ///
    /// Nothing but a mount stops root, and only root may mount.
    private static var readOnly: [String] {
        geteuid() == 0
            ? [
                "unshare", "-m", "sh", "-e", "-c",
                "mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"; shift; exec \"$@\"", "sh",
            ]
            : ["sh", "-e", "-c", "chmod -R a-w \"$1\"; shift; exec \"$@\"", "sh"]
    }

    @Test func `no audio server ends the start and names the sink that needs none`() async throws {
        let stage = try await BadInputStage()
        let run = try await stage.run(
            [
                "--headless", "--json", "--sink", "pulse", "--cache-dir", stage.cacheFolder, stage.music,
                stage.music,
            ],
            environment: [
                "PULSE_SERVER": "unix:" + stage.folder.path("none"), "PULSE_RUNTIME_PATH": stage.folder.path,
            ]
        )
        expectOneSentence(run, ["no audio server", "--sink null"], status: 1)
        #expect(run.finished == [])
        #expect(run.events("playing") == [])
        #expect(run.events("summary").count == 1, "also a session that could not start is summed up")
    }

    @Test func `without a terminal the events come as lines`() async throws {
        let stage = try await BadInputStage()
        let run = try await stage.run(["--sink", "null:fast", stage.music], environment: ["TERM": "xterm"])
        #expect(run.status == 0)
        let names = run.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(names.first == "loaded")
        #expect(names.last == "summary")
        #expect(run.output.contains("ended index=1 reason=\"finished\" frames=88200 "))
        expectHarmless(run)
    }

    @Test(arguments: [nil, "", "dumb", "no-such-terminal"])
    func `in a terminal of no known type sentences tell what happens, without a sequence`(type: String?)
        async throws
    {
        let stage = try await BadInputStage()
        let terminal = try BadInputTerminal(stage, ["--sink", "null:fast", stage.music], type: type)
        #expect(try await terminal.waitForExit() == 0)
        #expect(terminal.shown.hasPrefix("1 track\nPlaying 1 of 1: "))
        #expect(!terminal.shown.contains("\u{1B}"))
        #expect(terminal.errorText.split(separator: "\n").count == 1)
        #expect(terminal.errorText.hasPrefix("played 1 track"))
    }

    @Test func `in a terminal of one cell the music plays and the screen waits for room`() async throws {
        let stage = try await BadInputStage()
        let samples = stage.folder.path("samples")
        let terminal = try BadInputTerminal(
            stage,
            ["--sink", "raw:" + samples, stage.music, stage.folder.path("nothing.mp3")],
            type: "xterm",
            columns: 1,
            rows: 1
        )
        try await wait(for: "the music") {
            let size = try? FileManager.default.attributesOfItem(atPath: samples)[.size] as? Int
            return size == 88_200 * 4
        }
        #expect(!terminal.drawn.contains("good"))
        try await terminal.resize(columns: 80, rows: 24)
        try await terminal.wait(for: "1 Queue")
        try await wait(for: "the track in the queue") { terminal.drawn.contains("good") }
        try terminal.type("q")
        #expect(try await terminal.waitForExit() == 0)
        #expect(
            terminal.errorText
                == "played 1 track, 1 failed; 0 B from the network, 0 B from the cache, 0 requests\n"
        )
    }

    @Test(
        arguments: [(SIGTERM, 4), (SIGINT, 4), (SIGHUP, 4), (SIGABRT, 128 + 6), (SIGSEGV, 128 + 11)]
            as [(Int32, Int32)]
    )
    func `a signal ends the screen and gives the terminal back`(signal: Int32, code: Int32) async throws {
        let stage = try await BadInputStage()
        let terminal = try BadInputTerminal(
            stage,
            ["--sink", "null", "--repeat", "one", stage.music],
            type: "xterm"
        )
        try await terminal.wait(for: "good")
        try terminal.signal(signal)
        #expect(try await terminal.waitForExit() == code)
        // The screen beside the normal one is left, the cursor is shown, and in an orderly end nothing is drawn any more.
        let last = try #require(terminal.shown.components(separatedBy: "\u{1B}[?2004l").last)
        #expect(last.contains("\u{1B}[?25h") && last.contains("\u{1B}[?1049l"))
        // After a fault, other threads continue for a moment.
        if code == 4 { #expect(!last.contains("good")) }
    }
}
