import Foundation
import System
import TestSupport

/// The machine's bus, with stand-ins for logind and NetworkManager on it (python-dbusmock), and the player.
final class PowerStage: Sendable {
    let desktop: DesktopStage
    /// The buses of the session and of the machine are apart.
    let bus: SessionBus
    private let standIns = Locked<[RunningProcess]>([])

    var stage: Stage { desktop.stage }
    var environment: [String: String] { desktop.bus.environment.merging(bus.environment) { $1 } }

    /// `metered` is the property of that name; without `hasServices` nobody is on the bus.
    init(metered: Int = 4, hasServices: Bool = true) async throws {
        desktop = try await DesktopStage()
        bus = try await SessionBus(isSystem: true)
        if hasServices { try await startServices(metered: metered) }
    }

    func startServices(metered: Int = 4) async throws {
        for (template, name) in [
            ("logind", "org.freedesktop.login1"), ("networkmanager", "org.freedesktop.NetworkManager"),
        ] {
            let words = ["-m", "dbusmock", "--system", "--template", template]
            // Another Python in `PATH` may not have Debian's modules.
            let standIn = try RunningProcess("/usr/bin/python3", words, environment: bus.environment)
            standIns.withLock { $0.append(standIn) }
            try await bus.run("gdbus", "wait", "--system", "--timeout", "60", name)
        }
        try await mock(manager, "AddProperty", manager.interface, "Metered", "<uint32 \(metered)>")
    }

    private typealias Service = (name: String, interface: String)

    private let logind: Service = ("org.freedesktop.login1", "org.freedesktop.login1.Manager")
    private let manager: Service = ("org.freedesktop.NetworkManager", "org.freedesktop.NetworkManager")

    private func call(_ name: String, _ method: String, _ arguments: [String]) async throws -> String {
        let path = "/" + name.split(separator: ".").joined(separator: "/")
        let words = ["call", "--system", "--dest", name, "--object-path", path, "--method", method]
        let output = try await RunningProcess.run("gdbus", words + arguments, environment: bus.environment)
        return String(decoding: output, as: UTF8.self)
    }

    private func mock(_ service: Service, _ method: String, _ arguments: String...) async throws {
        _ = try await call(service.name, "org.freedesktop.DBus.Mock." + method, arguments)
    }

    /// Signals that the machine is about to sleep, or that it has slept.
    func signalSleep(_ begins: Bool) async throws {
        try await mock(logind, "EmitSignal", logind.interface, "PrepareForSleep", "b", "[<\(begins)>]")
    }

    func setMetered(_ value: Int) async throws {
        try await mock(manager, "UpdateProperties", manager.interface, "{'Metered': <uint32 \(value)>}")
    }

    /// Waits until these inhibitors, and no others, are held: each what it forbids, and its mode.
    func wait(forInhibitors expected: [String]) async throws {
        var held: [String] = []
        try await TestSupport.wait(for: "the inhibitors \(expected)") {
            let list = try await call(logind.name, logind.interface + ".ListInhibitors", [])
            held = list.matches(of: /\('(\w+)', 'Reprise', '[^']*', '(\w+)'/).map { "\($0.1) \($0.2)" }
            return held.sorted() == expected.sorted()
        } seeing: {
            "\(held)"
        }
    }
}
