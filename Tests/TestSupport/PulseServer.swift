import Media
import Foundation

/// A PulseAudio daemon of its own with one null sink, `test`, whose monitor can be recorded.
package final class PulseServer: Sendable {
    private let home: TemporaryFolder
    private let daemon = Locked<RunningProcess?>(nil)

    /// The path of the daemon's socket.
    package var socket: String { home.path("native") }

    /// What a client needs in its environment to find this server, and no other.
    package var environment: [String: String] {
        [
            "PULSE_SERVER": "unix:" + socket,
            "PULSE_RUNTIME_PATH": home.path("client"),
            "PULSE_COOKIE": home.path("cookie"),
            "XDG_RUNTIME_DIR": home.path,
            "HOME": home.path,
        ]
    }

    /// Starts the daemon and returns when it takes connections.
    package init() async throws {
        home = try TemporaryFolder()
        try home.makeFolder("client")
        try home.makeFolder("daemon")
        try await start()
    }

    deinit { daemon.withLock { $0 }?.signal(SIGKILL) }

    /// Ends the daemon, as a crash of the audio server does, and returns when it is gone.
    package func stop() async throws {
        guard let running = daemon.withLock({ $0 }) else { return }
        running.signal(SIGTERM)
        try await running.waitForExit()
        daemon.withLock { $0 = nil }
    }

    /// Ends the daemon and starts it anew under the same address.
    package func restart() async throws {
        try await stop()
        try await start()
    }

    /// Ends the daemon as a crash does, and returns when it is gone.
    package func crash() async throws {
        guard let running = daemon.withLock({ $0.take() }) else { return }
        running.signal(SIGKILL)
        try await running.waitForExit()
    }

    /// Starts to record what is heard of a sink: 44.1 kHz stereo, signed 16 bit.
    package func record(of sink: String) throws -> PulseRecording {
        PulseRecording(
            process: try RunningProcess(
                "parec",
                [
                    "-d", sink + ".monitor", "--format=s16le", "--rate=44100", "--channels=2",
                    "--latency-msec=20",
                ],
                environment: environment
            )
        )
    }

    package func record() throws -> PulseRecording { try record(of: "test") }

    /// What `pactl` says to these arguments.
    @discardableResult
    package func pactl(_ arguments: String...) async throws -> String {
        String(
            decoding: try await RunningProcess.run("pactl", arguments, environment: environment),
            as: UTF8.self
        )
    }

    /// Starts the daemon, which has crashed, under the same address.
    package func start() async throws {
        // What a killed daemon left would make the new one refuse.
        unlink(socket)
        var environment = environment.mapValues { Optional($0) }
        environment.updateValue(nil, forKey: "PULSE_SERVER")
        environment["PULSE_RUNTIME_PATH"] = home.path("daemon")
        let running = try RunningProcess(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes",
                "--realtime=no", "--high-priority=no", "--log-target=stderr",
                "--load=module-native-protocol-unix socket=\(socket) auth-anonymous=1",
                "--load=module-null-sink sink_name=test rate=44100 channels=2 format=s16le",
            ],
            environment: environment
        )
        daemon.withLock { $0 = running }
        try await wait(for: "pulseaudio; it says: \(running.errorText)") {
            guard running.isRunning else {
                throw RunningProcess.Failure(description: "pulseaudio ended: \(running.errorText)")
            }
            let sinks = try? await pactl("list", "short", "sinks")
            return sinks?.contains("test") == true
        }
    }
}

/// A recording under way.
package final class PulseRecording: Sendable {
    private let process: RunningProcess

    init(process: RunningProcess) { self.process = process }

    /// How many frames were recorded so far: wait for this to grow instead of for a time to pass.
    package var frameCount: Int { process.outputCount / 4 }

    /// Ends it and returns the samples, left and right in turn.
    package func stop() async throws -> [Int16] {
        process.signal(SIGTERM)
        try await process.waitForExit()
        return PCM.samples(process.output)
    }
}
