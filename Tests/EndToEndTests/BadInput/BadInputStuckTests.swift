import Foundation
import TestSupport
import Testing

/// Neighbours of the player that hang: an audio server that answers nothing, readers that do not read.
@Suite struct BadInputStuckTests {
    /// A server with a player on it, both ended with this.
    private struct Heard {
        let stage: BadInputStage
        let server: PulseServer
        let environment: [String: String?]

        init() async throws {
            stage = try await BadInputStage()
            server = try await PulseServer()
            environment = server.environment.mapValues { Optional($0) }
        }

        var arguments: [String] {
            ["--sink", "pulse", "--repeat", "one", "--cache-dir", stage.cacheFolder, stage.music]
        }
    }

    @Test func `an audio server that hangs is told once, and the session still ends`() async throws {
        let heard = try await Heard()
        let process = try heard.stage.start(
            ["--headless", "--json"] + heard.arguments,
            environment: heard.environment
        )
        try await process.waitForLine { $0.contains("\"event\":\"playing\"") }
        let count = process.lines.count
        try await heard.server.freeze()
        try process.send("seek 1")
        try await process.waitForLine(from: count) { $0.contains("\"code\":\"audio-lost\"") }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.events("notice").map(\.code) == ["audio-lost"])
        #expect(run.errorLines.count == 1)
        #expect(run.events.last?.event == "summary")
    }

    @Test func `an interrupt ends a player whose screen is gone`() async throws {
        let heard = try await Heard()
        let terminal = try BadInputTerminal(
            heard.stage,
            heard.arguments,
            type: "xterm",
            environment: heard.environment
        )
        try await terminal.wait(for: "good")
        try await wait(for: "the stream") {
            try await heard.server.pactl("list", "short", "sink-inputs").isEmpty == false
        }
        try await heard.server.freeze()
        try terminal.type("q")
        try await terminal.wait(for: "\u{1B}[?1049l")
        try terminal.signal(SIGINT)
        let status = try await terminal.waitForExit()
        // The signal can come after the player gave the server up.
        #expect([0, 4].contains(status))
    }

    @Test(arguments: [1, 2])
    func `a reader that does not read holds up no signal`(descriptor: Int) async throws {
        let stage = try await BadInputStage()
        // The pipe is full before the player starts, and stays so.
        let script = """
            mkfifo "$1"; exec 9<>"$1"; shift; timeout 1 cat /dev/zero >&9; exec "$@" \(descriptor)>&9
            """
        let process = try RunningProcess(
            "bash",
            [
                "-c", script, "bash", stage.folder.path("pipe"), BuiltProducts.reprise, "--headless",
                "--sink", "null", "--repeat", "one", "--cache-dir", stage.cacheFolder,
                stage.folder.path("nothing.mp3"), stage.music,
            ],
            environment: stage.environment
        )
        let threads = "/proc/\(process.processIdentifier)/task"
        try await wait(for: "the player") {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: threads)) ?? []
            return names.contains { name in
                (try? String(contentsOfFile: "\(threads)/\(name)/comm", encoding: .utf8)) == "signals\n"
            }
        }
        process.signal(SIGTERM)
        #expect(try await process.waitForExit() == 4)
    }
}

extension PulseServer {
    /// Lets the daemon hang: its sockets stay open and nothing is answered. It ends with this object.
    fileprivate func freeze() async throws {
        // The address of its socket, a path of this test's own, stands on its command line alone.
        let found = try await RunningProcess.run("pgrep", ["-f", "^[^ ]*pulseaudio .*socket=\(socket) "])
        let text = String(decoding: found, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        kill(try #require(pid_t(text)), SIGSTOP)
    }
}
