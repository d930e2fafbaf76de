import Foundation
import TestSupport

/// A player that takes no commands: mpg123 or ffplay.
struct PlainRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess

    init(_ program: String, _ arguments: [String], _ environment: [String: String?]) throws {
        begun = .now
        process = try RunningProcess(program, arguments, environment: environment)
    }

    var identifier: pid_t { process.processIdentifier }
    /// Skips to the next track, which SIGINT does in mpg123.
    func next() { process.signal(SIGINT) }

    func end() async throws {
        process.signal(SIGKILL)
        try await process.waitForExit()
    }
}

/// mpv, driven over its socket.
final class MpvRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess
    private let socket: String

    init(_ setup: PlayerSetup) throws {
        socket = setup.folder.path("mpv")
        begun = .now
        process = try RunningProcess(
            "mpv",
            ["--no-config", "--no-video", "--no-terminal", "--ao=pulse", "--input-ipc-server=" + socket]
                + setup.sources,
            environment: setup.environment
        )
    }

    var identifier: pid_t { process.processIdentifier }
    func seek(to second: Int) throws { try send(#"{"command":["seek",\#(second),"absolute","exact"]}"#) }
    func next() throws { try send(#"{"command":["playlist-next"]}"#) }
    func pause() throws { try send(#"{"command":["set_property","pause",true]}"#) }

    func end() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }

    private func send(_ command: String) throws {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socket.utf8)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        let bytes = Array((command + "\n").utf8)
        guard status == 0, write(descriptor, bytes, bytes.count) == bytes.count else {
            throw BenchmarkFailure("mpv takes no command: errno \(errno)")
        }
    }
}

/// An MPD driven by mpc; it runs and has its list before the play command.
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
        for source in setup.sources { try await Self.send(["add", source], environment) }
        begun = .now
        try await Self.send(["play"], environment)
    }

    var identifier: pid_t { daemon.processIdentifier }
    func seek(to second: Int) async throws { try await send("seek", "00:\(second / 60):\(second % 60)") }
    func next() async throws { try await send("next") }
    func pause() async throws { try await send("pause") }

    func end() async throws {
        daemon.signal(SIGKILL)
        try await daemon.waitForExit()
    }

    private func send(_ words: String...) async throws { try await Self.send(words, environment) }

    private static func send(_ words: [String], _ environment: [String: String?]) async throws {
        // Its answer may be late or an error; only the sound counts.
        let client = try RunningProcess("mpc", ["-q"] + words, environment: environment)
        try await client.waitForExit()
    }
}
