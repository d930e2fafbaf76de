import Foundation
import RepriseOrigin
import TestSupport

/// The time to decode without an audio device, from the start of the process to its end.
enum DecodeSpeed {
    static func measure(_ stage: BenchStage, isQuick: Bool, into table: inout FigureTable) async throws {
        let (rounds, minutes) = isQuick ? (3, 10) : (5, 60)
        table.begin("Decoding \(isQuick ? "10 min" : "1 h") without a sink")
        let music = try await LongMusic.folder(minutes: minutes)
        let file = music.path("long.mp3")
        let server = try TestOrigin(folder: music.path)
        let url = server.url("/long.mp3")
        let cache = try TemporaryFolder()
        let options = ["--json", "--sink", "null:fast"]
        let kept = options + ["--cache-dir", cache.path("cache"), url]
        _ = try await RunningProcess.time(RepriseRun.binary, kept, environment: stage.environment)
        for _ in 0..<rounds {
            var runs = [("from the cache", PlayerKind.reprise, RepriseRun.binary, kept)]
            for (name, source) in [("from a file", file), ("from loopback", url)] {
                runs.append((name, .reprise, RepriseRun.binary, options + ["--no-cache", source]))
                if stage.players.contains(.mpg123) {
                    runs.append((name, .mpg123, "mpg123", ["-q", "-t", source]))
                }
            }
            for (name, kind, program, arguments) in runs {
                let run = try await RunningProcess.time(program, arguments, environment: stage.environment)
                table.add(name, .seconds, run.wall / .seconds(1), of: kind)
                table.add(name + ": CPU", .seconds, run.cpu / .seconds(1), of: kind)
            }
        }
        table.limit(
            "from a file",
            "from the cache",
            to: table.median("from a file", of: .mpg123).map { $0 / 0.95 },
            goal: "≥ 0.95 × mpg123's speed from a file"
        )
    }
}
