import Foundation
import Media
import System

/// PipeWire with its PulseAudio protocol, on a bus of its own, with one null sink, `test`, whose monitor can
/// be recorded.
package final class PipeWireServer: SoundServer {
    private let home: TemporaryFolder
    /// In the order of their start, since each needs those before it.
    private let daemons = Locked<[RunningProcess]>([])
    private let protocolDaemon = Locked<RunningProcess?>(nil)

    private var socket: String { home.path("pulse/native") }

    package var environment: [String: String] {
        [
            "PULSE_SERVER": "unix:" + socket,
            "PULSE_COOKIE": home.path("cookie"),
            "XDG_RUNTIME_DIR": home.path,
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + home.path("bus"),
            "HOME": home.path,
        ]
    }

    /// Starts the daemons and returns when the server accepts connections and has its sink.
    package init() async throws {
        home = try TemporaryFolder()
        chmod(home.path, 0o700)
        // The recorded samples must equal the played ones, so nothing may be resampled.
        try home.makeFolder("config")
        try home.makeFolder("config/pipewire")
        try home.makeFolder("config/pipewire/pipewire.conf.d")
        try home.write(
            "context.properties = { default.clock.rate = 44100 default.clock.allowed-rates = [ 44100 ] }\n",
            to: "config/pipewire/pipewire.conf.d/rate.conf"
        )
        let address = "unix:path=" + home.path("bus")
        try await start(
            "dbus-daemon",
            ["--session", "--nofork", "--nopidfile", "--address=" + address],
            until: "bus"
        )
        try await start("pipewire", [], until: "pipewire-0")
        try await start("wireplumber", [], until: nil)
        try await startProtocol()
    }

    deinit {
        protocolDaemon.withLock { $0 }?.signal(SIGKILL)
        for daemon in daemons.withLock({ $0 }).reversed() { daemon.signal(SIGKILL) }
    }

    /// Kills the daemon that speaks PulseAudio's protocol, as a crash would, and with it the sink.
    package func crash() async throws {
        guard let running = protocolDaemon.withLock({ $0.take() }) else { return }
        running.signal(SIGKILL)
        try await running.waitForExit()
    }

    package func start() async throws {
        unlink(socket)
        try await startProtocol()
    }

    private func startProtocol() async throws {
        let daemon = try await RunningProcess.server("pipewire-pulse", environment: surroundings) {
            (try? await pactl("info")) != nil
        }
        protocolDaemon.withLock { $0 = daemon }
        try await loadNullSink("test")
        try await wait(for: "the sink of pipewire-pulse") {
            try await pactl("list", "short", "sinks").contains("test")
        }
    }

    /// Returns when the daemon has made `file`, if it makes one.
    private func start(_ program: String, _ arguments: [String], until file: String?) async throws {
        let daemon = try await RunningProcess.server(program, arguments, environment: surroundings) {
            file.map { FileManager.default.fileExists(atPath: home.path($0)) } ?? true
        }
        daemons.withLock { $0.append(daemon) }
    }

    /// The daemons find each other, and not the machine's own, by this folder and bus.
    private var surroundings: [String: String?] {
        var surroundings = environment.mapValues { Optional($0) }
        surroundings.updateValue(nil, forKey: "PULSE_SERVER")
        surroundings["XDG_CONFIG_HOME"] = home.path("config")
        surroundings["PULSE_RUNTIME_PATH"] = home.path("pulse")
        return surroundings
    }
}
