import Foundation
import TestSupport
import Testing

/// However the player ends, the terminal is restored.
@Suite struct ScreenDeathTests {
    private let folder: TemporaryFolder
    private let path: String

    init() async throws {
        folder = try TemporaryFolder()
        path = try await MP3Fixtures.file(.init(seconds: 60, rate: .constant(320)))
    }

    private func start() async throws -> ScreenStage {
        let stage = try await ScreenStage.playing([path], folder: folder)
        // The alternate screen, no cursor, the mouse, and the title of the current track.
        let flags = try await stage.terminal.terminal("#{alternate_on} #{cursor_flag} #{mouse_any_flag}")
        #expect(flags == "1 0 1")
        #expect(try await stage.terminal.terminal("#{pane_title}").hasSuffix("– Reprise"))
        return stage
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, 0])
    func `the key q ends with 0 and a signal with 4, and both restore the terminal`(signal: Int32)
        async throws
    {
        let stage = try await start()
        guard signal > 0 else { return try await stage.quit() }
        try stage.signal(signal)
        #expect(try await stage.ending() == .restored(exitCode: 4))
    }

    // Swift's traps raise one of them: SIGILL on x86, SIGTRAP on ARM.
    @Test(
        arguments: [
            (SIGQUIT, "SIGQUIT"), (SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT"), (SIGILL, "SIGILL"),
            (SIGTRAP, "SIGTRAP"), (SIGBUS, "SIGBUS"), (SIGFPE, "SIGFPE"),
        ]
    )
    func `a fault restores the terminal, names the log and ends the process as usual`(
        signal: Int32,
        name: String
    ) async throws {
        let stage = try await start()
        try stage.signal(signal)
        // The exit code that a shell reports after a signal.
        #expect(try await stage.ending() == .restored(exitCode: 128 + Int(signal)))
        let screen = try await stage.terminal.capture().joined()
        #expect(screen.contains("reprise: ended by \(name); see"))
        #expect(screen.contains("state/reprise/log"))
    }

    @Test func `a stack overflow restores the terminal too`() async throws {
        let stage = try await ScreenStage(
            [path],
            folder: folder,
            environment: ["LD_PRELOAD": BuiltProducts.callFaults, "CALL_FAULTS_OVERFLOW": "screen"]
        )
        #expect(try await stage.ending() == .restored(exitCode: 128 + Int(SIGSEGV)))
        #expect(try await stage.terminal.capture().joined().contains("reprise: ended by SIGSEGV"))
    }

    @Test func `in the background the music plays on, and the terminal belongs to the shell`() async throws {
        let script = """
            cd '\(folder.path)'; export XDG_STATE_HOME=$PWD/state; set -m; stty -a > before
            '\(BuiltProducts.reprise)' --sink null --cache-dir "$PWD/cache" '\(path)'
            echo now-it-is-stopped; jobs -p > number; read line; bg; read line; stty -a > meanwhile; fg
            echo the-shell-is-back; read line
            """
        let terminal = try await TmuxSession(["bash", "-c", script])
        try await terminal.wait(for: "Playing ")
        try await terminal.sendKeys("C-z")
        try await terminal.wait(for: "now-it-is-stopped")
        try await wait(for: "the number of the job") {
            try String(contentsOfFile: folder.path("number"), encoding: .utf8).hasSuffix("\n")
        }
        let number = try String(contentsOfFile: folder.path("number"), encoding: .utf8)
        let before = try Self.waits(ofScreenOf: number)
        try await terminal.sendKeys("Enter")
        try await wait(for: "a screen that waits in the background") {
            try Self.waits(ofScreenOf: number) >= before + 8
        }
        #expect(
            try await terminal.terminal("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "0 1 0"
        )
        try await terminal.sendKeys("Enter")
        try await terminal.wait(for: "? help")
        // The modes follow the last frame, which is drawn again first.
        try await wait(for: "the screen to be taken again") {
            try await terminal.terminal("#{alternate_on} #{mouse_any_flag}") == "1 1"
        }
        try await terminal.sendKeys("q")
        try await terminal.wait(for: "the-shell-is-back")
        let settings = try ["before", "meanwhile"].map {
            try String(contentsOfFile: folder.path($0), encoding: .utf8)
        }
        #expect(settings[0] == settings[1])
    }

    /// The number of waits of the screen's thread so far.
    private static func waits(ofScreenOf number: String) throws -> Int {
        let tasks = "/proc/\(number.trimmingCharacters(in: .whitespacesAndNewlines))/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
            guard status.hasPrefix("Name:\tscreen\n") else { continue }
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
        }
        throw RunningProcess.Failure(description: "the player has no screen")
    }

    @Test func `a stop restores the terminal, and continuing takes it over again`() async throws {
        let script = """
            cd '\(folder.path)'; export XDG_STATE_HOME=$PWD/state; set -m; echo what-stood-there-before; stty -a > before
            '\(BuiltProducts.reprise)' --sink null --cache-dir "$PWD/cache" '\(path)'
            stty -a > stopped; echo now-it-is-stopped; read line; fg; stty -a > after; echo the-shell-is-back; read line
            """
        let terminal = try await TmuxSession(["bash", "-c", script])
        try await terminal.wait(for: "Playing ")
        try await terminal.sendKeys("C-z")
        let screen = try await terminal.wait(for: "now-it-is-stopped")
        #expect(screen[0] == "what-stood-there-before")
        #expect(
            try await terminal.terminal("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "0 1 0"
        )
        let before = try String(contentsOfFile: folder.path("before"), encoding: .utf8)
        #expect(try String(contentsOfFile: folder.path("stopped"), encoding: .utf8) == before)
        try await terminal.sendKeys("Enter")
        try await terminal.wait(for: "? help")
        try await wait(for: "the screen to be taken again") {
            try await terminal.terminal("#{alternate_on} #{cursor_flag} #{mouse_any_flag}") == "1 0 1"
        }
        // Keys work again, and the screen is complete.
        try await terminal.sendKeys("-")
        try await terminal.wait(for: "vol 95%")
        try await terminal.sendKeys("q")
        try await terminal.wait(for: "the-shell-is-back")
        #expect(try String(contentsOfFile: folder.path("after"), encoding: .utf8) == before)
        #expect(try await !terminal.terminal("#{pane_title}").contains("Reprise"))
    }
}
