import Foundation
import TestSupport

/// mpg123 from the command line.
struct Mpg123Run: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess

    init(_ setup: PlayerSetup) throws {
        begun = .now
        process = try RunningProcess(
            "mpg123",
            ["-q", "-o", "pulse"] + setup.sources,
            environment: setup.environment
        )
    }

    var identifier: pid_t { process.processIdentifier }
    /// An interrupt is its next track.
    func next() { process.signal(SIGINT) }

    func end() async throws {
        process.signal(SIGTERM)
        try await process.waitForExit()
    }
}

/// ffplay, which plays one thing.
struct FFplayRun: PlayerRun {
    let begun: ContinuousClock.Instant
    private let process: RunningProcess

    init(_ setup: PlayerSetup) throws {
        var environment = setup.environment
        environment["SDL_AUDIODRIVER"] = "pulseaudio"
        environment["SDL_VIDEODRIVER"] = "dummy"
        begun = .now
        process = try RunningProcess(
            "ffplay",
            ["-nodisp", "-autoexit", "-loglevel", "quiet", setup.sources[0]],
            environment: environment
        )
    }

    var identifier: pid_t { process.processIdentifier }

    func end() async throws {
        process.signal(SIGKILL)
        try await process.waitForExit()
    }
}
