import Foundation
import RepriseOrigin
import System
import TestSupport

/// Bytes and requests of several ways to listen, on a line of 50 ms and 2 MB/s.
enum Savings {
    static func measure(_ stage: BenchStage, into table: inout FigureTable) async throws {
        table.begin("Bytes and requests")
        try await measureWhole(stage, &table)
        let song = try await stage.song()
        for (kind, cost) in try await stage.together(
            stage.players.filter(\.seeks),
            { try await jump(stage, $0, song) }
        ) {
            table.add("10 seeks, a second each", cost, of: kind)
        }
        let changes = try await stage.together(stage.players.filter(\.takesLists)) { kind in
            let server = try stage.origin(["/1.mp3": song, "/2.mp3": song])
            return try await stage.with(kind, [server.url("/1.mp3"), server.url("/2.mp3")]) { run, ear in
                let sound = try await ear.firstSound(after: run.begun) ?? .now
                try await Task.sleep(until: sound + .milliseconds(500))
                try await run.next()
                try await Task.sleep(for: .seconds(3))
                return (
                    bytes: server.log.bytesSent(for: "/1.mp3"),
                    requests: server.log.requests(for: "/1.mp3").count
                )
            }
        }
        for (kind, cost) in changes {
            table.add("next track after half a second", cost, of: kind, "bytes of the first", "its requests")
        }
    }

    /// Seeks to the same ten positions in every player.
    private static func jump(_ stage: BenchStage, _ kind: PlayerKind, _ song: [UInt8]) async throws -> (
        bytes: Int64, requests: Int
    ) {
        let server = try stage.origin(["/song.mp3": song])
        return try await stage.with(kind, [server.url("/song.mp3")]) { run, ear in
            _ = try await ear.firstSound(after: run.begun)
            var random = SeededGenerator(seed: 7)
            for _ in 0..<10 {
                try await run.seek(to: Int.random(in: 0..<290, using: &random))
                try await Task.sleep(for: .seconds(1))
            }
            return (server.log.bytesSent, server.log.requests.count)
        }
    }

    /// Plays a whole song as fast as possible, twice, in the players that support it.
    private static func measureWhole(_ stage: BenchStage, _ table: inout FigureTable) async throws {
        let song = try await stage.song()
        for kind in stage.players {
            let server = try stage.origin(["/song.mp3": song])
            let folder = try TemporaryFolder()
            let url = server.url("/song.mp3")
            let command: (program: String, arguments: [String])? =
                switch kind {
                case .reprise:
                    (
                        RepriseRun.binary,
                        ["--json", "--sink", "null:fast", "--cache-dir", folder.path("cache"), url]
                    )
                case .mpg123: ("mpg123", ["-q", "-t", url])
                case .mpv:
                    (
                        "mpv",
                        ["--no-config", "--no-video", "--no-terminal", "--ao=null", "--ao-null-untimed", url]
                    )
                case .mpd, .ffplay: nil
                }
            guard let command else { continue }
            for name in ["a whole song of 7.2 MB", "the same again"] {
                server.log.reset()
                _ = try await RunningProcess.time(
                    command.program,
                    command.arguments,
                    environment: stage.environment
                )
                table.add(name, (server.log.bytesSent, server.log.requests.count), of: kind)
            }
        }
        table.limit("the same again: bytes", to: 0, goal: "0")
    }
}

extension FigureTable {
    /// Adds the bytes and the requests of one way to listen.
    fileprivate mutating func add(
        _ subject: String,
        _ cost: (bytes: Int64, requests: Int),
        of kind: PlayerKind,
        _ bytes: String = "bytes",
        _ requests: String = "requests"
    ) {
        add("\(subject): \(bytes)", .megabytes, Double(cost.bytes) / 1e6, of: kind)
        add("\(subject): \(requests)", .count, Double(cost.requests), of: kind)
    }
}
