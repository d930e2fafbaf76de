import Foundation
import System

/// A D-Bus of its own, as a desktop has one for each session, and a machine one for all.
package final class SessionBus: Sendable {
    private let home: TemporaryFolder
    private let daemon = Locked<RunningProcess?>(nil)
    private let refusesNames: Bool
    private let isSystem: Bool

    private var socket: String { home.path("bus") }

    /// The environment that leads programs to this bus and no other.
    package var environment: [String: String] {
        let address = "unix:path=" + socket
        return isSystem
            ? ["DBUS_SYSTEM_BUS_ADDRESS": address]
            : ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": home.path]
    }

    /// The address for players that no test controls: they must not take the media keys of the user who runs
    /// the tests.
    package static let noAddress = "unix:path=/nonexistent/bus"

    /// Returns when the bus accepts connections. It may give nobody a name, as the proxy of a sandbox does.
    /// With `isSystem`, it is that of the machine, on which anybody may have any name.
    package init(refusesNames: Bool = false, isSystem: Bool = false) async throws {
        home = try TemporaryFolder()
        self.isSystem = isSystem
        self.refusesNames = refusesNames
        try await start()
    }

    deinit { daemon.withLock { $0 }?.signal(SIGKILL) }

    /// Kills the daemon, as a crash would, and returns when it has ended.
    package func crash() async throws {
        guard let running = daemon.withLock({ $0.take() }) else { return }
        running.signal(SIGKILL)
        try await running.waitForExit()
    }

    /// Starts the killed daemon again, at the same address.
    package func start() async throws {
        unlink(socket)
        let policy = """
            <busconfig><type>session</type><listen>unix:path=\(socket)</listen><policy context="default">
            <allow send_destination="*"/><allow eavesdrop="true"/><deny own="*"/></policy></busconfig>
            """
        let rules =
            refusesNames
            ? ["--config-file=" + (try home.write(policy, to: "policy"))]
            : ["--session", "--address=unix:path=" + socket]
        let words = rules + ["--nofork", "--nopidfile"]
        let started = try await RunningProcess.server("dbus-daemon", words) {
            FileManager.default.fileExists(atPath: socket)
        }
        daemon.withLock { $0 = started }
    }

    /// Runs a program that uses the bus to its end, and returns what it wrote, without the last line end.
    /// Throws if its exit code is not 0.
    @discardableResult
    package func run(_ words: String...) async throws -> String {
        let output = try await RunningProcess.run(
            words[0],
            Array(words.dropFirst()),
            environment: environment
        )
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// The players on the bus, as `playerctl` names them; sorted.
    package var players: [String] {
        get async throws {
            try await run("playerctl", "--list-all").split(separator: "\n").map(String.init).sorted()
        }
    }
}
