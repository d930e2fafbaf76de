import Foundation
import TestSupport

/// The players that are measured.
enum PlayerKind: String, CaseIterable, Codable {
    case reprise, mpg123, mpv, mpd, ffplay

    /// What it needs on the machine besides Reprise's own binary.
    var programs: [String] {
        switch self {
        case .reprise: []
        case .mpg123: ["mpg123"]
        case .mpv: ["mpv"]
        case .mpd: ["mpd", "mpc"]
        case .ffplay: ["ffplay"]
        }
    }

    /// Those of `programs` that are not installed.
    var missing: [String] { programs.filter { Self.find($0) == nil } }

    /// Whether it can be told to seek in music from the web. mpg123 cannot; ffplay takes keys in a window only.
    var seeks: Bool { self == .reprise || self == .mpv || self == .mpd }
    /// Whether it takes a list.
    var takesLists: Bool { self != .ffplay }

    /// Where a program is, by `PATH` and the folders of the system's own.
    static func find(_ program: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"])
            .map { $0 + "/" + program }
            .first { access($0, X_OK) == 0 }
    }

    /// Starts it with this music.
    func start(_ setup: PlayerSetup) async throws -> any PlayerRun {
        switch self {
        case .reprise: setup.hasScreen ? try RepriseKeyRun(setup) : try RepriseRun(setup)
        case .mpg123: try Mpg123Run(setup)
        case .mpv: try MpvRun(setup)
        case .mpd: try await MPDRun(setup)
        case .ffplay: try FFplayRun(setup)
        }
    }
}

/// What a player is started with.
struct PlayerSetup: Sendable {
    var sources: [String]
    /// Where it plays, and what else its environment has.
    var environment: [String: String?]
    /// Its own: its cache, its socket.
    var folder: TemporaryFolder
    /// Of Reprise only.
    var options: [String] = []
    /// Whether Reprise shows its screen and is told by keys.
    var hasScreen = false

    init(_ sources: [String], _ ear: Ear, on stage: BenchStage, folder: TemporaryFolder) {
        self.sources = sources
        self.folder = folder
        environment = stage.environment
        // libpulse's own way to say which sink, understood by all that use it.
        environment["PULSE_SINK"] = ear.sink
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_STATE_HOME"] = folder.path("state")
    }
}

/// A player that was told to play.
protocol PlayerRun: Sendable {
    /// When that was.
    var begun: ContinuousClock.Instant { get }
    var identifier: pid_t { get }
    /// Only of those that `seeks` tells of.
    func seek(to second: Int) async throws
    /// Only of those that take lists.
    func next() async throws
    /// Only of those that seek, too: the others take keys.
    func pause() async throws
    func end() async throws
}

extension PlayerRun {
    func seek(to second: Int) async throws { throw BenchmarkFailure("this player takes no seek") }
    func next() async throws { throw BenchmarkFailure("this player has no next track") }
    func pause() async throws { throw BenchmarkFailure("this player takes no pause") }
}
