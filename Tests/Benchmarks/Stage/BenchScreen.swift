import Foundation
import TestSupport

/// The player with its screen in a process.
final class BenchScreen: Sendable {
    /// The delays from a key to the first and to the last change of the screen.
    struct Change {
        var first: Duration
        var last: Duration
    }

    /// The screen is at rest after this time without output.
    private static let silence = Duration.milliseconds(250)

    static let size = (columns: 80, rows: 24)
    /// The variables of a process.
    static let environment: [String: String?] = ["TERM": "xterm-256color", "LC_ALL": "C.UTF-8"]

    private let process: RunningProcess
    private let folder: TemporaryFolder

    init(_ sources: [String], _ stage: BenchStage, options: [String] = []) throws {
        folder = try TemporaryFolder()
        var environment = stage.environment.merging(Self.environment) { $1 }
        environment["XDG_CONFIG_HOME"] = folder.path("config")
        environment["XDG_STATE_HOME"] = folder.path("state")
        process = try RunningProcess(
            RepriseRun.binary,
            ["--cache-dir", folder.path("cache")] + options + sources,
            environment: environment,
            terminal: Self.size
        )
    }

    var processIdentifier: pid_t { process.processIdentifier }

    /// The number of pieces of output so far.
    var shown: Int { process.pieceCount }

    /// The output from piece `start` on.
    func text(from start: Int = 0) -> String {
        String(decoding: process.pieces(from: start).flatMap(\.bytes), as: UTF8.self)
    }

    /// The number of drawings of the spectrum since piece `start`.
    func pictures(from start: Int = 0) -> Int {
        var drawnAt: ContinuousClock.Instant?
        var count = 0
        for piece in process.pieces(from: start) where Self.hasBars(piece.bytes) {
            // A drawing may come in two pieces.
            if drawnAt.map({ piece.instant - $0 > .milliseconds(5) }) ?? true { count += 1 }
            drawnAt = piece.instant
        }
        return count
    }

    /// Types keys without waiting.
    func type(_ keys: String) throws { try process.type(keys) }

    /// Types a key; returns when the screen is at rest again. The music must be paused.
    func press(_ key: String) async throws -> Change {
        let before = shown
        let begun = ContinuousClock.now
        try process.type(key)
        try await wait(for: "an answer to \(key)", deadline: .seconds(20)) {
            guard process.isRunning else { throw BenchmarkFailure("the player ended: \(text(from: before))") }
            return shown > before
        }
        try await rest()
        let pieces = process.pieces(from: before)
        guard let first = pieces.first, let last = pieces.last else { throw BenchmarkFailure("no answer") }
        return Change(first: first.instant - begun, last: last.instant - begun)
    }

    /// Returns when the screen is at rest.
    func rest() async throws {
        try await wait(for: "a screen that stands still", deadline: .seconds(20)) {
            let last = process.pieces(from: max(0, shown - 1)).last
            return last.map { .now - $0.instant > Self.silence } ?? false
        }
    }

    func end() async throws {
        try process.type("q")
        try await process.waitForExit()
    }

    /// Bars of one to seven eighths (U+2581…U+2587) except four, which meters use too.
    private static func hasBars(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, zip(bytes.dropFirst(), bytes.dropFirst(2))).contains { first, rest in
            first == 0xE2 && rest.0 == 0x96 && (0x81...0x87).contains(rest.1) && rest.1 != 0x84
        }
    }
}
