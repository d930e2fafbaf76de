import Foundation
import RepriseOrigin
import TestSupport

/// The time to decode without an audio device, from the start of the process to its end.
enum DecodeSpeed {
    private static let section = "Decoding 1 h without a sink"

    static func measure(_ stage: BenchStage, rounds: Int, minutes: Int, into table: inout FigureTable)
        async throws
    {
        let section = minutes == 60 ? section : "Decoding \(minutes) min without a sink"
        let music = try await LongMusic.folder(minutes: minutes)
        let file = music.path("long.mp3")
        let server = try TestOrigin(folder: music.path)
        let url = server.url("/long.mp3")
        let cache = try TemporaryFolder()
        let options = ["--json", "--sink", "null:fast"]
        let kept = options + ["--cache-dir", cache.path("cache"), url]
        _ = try await Stopwatch.run(RepriseRun.binary, kept, environment: stage.environment)
        for _ in 0..<rounds {
            for (name, source) in [("from a file", file), ("from loopback", url)] {
                let arguments = options + ["--no-cache", source]
                try await add(stage, section, name, .reprise, RepriseRun.binary, arguments, &table)
                if stage.players.contains(.mpg123), let program = PlayerKind.find("mpg123") {
                    try await add(stage, section, name, .mpg123, program, ["-q", "-t", source], &table)
                }
            }
            try await add(stage, section, "from the cache", .reprise, RepriseRun.binary, kept, &table)
        }
        if let peer = table.median("from a file", of: .mpg123) {
            for name in ["from a file", "from the cache"] {
                table.add(
                    section,
                    name,
                    .seconds,
                    .reprise,
                    nil,
                    goal: "≥ 0.95 × mpg123's speed from a file",
                    limit: peer / 0.95
                )
            }
        }
    }

    private static func add(
        _ stage: BenchStage,
        _ section: String,
        _ name: String,
        _ kind: PlayerKind,
        _ program: String,
        _ arguments: [String],
        _ table: inout FigureTable
    ) async throws {
        let run = try await Stopwatch.run(program, arguments, environment: stage.environment)
        table.add(section, name, .seconds, kind, run.wall / .seconds(1))
        table.add(section, name + ": CPU", .seconds, kind, run.cpu / .seconds(1))
    }
}
