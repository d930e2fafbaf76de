import Foundation
import TestSupport

/// A daemon of its own, told by mpc; it is up and has its list before it is told to play.
final class MPDRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let daemon: RunningProcess
    private let environment: [String: String?]

    init(_ setup: PlayerSetup) async throws {
        let socket = setup.folder.path("mpd-\(UInt32.random(in: 0 ... .max))")
        let configuration = """
            bind_to_address "\(socket)"
            log_file "/dev/null"
            input {
                plugin "curl"
            }
            audio_output {
                type "pulse"
                name "ear"
                sink "\((setup.environment["PULSE_SINK"] ?? nil) ?? "")"
            }
            """
        var environment = setup.environment
        environment["MPD_HOST"] = socket
        self.environment = environment
        daemon = try RunningProcess(
            "mpd",
            ["--no-daemon", try setup.folder.write(configuration, to: "mpd.conf")],
            environment: environment
        )
        try await wait(for: "mpd; it says: \(daemon.errorText)", deadline: .seconds(10)) {
            access(socket, R_OK) == 0
        }
        for source in setup.sources { try await Self.tell(["add", source], environment) }
        begun = .now
        try await Self.tell(["play"], environment)
    }

    var identifier: pid_t { daemon.processIdentifier }
    func seek(to second: Int) async throws { try await tell("seek", "00:\(second / 60):\(second % 60)") }
    func next() async throws { try await tell("next") }
    func pause() async throws { try await tell("pause") }

    func end() async throws {
        daemon.signal(SIGKILL)
        try await daemon.waitForExit()
    }

    private func tell(_ words: String...) async throws { try await Self.tell(words, environment) }

    private static func tell(_ words: [String], _ environment: [String: String?]) async throws {
        // Its answer may come late or be a refusal; what counts is what is heard then.
        let client = try RunningProcess("mpc", ["-q"] + words, environment: environment)
        try await client.waitForExit()
    }
}
