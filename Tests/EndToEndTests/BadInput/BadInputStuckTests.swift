import Foundation
import TestSupport
import Testing

/// Neighbours of the player that hang: an audio server that answers nothing, readers that do not read.
@Suite struct BadInputStuckTests {
    @Test func `an audio server that hangs is reported once, and the session still ends`() async throws {
        let stage = try await Stage()
        let server = try await PulseServer()
        let process = try stage.startPlaying(
            ["--repeat", "one", stage.music],
            sink: "pulse",
            environment: server.environment
        )
        try await process.event("playing")
        let count = process.lines.count
        server.freeze()
        try process.send("seek 1")
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"audio-lost\"") }
        let run = try await process.quit()
        #expect(run.events("notice").map(\.code) == ["audio-lost"])
        #expect(run.errorLines.count == 1)
        #expect(run.events.last?.event == "summary")
    }

    @Test func `an interrupt ends a player whose screen is gone`() async throws {
        let stage = try await Stage()
        let server = try await PulseServer()
        let terminal = try PlayerTerminal(
            stage,
            ["--sink", "pulse", "--repeat", "one", "--cache-dir", stage.cachePath, stage.music],
            environment: server.environment
        )
        try await terminal.wait(for: "good")
        try await wait(for: "the stream") {
            try await server.pactl("list", "short", "sink-inputs").isEmpty == false
        }
        server.freeze()
        try terminal.process.type("q")
        try await terminal.wait(for: "\u{1B}[?1049l")
        terminal.process.signal(SIGINT)
        let status = try await terminal.process.waitForExit()
        // The signal can come after the player gave the server up.
        #expect([0, 4].contains(status))
    }

    @Test(arguments: [1, 2])
    func `a signal ends a session whose output is not read`(descriptor: Int) async throws {
        let stage = try await Stage()
        // The pipe is full before the player starts, and stays so.
        let script = """
            mkfifo "$1"; exec 9<>"$1"; shift; timeout 1 head -c 65536 /dev/zero >&9; exec "$@" \(descriptor)>&9
            """
        let process = try stage.start(
            [
                "--headless", "--sink", "null", "--repeat", "one", stage.folder.path("nothing.mp3"),
                stage.music,
            ],
            wrapper: ["bash", "-c", script, "bash", stage.folder.path("pipe")]
        )
        try await wait(for: "the player") { process.threads.contains("signals") }
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
    }
}
