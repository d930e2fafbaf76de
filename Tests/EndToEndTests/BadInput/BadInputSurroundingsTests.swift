import Foundation
import TestSupport
import Testing

/// Playback that must continue in a faulty environment.
@Suite struct BadInputSurroundingsTests {
    @Test func `a cache folder that is a file is reported once and the music plays`() async throws {
        let stage = try await Stage()
        for path in ["/a.mp3", "/b.mp3"] { stage.server.set(stage.musicBytes, at: path) }
        try stage.folder.write("not a folder", to: "cache")
        let run = try await stage.play([stage.url("/a.mp3"), stage.url("/b.mp3")])
        expectOneSentence(run, [stage.cachePath], status: 0)
        #expect(run.failureCodes == ["not-cached"])
        #expect(run.events("notice").first?.message?.contains(stage.cachePath) == true)
        #expect(run.finished == [88_200, 88_200])
        #expect(run.events.last?.failed == 0)
        #expect(FileManager.default.contents(atPath: stage.cachePath) == Data("not a folder".utf8))
    }

    @Test func `no audio server ends the start and names the sink that needs none`() async throws {
        let stage = try await Stage()
        let run = try await stage.run(
            ["--headless", "--json", "--sink", "pulse", stage.music, stage.music],
            environment: [
                "PULSE_SERVER": "unix:" + stage.folder.path("none"), "PULSE_RUNTIME_PATH": stage.folder.path,
            ]
        )
        expectOneSentence(run, ["no sound server", "--sink null"], status: 1)
        #expect(run.finished == [] && run.events("playing") == [])
        #expect(run.events("summary").count == 1, "a session that could not start has a summary too")
    }

    @Test func `without a terminal the events come as lines`() async throws {
        let stage = try await Stage()
        let run = try await stage.run(["--sink", "null:fast", stage.music], environment: ["TERM": "xterm"])
        #expect(run.status == 0)
        let names = run.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        #expect(names.first == "loaded")
        #expect(names.last == "summary")
        #expect(run.output.contains("ended index=1 reason=\"finished\" frames=88200 "))
        expectHarmless(run)
    }

    @Test(
        arguments: [
            (nil, ["reprise: No screen: TERM is not set"]), ("", ["reprise: No screen: TERM is not set"]),
            ("dumb", []),
        ] as [(String?, [String])]
    )
    func `in a terminal that can't have a screen sentences tell what happens, without a sequence`(
        type: String?,
        reason: [String]
    ) async throws {
        let stage = try await Stage()
        let terminal = try PlayerTerminal(stage, ["--sink", "null:fast", stage.music], type: type)
        #expect(try await terminal.process.waitForExit() == 0)
        #expect(terminal.shown.hasPrefix("1 track\nPlaying 1 of 1: "))
        #expect(!terminal.shown.contains("\u{1B}"))
        let lines = terminal.process.errorText.split(separator: "\n")
        let wanted = reason + ["played 1 track"]
        #expect(lines.count == wanted.count)
        #expect(zip(lines, wanted).allSatisfy { $0.hasPrefix($1) }, "\(lines)")
    }

    @Test func `in a terminal of one cell the music plays and the screen waits for room`() async throws {
        let stage = try await Stage()
        let samples = stage.folder.path("samples")
        let sources = [stage.music, stage.folder.path("nothing.mp3")]
        let terminal = try PlayerTerminal(stage, ["--sink", "raw:" + samples] + sources, size: (1, 1))
        try await wait(for: "the music") {
            let size = try? FileManager.default.attributesOfItem(atPath: samples)[.size] as? Int
            return size == 88_200 * 4
        }
        #expect(!terminal.drawn.contains("good"))
        terminal.process.resize((80, 24))
        try await terminal.wait(for: "1 Queue")
        try await wait(for: "the track in the queue") { terminal.drawn.contains("good") }
        try terminal.process.type("q")
        #expect(try await terminal.process.waitForExit() == 0)
        #expect(
            terminal.process.errorText
                == "played 1 track, 1 source unreadable; "
                + "0 B from the network, 0 B from the cache, 0 requests\n"
        )
    }

    @Test(arguments: ["65536", "600000"])
    func `too little memory ends the start in one sentence, and what it asks for is enough`(kilobytes: String)
        async throws
    {
        let stage = try await Stage()
        func limited(to kilobytes: String) -> [String] {
            ["sh", "-c", #"ulimit -v "$0" && exec "$@""#, kilobytes]
        }
        let run = try await stage.play([stage.music], wrapper: limited(to: kilobytes))
        expectOneSentence(run, ["Not enough memory: ulimit -v allows "], status: 1)
        let words = run.errors.split(whereSeparator: \.isWhitespace)
        let needed = try #require(words.suffix(2).first.flatMap { Int($0) })
        #expect(words.last == "MB")
        let enough = try await stage.play(
            [stage.music],
            wrapper: limited(to: "\(needed * 1_000_000 / 1_024 + 1)")
        )
        #expect(enough.status == 0, "\(enough.errors)")
    }
}
