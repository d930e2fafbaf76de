import Foundation
import TestSupport

/// The player, driven by lines on standard input, or by keys in a terminal.
struct RepriseRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess
    private let hasScreen: Bool

    /// The folder of this program, which also contains the player.
    static var binary: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("reprise").path
    }

    init(_ setup: PlayerSetup) throws {
        begun = .now
        hasScreen = setup.hasScreen
        let options = (hasScreen ? [] : ["--json"]) + ["--cache-dir", setup.folder.path("cache")]
        process = try RunningProcess(
            Self.binary,
            options + setup.options + setup.sources,
            environment: setup.environment.merging(hasScreen ? BenchScreen.environment : [:]) { $1 },
            terminal: hasScreen ? BenchScreen.size : nil
        )
    }

    var identifier: pid_t { process.processIdentifier }
    func next() throws { try command("next", key: ">") }
    func pause() throws { try command("pause", key: " ") }

    func seek(to second: Int) throws {
        let line = "seek \(second / 60):\(second % 60 / 10)\(second % 10)"
        try command(line, key: ":\(line)\r")
    }

    func end() async throws {
        try command("quit", key: "q")
        try await process.waitForExit()
    }

    private func command(_ line: String, key: String) throws {
        try process.type(hasScreen ? key : line + "\n")
    }
}
