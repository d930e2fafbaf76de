import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Signals, commands and streams that end or do not end a session without a screen.
@Suite struct BadInputControlTests {
    // Owns the folder of the music, which must be there for as long as the player plays.
    private let stage: Stage

    init() async throws { stage = try await Stage() }

    /// Starts a track that never ends, in real time, and returns when it is heard.
    private func startEndless() async throws -> RunningProcess {
        let process = try stage.startPlaying(["--repeat", "one", stage.music])
        try await process.event("playing")
        return process
    }

    /// Ends the player by its command, and expects that all was in order.
    private func expectQuit(_ process: RunningProcess, errorLines: Int = 0) async throws -> Ending {
        let run = try await process.quit()
        #expect(run.errorLines.count == errorLines, "\(run.errors)")
        expectHarmless(run)
        return run
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, 0])
    func `a signal, or quit on standard input, ends the session in order`(signal: Int32) async throws {
        let process = try await startEndless()
        if signal > 0 { process.signal(signal) }
        let run = signal > 0 ? try await Ending(of: process) : try await expectQuit(process)
        #expect(run.status == (signal > 0 ? 4 : 0))
        #expect(run.errors == "")
        #expect(run.events("ended").last?.reason == "skipped")
        #expect(run.events.last?.event == "summary" && run.events.last?.failed == 0)
    }

    /// What a session waits for that does not come.
    enum Missing: String, CaseIterable, Sendable {
        case song = "/song.mp3"
        case list = "/list.m3u"
        /// The rest of a list on standard input.
        case input = "-"
    }

    @Test(arguments: [SIGTERM, SIGINT], Missing.allCases)
    func `a signal ends a session that waits`(signal: Int32, missing: Missing) async throws {
        let stage = try await Stage([missing.rawValue: [1]], faults: [.silence])
        let source = missing == .input ? "-" : stage.url(missing.rawValue)
        let process = try stage.startPlaying((missing == .input ? [stage.music] : []) + [source])
        if missing == .input {
            try process.send("#EXTM3U")
            try await wait(for: "the thread that reads the list") { process.threads.contains("stdin list") }
        } else {
            try await wait(for: "the request") { stage.server.log.requests.count == 1 }
        }
        process.signal(signal)
        let run = try await Ending(of: process)
        #expect(run.status == 4)
        #expect(run.errors == "")
        #expect(run.events("ended").map(\.reason) == (missing == .song ? ["skipped"] : []))
        #expect(stage.objectFiles == [])
    }

    @Test func `the session goes on after the end of standard input`() async throws {
        let process = try await startEndless()
        try process.closeInput()
        // It continues from one round of the track to the next.
        try await process.waitForLine(from: process.lines.count) { $0.contains("\"reason\":\"finished\"") }
        try await process.event("position", after: process.lines.count)
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
    }

    @Test func `a session whose standard output is closed ends`() async throws {
        let script = "\"$@\" | head -n 2; exit ${PIPESTATUS[0]}"
        let wrapper = ["bash", "-c", script, "bash"]
        let run = try await Ending(
            of: try stage.startPlaying(["--repeat", "one", stage.music], wrapper: wrapper)
        )
        #expect(run.status == 0)
        #expect(run.events.map(\.event) == ["loaded", "track"])
        #expect(run.errors == "")
    }

    @Test(
        arguments: [
            "louder", "seek", "seek sideways", "volume 200", "jump 0", "\u{1B}]0;owned\u{07}",
            "quit now please", String(repeating: "a", count: 70_000),
        ]
    )
    func `a wrong command is a notice and the music goes on`(command: String) async throws {
        let process = try await startEndless()
        let count = process.lines.count
        try process.send(command)
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"bad-command\"") }
        // It still plays, and still takes commands.
        try await process.event("paused", of: "pause")
        #expect(try await expectQuit(process).events("notice").count == 1)
    }

    @Test func `a source that cannot be added, or a list that cannot be saved, is a notice`() async throws {
        let process = try await startEndless()
        try process.send("add ftp://user:\(badInputSecret)@music.invalid/a.mp3?token=\(badInputSecret)")
        try await process.waitForLine { $0.contains("\"code\":\"unsupported-scheme\"") }
        try process.send("add \(stage.folder.path("nothing.mp3"))")
        try await process.waitForLine { $0.contains("\"code\":\"not-found\"") }
        let path = stage.folder.path("no/such/folder/list.m3u8")
        try process.send("save \(path)")
        try await process.waitForLine { $0.contains("\"event\":\"notice\"") && $0.contains(path) }
        _ = try await expectQuit(process, errorLines: 3)
    }
}

extension RunningProcess {
    /// The names of its threads.
    var threads: [String] {
        let folder = "/proc/\(processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.compactMap { thread in
            (try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8))?
                .trimmingCharacters(in: .newlines)
        }
    }
}
