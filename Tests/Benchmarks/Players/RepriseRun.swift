import Foundation
import TestSupport

/// The built player beside this program, without a screen and told by lines.
struct RepriseRun: PlayerRun {
    let begun: ContinuousClock.Instant
    let process: RunningProcess

    /// The player and all else that is built stand beside this program.
    static var binary: String {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("reprise").path
    }

    /// The command that goes to this second of the music.
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
