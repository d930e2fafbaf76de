import Foundation
import RepriseOrigin
import System
import TestSupport

/// The cost of twelve seconds of listening: bytes, requests, CPU, memory and wake-ups.
///
/// All players listen at the same time, each to a server of its own, so that a busy machine is as busy for
/// all.
enum Listening {
    struct Cost: Sendable {
        var bytes: Int64
        var requests: Int
        var cpu: Double
        var wakeUps: Double
        var pausedWakeUps: Double?
        var ownPausedWakeUps: Double?
        var memory: ProcessReading.Memory?

        /// The most bytes that are allowed: 12 s, the read-ahead of a minute, and one window.
        static let mostBytes = 72 * 24_000.0 + 1_048_576
    }

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("Listening for 12 s")
        for _ in 0..<rounds {
            for (kind, cost) in try await stage.together(stage.players, { try await listen(stage, $0) }) {
                table.add(
                    "of a song of 7.2 MB: bytes",
                    .megabytes,
                    Double(cost.bytes) / 1e6,
                    of: kind,
                    atMost: Cost.mostBytes / 1e6,
                    goal: "≤ 72 s + 1 window"
                )
                table.add("requests", .count, Double(cost.requests), of: kind)
                table.add("CPU for a minute of music", .seconds, cost.cpu, of: kind)
                table.add("wake-ups, playing", .perSecond, cost.wakeUps, of: kind)
                let paused = "wake-ups, paused"
                table.add(paused, .perSecond, cost.pausedWakeUps, of: kind, absent: "keys only")
                if kind == .reprise {
                    let own = "of these ours: not libdispatch's own clock"
                    table.add(own, .perSecond, cost.ownPausedWakeUps, atMost: 0)
                }
                table.add(memory: cost.memory, of: kind)
            }
        }
        let peer = table.median("CPU for a minute of music", of: .mpg123)
        table.limit("CPU for a minute of music", to: peer.map { $0 * 1.2 }, goal: "≤ 1.2 × mpg123")
    }

    /// Plays twelve seconds of a song, and pauses; with a `folder` for the player's cache, and a `server` of
    /// its own.
    static func listen(
        _ stage: BenchStage,
        _ kind: PlayerKind,
        from server: TestOrigin? = nil,
        folder: TemporaryFolder? = nil
    ) async throws -> Cost {
        let song = try await stage.song()
        let server = try server ?? stage.origin(["/song.mp3": song])
        return try await stage.with(kind, [server.url("/song.mp3")], folder: folder) { run, ear in
            let sound = try await ear.firstSound(after: run.begun, within: .seconds(60)) ?? .now
            try await Task.sleep(until: sound + .seconds(2))
            let before = ProcessReading(run.identifier)
            try await Task.sleep(until: sound + .seconds(12))
            let after = ProcessReading(run.identifier)
            var cost = Cost(
                bytes: server.log.bytesSent,
                requests: server.log.requests.count,
                cpu: after.cpuSecondsPerMinute(since: before),
                wakeUps: after.wakeUpsPerSecond(since: before),
                memory: ProcessReading.Memory(run.identifier)
            )
            if kind.seeks {
                try await run.pause()
                // Idle pool threads end after some seconds, with one wake-up each.
                try await Task.sleep(for: .seconds(8))
                let still = ProcessReading(run.identifier)
                try await Task.sleep(for: .seconds(5))
                let later = ProcessReading(run.identifier)
                cost.pausedWakeUps = later.wakeUpsPerSecond(since: still)
                cost.ownPausedWakeUps = later.wakeUpsPerSecond(since: still, withManager: false)
            }
            return cost
        }
    }
}

extension FigureTable {
    /// Adds the memory of a player, in `subject` of several.
    mutating func add(_ subject: String = "", memory: ProcessReading.Memory?, of kind: PlayerKind) {
        let name = subject + "memory, anonymous"
        add(name, .megabytes, memory?.anonymous, of: kind, atMost: 12.6, goal: "≤ 12 MB")
        add(subject + "memory, resident", .megabytes, memory?.resident, of: kind)
    }
}
