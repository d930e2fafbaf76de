import Foundation
import TestSupport
import Testing

/// Terminals that take no output.
@Suite struct ScreenStoppedTests {
    /// The longest end of a player: a second is promised, and a busy machine may stand still for some more.
    private static let longestEnd: Duration = .seconds(10)

    private let stage: Stage

    init() async throws { stage = try await Stage() }

    private func start(_ options: [String] = []) async throws -> PlayerTerminal {
        let terminal = try PlayerTerminal(
            stage,
            options + ["--sink", "null", "--repeat", "one", "--cache-dir", stage.cachePath, stage.music]
        )
        try await terminal.wait(for: "good")
        return terminal
    }

    private func expectEnd(of process: RunningProcess, by signal: Int32) async throws {
        let start = ContinuousClock.now
        process.signal(signal)
        #expect(try await process.waitForExit() == 4)
        #expect(ContinuousClock.now - start < Self.longestEnd)
    }

    /// On the screen, Ctrl-S is a key.
    @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
    func `a signal ends a plain player whose terminal was stopped by Ctrl-S`(signal: Int32) async throws {
        let terminal = try await start(["--plain"])
        try terminal.process.type("\u{13}")
        // Far more than fits between the player and its terminal, were it not stopped.
        for _ in 0..<4 { try terminal.process.type(String(repeating: "i", count: 1_000)) }
        try await expectEnd(of: terminal.process, by: signal)
    }

    @Test(arguments: [[], ["--plain"]])
    func `a signal ends a player whose terminal does not respond`(options: [String]) async throws {
        let script = """
            import os, pty, signal, sys, time
            pid, master = pty.fork()
            if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
            print(pid, flush=True)
            # Reads the first screen, and then nothing.
            seen = b""
            while b"good" not in seen: seen += os.read(master, 4096)
            for _ in range(200): os.write(master, b"?\\x0c" if len(sys.argv) > 2 else b"")
            print("stuck", flush=True)
            status = os.waitpid(pid, 0)[1]
            print("ended", os.waitstatus_to_exitcode(status), flush=True)
            """
        let words =
            [BuiltProducts.reprise] + options
            + ["--sink", "null", "--repeat", "one", "--cache-dir", stage.cachePath, stage.music]
        let process = try RunningProcess(
            "python3",
            ["-c", script] + words,
            environment: stage.environment.merging(["TERM": "xterm"]) { $1 },
            folder: stage.folder.path
        )
        try await process.waitForLine { $0 == "stuck" }
        let player = try #require(process.lines.first.flatMap { Int32($0) })
        let start = ContinuousClock.now
        kill(player, SIGTERM)
        try await process.waitForLine { $0 == "ended 4" }
        #expect(ContinuousClock.now - start < Self.longestEnd)
    }

    @Test func `a screen for which descriptors are missing is an error`() async throws {
        let terminal = try RunningProcess(
            "sh",
            [
                "-c", "ulimit -n 12; exec \"$@\"", "sh", BuiltProducts.reprise, "--sink", "null",
                "--no-cache",
                stage.music,
            ],
            environment: stage.environment.merging(["TERM": "xterm"]) { $1 },
            folder: stage.folder.path,
            terminal: (80, 24)
        )
        #expect(try await terminal.waitForExit() == 1)
        #expect(terminal.errorText.contains("too many open files"))
    }
}
