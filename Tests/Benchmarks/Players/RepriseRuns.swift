import Foundation
import TestSupport

/// The player without a screen, driven by lines on standard input.
struct RepriseRun: PlayerRun {
    let begun: ContinuousClock.Instant
    let process: RunningProcess

    /// The folder of this program, which also contains the player.
    static var binary: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("reprise").path
    }

    /// The command that seeks to this second.
    static func line(seekingTo second: Int) -> String {
        "seek \(second / 60):\(second % 60 / 10)\(second % 10)"
    }

    init(_ setup: PlayerSetup) throws {
        begun = .now
        process = try RunningProcess(
            Self.binary,
            ["--json", "--cache-dir", setup.folder.path("cache")] + setup.options + setup.sources,
            environment: setup.environment
        )
    }

    var identifier: pid_t { process.processIdentifier }
    func seek(to second: Int) throws { try process.send(Self.line(seekingTo: second)) }
    func next() throws { try process.send("next") }
    func pause() throws { try process.send("pause") }

    func end() async throws {
        try process.send("quit")
        try await process.waitForExit()
    }
}

/// The player with its screen in a terminal, driven by keys.
struct RepriseKeyRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let terminal: BenchTerminal

    init(_ setup: PlayerSetup) throws {
        begun = .now
        var environment = setup.environment
        environment["TERM"] = "xterm-256color"
        environment["LC_ALL"] = "C.UTF-8"
        terminal = try BenchTerminal(
            RepriseRun.binary,
            ["--cache-dir", setup.folder.path("cache")] + setup.options + setup.sources,
            environment: environment
        )
    }

    var identifier: pid_t { terminal.processIdentifier }
    func seek(to second: Int) throws { try terminal.type(":\(RepriseRun.line(seekingTo: second))\r") }
    func next() throws { try terminal.type(">") }
    func pause() throws { try terminal.type(" ") }

    func end() async throws {
        try terminal.type("q")
        try await terminal.waitForExit()
    }
}
