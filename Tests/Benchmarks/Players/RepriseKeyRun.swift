import Foundation
import TestSupport

/// The built player beside this program, with its screen in a terminal and told by keys.
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
