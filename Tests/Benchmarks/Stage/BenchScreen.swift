import Foundation
import TestSupport

/// The player with its screen in a terminal, which `script` holds.
final class BenchScreen: Sendable {
    private let process: RunningProcess
    private let folder: TemporaryFolder

    init(_ sources: [String], _ stage: BenchStage) throws {
        folder = try TemporaryFolder()
        var environment = stage.environment
        environment["TERM"] = "xterm-256color"
        environment["SHELL"] = "/bin/sh"
        environment["LC_ALL"] = "C.UTF-8"
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_STATE_HOME"] = folder.path("state")
        let words = [RepriseRun.binary, "--cache-dir", folder.path("cache")] + sources
        let command =
            "stty rows 24 cols 80; echo $$ > '\(folder.path("process"))'; exec "
            + words.map { "'" + $0 + "'" }.joined(separator: " ")
        process = try RunningProcess(
            "script",
            ["-q", "-e", "-f", "-c", command, "/dev/null"],
            environment: environment
        )
    }

    /// How much was written to the terminal so far.
    var shown: Int { process.outputCount }

    func playerIdentifier() throws -> pid_t {
        let text = try String(contentsOfFile: folder.path("process"), encoding: .utf8)
        guard let number = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw BenchmarkFailure("no number of the player: \(text)")
        }
        return number
    }

    /// Types a key; returns when the terminal was given something new.
    func press(_ key: String) async throws -> ContinuousClock.Instant {
        let before = shown
        try process.type(key)
        while shown == before {
            guard process.isRunning else { throw BenchmarkFailure("the player ended: \(process.errorText)") }
            await Task.yield()
        }
        return .now
    }

    /// Returns when nothing was written to the terminal for a fifth of a second.
    func rest() async throws {
        var before = -1
        while before != shown {
            before = shown
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    func end() async throws {
        try process.type("q")
        try await process.waitForExit()
    }
}
