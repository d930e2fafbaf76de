import Foundation
import Media
import System

/// An audio server for one test. It speaks PulseAudio's protocol and has a null sink, `test`, whose monitor
/// can be recorded.
package protocol SoundServer: Sendable {
    /// The environment that leads clients to this server and no other.
    var environment: [String: String] { get }
    /// Kills the server, as a crash would, and returns when it has ended.
    func crash() async throws
    /// Starts the killed server again under the same address.
    func start() async throws
}

extension SoundServer {
    /// Starts to record the monitor of a sink: 44.1 kHz stereo, signed 16 bit.
    package func record(of sink: String = "test") throws -> PulseRecording {
        let format = ["--format=s16le", "--rate=44100", "--channels=2", "--latency-msec=20"]
        let words = ["-d", sink + ".monitor"] + format
        return PulseRecording(process: try RunningProcess("parec", words, environment: environment))
    }

    /// Adds a null sink for CD sound.
    package func loadNullSink(_ name: String) async throws {
        let format = ["rate=44100", "channels=2", "format=s16le"]
        let words = ["load-module", "module-null-sink", "sink_name=\(name)"] + format
        _ = try await RunningProcess.run("pactl", words, environment: environment)
    }

    /// The output of `pactl` for these arguments.
    @discardableResult
    package func pactl(_ arguments: String...) async throws -> String {
        String(
            decoding: try await RunningProcess.run("pactl", arguments, environment: environment),
            as: UTF8.self
        )
    }
}

/// A running recording.
package final class PulseRecording: Sendable {
    private let process: RunningProcess

    init(process: RunningProcess) { self.process = process }

    /// The number of frames recorded so far: wait for it to grow, not for time to pass.
    package var frameCount: Int { process.outputCount / 4 }

    /// The number of frames that are not silent.
    package var soundingFrameCount: Int { soundingFrames.count }

    /// The frames that are not silent, as numbers: equal frames are equal numbers.
    package var soundingFrames: [UInt32] { Self.soundingFrames(of: process.output) }

    /// The frames in `bytes` that are not silent.
    package static func soundingFrames(of bytes: [UInt8]) -> [UInt32] {
        bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
        }.filter { $0 != 0 }
    }

    /// Ends it and returns the interleaved samples.
    package func stop() async throws -> [Int16] {
        process.signal(SIGTERM)
        try await process.waitForExit()
        return PCM.samples(process.output)
    }
}

/// A PulseAudio daemon with one null sink, `test`, whose monitor can be recorded.
package final class PulseServer: SoundServer {
    private let home: TemporaryFolder
    private let daemon = Locked<RunningProcess?>(nil)

    /// The path of the daemon's socket.
    package var socket: String { home.path("native") }

    package var environment: [String: String] {
        [
            "PULSE_SERVER": "unix:" + socket,
            "PULSE_RUNTIME_PATH": home.path("client"),
            "PULSE_COOKIE": home.path("cookie"),
            "XDG_RUNTIME_DIR": home.path,
            "HOME": home.path,
        ]
    }

    /// Starts the daemon and returns when it accepts connections.
    package init() async throws {
        home = try TemporaryFolder()
        try home.makeFolder("client")
        try home.makeFolder("daemon")
        try await start()
    }

    deinit { daemon.withLock { $0 }?.signal(SIGKILL) }

    package func crash() async throws {
        guard let running = daemon.withLock({ $0.take() }) else { return }
        running.signal(SIGKILL)
        try await running.waitForExit()
    }

    /// Lets the daemon hang: its sockets stay open, and it does not answer.
    package func freeze() { daemon.withLock { $0 }?.signal(SIGSTOP) }

    package func start() async throws {
        // The new daemon refuses to start beside the files of a killed one.
        unlink(socket)
        var environment = environment.mapValues { Optional($0) }
        environment.updateValue(nil, forKey: "PULSE_SERVER")
        environment["PULSE_RUNTIME_PATH"] = home.path("daemon")
        let running = try await RunningProcess.server(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
                "--realtime=no", "--high-priority=no", "--log-target=stderr",
                "--load=module-native-protocol-unix socket=\(socket) auth-anonymous=1",
                "--load=module-null-sink sink_name=test rate=44100 channels=2 format=s16le",
            ],
            environment: environment
        ) { (try? await pactl("list", "short", "sinks"))?.contains("test") == true }
        daemon.withLock { $0 = running }
    }
}
