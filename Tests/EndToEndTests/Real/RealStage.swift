import Foundation
import TestSupport

/// The environment of tests with real parts: a folder, an audio server of their own, and the player.
final class RealStage: Sendable {
    let folder: TemporaryFolder
    let audio: any RealServer

    init(_ kind: RealServerKind = .pulseAudio) async throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("web")
        audio = try await kind.start()
    }

    /// What nginx serves.
    var webFolder: String { folder.path("web") }

    /// Starts the player on the audio server, with the cache of this stage and JSON events.
    func play(_ arguments: [String]) throws -> RunningProcess {
        var environment = audio.environment.mapValues { Optional($0) }
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
