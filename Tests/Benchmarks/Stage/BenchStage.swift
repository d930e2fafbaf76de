import Foundation
import RepriseOrigin
import TestSupport

/// The environment of measurements: an audio server, music whose pitch identifies the second, and a network
/// connection.
struct BenchStage: Sendable {
    /// The line of most figures: 50 ms round trip, 2 MB/s.
    static let line = Shaping(roundTrip: .milliseconds(50), bytesPerSecond: 2_000_000)
    /// A line on which a song takes much longer than its first sound.
    static let slowLine = Shaping(roundTrip: .milliseconds(50), bytesPerSecond: 400_000)

    let pulse: PulseServer
    private let ears: EarPool
    let players: [PlayerKind]
    let folder: TemporaryFolder

    /// Leaves out `players` that are not installed, and names them in the table.
    init(_ players: [PlayerKind], _ table: inout FigureTable) async throws {
        for player in players where !player.missing.isEmpty {
            let names = player.missing.joined(separator: " and ")
            table.skip("\(player.rawValue), because \(names) is not installed")
        }
        self.players = players.filter { $0.missing.isEmpty }
        pulse = try await PulseServer()
        ears = EarPool(pulse)
        folder = try TemporaryFolder()
    }

    /// The environment of every player: this audio server, no proxy, no configuration.
    var environment: [String: String?] {
        var environment = pulse.environment.mapValues { Optional($0) }
        for name in [
            "http_proxy", "https_proxy", "all_proxy", "no_proxy", "MPD_HOST", "DISPLAY", "WAYLAND_DISPLAY",
        ] {
            environment.updateValue(nil, forKey: name)
        }
        return environment
    }

    /// Music of the length and bit rate of a song: 7 MB.
    func song() async throws -> [UInt8] {
        try await MP3Fixtures.bytes(.init(seconds: 300, rate: .constant(192)))
    }

    /// The same with a rate that varies.
    func variableSong() async throws -> [UInt8] {
        try await MP3Fixtures.bytes(.init(seconds: 300, rate: .variable(quality: 0, hasXing: true)))
    }

    /// An origin of this music, in memory.
    func origin(_ files: [String: [UInt8]], _ shaping: Shaping = line, faults: [Fault] = []) throws
        -> TestOrigin
    {
        try TestOrigin(files, shaping: shaping, faults: faults)
    }

    /// Runs `body` with a player of `sources`, and ends the player in any case.
    func with<Result>(
        _ kind: PlayerKind,
        _ sources: [String],
        folder: TemporaryFolder? = nil,
        options: [String] = [],
        hasScreen: Bool = false,
        _ body: (any PlayerRun, Ear) async throws -> Result
    ) async throws -> Result {
        let ear = try await ears.take()
        var setup = PlayerSetup(sources, ear, on: self, folder: try folder ?? TemporaryFolder())
        setup.options = options
        setup.hasScreen = hasScreen
        let run = try await kind.start(setup)
        do {
            let result = try await body(run, ear)
            try await run.end()
            try await ears.giveBack(ear)
            return result
        } catch {
            try? await run.end()
            try? await ears.giveBack(ear)
            throw error
        }
    }

    /// Runs `body` for all of `kinds` at the same time, and returns their results.
    func together<Result: Sendable>(
        _ kinds: [PlayerKind],
        _ body: @escaping @Sendable (PlayerKind) async throws -> Result
    ) async throws -> [(kind: PlayerKind, result: Result)] {
        try await withThrowingTaskGroup(of: (PlayerKind, Result).self) { group in
            for kind in kinds { group.addTask { (kind, try await body(kind)) } }
            var results: [(kind: PlayerKind, result: Result)] = []
            for try await (kind, result) in group { results.append((kind, result)) }
            return results
        }
    }
}
