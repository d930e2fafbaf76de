import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Signals, commands and streams that end or do not end a session without a screen.
@Suite struct BadInputControlTests {
    /// Starts a track that never ends, in real time, and returns when it is heard.
    private func startEndless(_ stage: BadInputStage) async throws -> RunningProcess {
        let process = try stage.start([
            "--headless", "--json", "--sink", "null", "--repeat", "one", "--cache-dir", stage.cacheFolder,
            stage.music,
        ])
        try await process.waitForLine { $0.contains("\"event\":\"playing\"") }
        return process
    }

    /// The names of the threads of `process`.
    private func threads(of process: RunningProcess) -> [String] {
        let folder = "/proc/\(process.processIdentifier)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.compactMap { thread in
            (try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8))?
                .trimmingCharacters(in: .newlines)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends the session in order`(signal: Int32) async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        process.signal(signal)
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 4)
        #expect(run.errorOutput == "")
        #expect(run.events("ended").last?.reason == "skipped")
        #expect(run.events.last?.event == "summary")
        #expect(run.events.last?.failed == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends a session that waits for a silent server`(signal: Int32) async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/song.mp3": stage.musicBytes], faults: [.silence])
        let process = try stage.start(
            BadInputStage.silent + ["--cache-dir", stage.cacheFolder, server.url("/song.mp3")]
        )
        try await wait(for: "the request") { server.log.requests.count == 1 }
        process.signal(signal)
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 4)
        #expect(run.errorOutput == "")
        #expect(run.events("ended").map(\.reason) == ["skipped"])
        #expect(stage.keptObjects == [])
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends a session whose playlist does not come`(signal: Int32) async throws {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/list.m3u": stage.musicBytes], faults: [.silence])
        let process = try stage.start(
            BadInputStage.silent + ["--cache-dir", stage.cacheFolder, server.url("/list.m3u")]
        )
        try await wait(for: "the request") { server.log.requests.count == 1 }
        process.signal(signal)
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 4)
        #expect(run.errorOutput == "")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends a session whose playlist is still being typed`(signal: Int32) async throws {
        let stage = try await BadInputStage()
        let process = try stage.start(
            BadInputStage.silent + ["--cache-dir", stage.cacheFolder, stage.music, "-"]
        )
        try process.send("#EXTM3U")
        try await wait(for: "the thread that reads the list") { threads(of: process).contains("stdin list") }
        process.signal(signal)
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 4)
        #expect(run.errorOutput == "")
    }

    @Test func `quit on standard input ends the session in order`() async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.errorOutput == "")
        #expect(run.events("ended").last?.reason == "skipped")
        #expect(run.events.last?.event == "summary")
    }

    @Test func `the end of standard input ends nothing`() async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        try process.closeInput()
        let count = process.lines.count
        // It continues from one round of the track to the next.
        for _ in 0..<2 {
            try await process.waitForLine(from: count) { $0.contains("\"reason\":\"finished\"") }
        }
        #expect(process.isRunning)
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
    }

    @Test func `a session whose standard output is closed ends`() async throws {
        let stage = try await BadInputStage()
        let process = try RunningProcess(
            "bash",
            [
                "-c", "\"$@\" | head -n 2; exit ${PIPESTATUS[0]}", "bash", BuiltProducts.reprise,
                "--headless",
                "--json", "--sink", "null", "--repeat", "one", "--cache-dir", stage.cacheFolder, stage.music,
            ],
            environment: stage.environment
        )
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.events.map(\.event) == ["loaded", "track"])
        #expect(run.errorOutput == "")
    }

    @Test(
        arguments: [
            "louder", "seek", "seek sideways", "volume 200", "jump 0", "\u{1B}]0;owned\u{07}",
            "quit now please",
            String(repeating: "a", count: 70_000),
        ]
    )
    func `a wrong command is a notice and the music goes on`(command: String) async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        let count = process.lines.count
        try process.send(command)
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"bad-command\"") }
        // It still plays, and still takes commands.
        try process.send("pause")
        try await process.waitForLine(from: count) { $0.contains("\"event\":\"paused\"") }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.errorOutput == "")
        #expect(run.events("notice").count == 1)
        expectHarmless(run)
    }

    @Test func `a source that cannot be added is a notice and the music goes on`() async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        let count = process.lines.count
        try process.send("add ftp://user:\(badInputSecret)@music.invalid/a.mp3?token=\(badInputSecret)")
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"unsupported-scheme\"") }
        try process.send("add \(stage.folder.path("nothing.mp3"))")
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"not-found\"") }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.errorLines.count == 2)
        expectHarmless(run)
    }

    @Test func `a list that cannot be saved is a notice and the music goes on`() async throws {
        let stage = try await BadInputStage()
        let process = try await startEndless(stage)
        let path = stage.folder.path("no/such/folder/list.m3u8")
        try process.send("save \(path)")
        try await process.waitForLine { $0.contains("\"event\":\"notice\"") && $0.contains(path) }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.errorLines.count == 1)
    }
}
