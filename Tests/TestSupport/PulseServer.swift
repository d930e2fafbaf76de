import Foundation
import Media
import System

/// A PulseAudio daemon of its own with one null sink, `test`, whose monitor can be recorded.
package final class PulseServer: SoundServer {
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
        try await wait(for: "pulseaudio") {
            guard running.isRunning else {
                throw RunningProcess.Failure(description: "pulseaudio ended: \(running.errorText)")
            }
            let sinks = try? await pactl("list", "short", "sinks")
            return sinks?.contains("test") == true
        } seeing: {
            running.errorText
        }
    }
}
