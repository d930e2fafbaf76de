import Foundation
import RepriseOrigin
import System
import TestSupport

/// The cost of twelve seconds of listening: bytes, requests, CPU, memory and wake-ups.
///
/// All players listen at the same time, each to a server of its own, so that a busy machine is as busy for all.
enum Listening {
    private static let section = "Listening for 12 s"
    private static let time = Duration.seconds(12)

    private struct Cost: Sendable {
        var bytes: Int64
        var requests: Int
        var cpu: Double
        var wakeUps: Double
        var pausedWakeUps: Double?
        var ownPausedWakeUps: Double?
        var memory: ProcessReading.Memory?
    }

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        let song = try await stage.song()
        for _ in 0..<rounds {
            for (kind, cost) in try await stage.together(stage.players, { try await listen(stage, $0, song) })
            {
                // 12 s, the read-ahead of a minute, and one window.
                let limit = 72 * 24_000.0 + 1_048_576
                table.add(
                    section,
                    "of a song of 7.2 MB: bytes",
                    .megabytes,
                    kind,
                    Double(cost.bytes) / 1e6,
                    goal: "≤ 72 s + 1 window",
                    limit: limit / 1e6
                )
                table.add(section, "requests", .count, kind, Double(cost.requests))
                table.add(
                    section,
                    "CPU for a minute of music",
                    .seconds,
                    kind,
                    cost.cpu,
                    goal: "≤ 1.2 × mpg123"
                )
                table.add(section, "wake-ups, playing", .perSecond, kind, cost.wakeUps)
                table.add(section, "wake-ups, paused", .perSecond, kind, cost.pausedWakeUps)
                if kind == .reprise {
                    table.add(
                        section,
                        "of these ours: not libdispatch's own clock",
                        .perSecond,
                        kind,
                        cost.ownPausedWakeUps,
                        goal: "0",
                        limit: 0
                    )
                }
                if !kind.seeks {
                    table.add(section, "wake-ups, paused", .perSecond, kind, absent: "keys only")
                }
                table.add(
                    section,
                    "memory, anonymous",
                    .megabytes,
                    kind,
                    cost.memory?.anonymous,
                    goal: "≤ 12 MB",
                    limit: 12.6
                )
                table.add(section, "memory, resident", .megabytes, kind, cost.memory?.resident)
            }
        }
        table.limit("CPU for a minute of music", in: section, toPeers: 1.2, .mpg123)
    }

    private static func listen(_ stage: BenchStage, _ kind: PlayerKind, _ song: [UInt8]) async throws -> Cost
    {
        let server = try stage.origin(["/song.mp3": song])
        return try await stage.with(kind, [server.url("/song.mp3")]) { run, ear in
            let sound = try await ear.firstSound(after: run.begun) ?? .now
            try await Task.sleep(until: sound + .seconds(2))
            let before = ProcessReading(run.identifier)
            try await Task.sleep(until: sound + time)
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
                try await Task.sleep(for: .seconds(7))
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
