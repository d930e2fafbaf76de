import Foundation
import TestSupport

/// What the tests with real parts stand on: a folder, an audio server of their own, and the player.
final class RealStage: Sendable {
    let folder: TemporaryFolder
    let pulse: PulseServer

    init() async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("web")
        pulse = try await PulseServer()
    }

    /// What nginx serves.
    var webFolder: String { folder.path("web") }

    /// Starts the player on the audio server, with the cache of this stage, told by JSON.
    func play(_ arguments: [String]) throws -> RunningProcess {
        var environment = pulse.environment.mapValues { Optional($0) }
        environment["XDG_STATE_HOME"] = folder.path("state")
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment.updateValue(nil, forKey: "http_proxy")
        environment.updateValue(nil, forKey: "all_proxy")
        return try RunningProcess(
            BuiltProducts.reprise,
            ["--headless", "--json", "--cache-dir", folder.path("cache")] + arguments,
            environment: environment
        )
    }
}

/// The fields of the player's events that these tests look at.
struct RealEvent: Decodable, Sendable {
    struct Bytes: Decodable, Sendable {
        var cached: Int
        var fetched: Int
    }

    var event: String
    var code: String?
    var position: Double?
    var exact: Bool?
    var frames: Int?
    var bytes: Bytes?
    var requests: Int?
    var stalls: Int?
    var played: Int?
    var reason: String?
}

extension RunningProcess {
    /// The player's events so far.
    var events: [RealEvent] {
        get throws { try lines.map { try JSONDecoder().decode(RealEvent.self, from: Data($0.utf8)) } }
    }

    /// Waits for the first event of this name behind the first `count` ones.
    @discardableResult
    func event(_ name: String, after count: Int = 0) async throws -> RealEvent {
        let line = try await waitForLine(from: count) { $0.contains("\"event\":\"\(name)\"") }
        return try JSONDecoder().decode(RealEvent.self, from: Data(line.utf8))
    }
}
