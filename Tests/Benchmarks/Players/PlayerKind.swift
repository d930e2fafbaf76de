import Foundation
import TestSupport

/// The measured players.
enum PlayerKind: String, CaseIterable, Codable {
    case reprise, mpg123, mpv, mpd, ffplay

    /// The programs it needs; none for Reprise itself.
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
    var missing: [String] { programs.filter { RunningProcess.path(of: $0) == nil } }

    /// `true` if it can seek in music from the web on command. mpg123 cannot; ffplay takes keys only in a
    /// window.
    var seeks: Bool { self == .reprise || self == .mpv || self == .mpd }
    /// `true` if it takes a list.
    var takesLists: Bool { self != .ffplay }

    /// Starts it with this music.
    func start(_ setup: PlayerSetup) async throws -> any PlayerRun {
        switch self {
        case .reprise: try RepriseRun(setup)
        case .mpg123: try PlainRun("mpg123", ["-q", "-o", "pulse"] + setup.sources, setup.environment)
        case .mpv: try MpvRun(setup)
        case .mpd: try await MPDRun(setup)
        case .ffplay:
            try PlainRun(
                "ffplay",
                ["-nodisp", "-autoexit", "-loglevel", "quiet", setup.sources[0]],
                setup.environment.merging(["SDL_AUDIODRIVER": "pulseaudio", "SDL_VIDEODRIVER": "dummy"]) {
                    $1
                }
            )
        }
    }
}

/// The parameters of a player's start.
struct PlayerSetup: Sendable {
    var sources: [String]
    /// Its environment, which names the sink.
    var environment: [String: String?]
    /// Its own folder, for its cache or socket.
    var folder: TemporaryFolder
    /// Of Reprise only.
    var options: [String] = []
    /// `true` if Reprise shows its screen and takes keys.
    var hasScreen = false

    init(_ sources: [String], _ ear: Ear, on stage: BenchStage, folder: TemporaryFolder) {
        self.sources = sources
        self.folder = folder
        environment = stage.environment
        // libpulse reads the sink from this variable, so it works for every player.
        environment["PULSE_SINK"] = ear.sink
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_STATE_HOME"] = folder.path("state")
    }
}

/// A running player.
protocol PlayerRun: Sendable {
    /// The time of the play command.
    var begun: ContinuousClock.Instant { get }
    var identifier: pid_t { get }
    /// Only for players with `seeks`.
    func seek(to second: Int) async throws
    /// Only for players with `takesLists`.
    func next() async throws
    /// Only for players with `seeks`; the others take keys.
    func pause() async throws
    func end() async throws
}

extension PlayerRun {
    func seek(to second: Int) async throws { throw BenchmarkFailure("this player takes no seek") }
    func next() async throws { throw BenchmarkFailure("this player has no next track") }
    func pause() async throws { throw BenchmarkFailure("this player takes no pause") }
}
