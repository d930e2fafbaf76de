import Foundation
import RepriseOrigin
import System
import TestSupport

/// The time from the start of a process to its first audible sample at the monitor, on a line of 50 ms.
enum FirstSounds {
    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("First sound")
        // Half a minute, which read-ahead caches at once.
        let song = try await MP3Fixtures.bytes(.init(seconds: 30, rate: .constant(192)))
        let file = try stage.folder.write(song, to: "song.mp3")
        // Each player keeps its folder for all rounds, as users do; only the song is new.
        var folders: [PlayerKind: TemporaryFolder] = [:]
        for kind in stage.players { folders[kind] = try TemporaryFolder() }
        try await makeCache(stage, folders[.reprise])
        for round in 0..<rounds {
            // A different song each time, since the cache recognizes the same bytes under another URL.
            let song = song + [UInt8](repeating: 0, count: round + 1)
            for kind in stage.players {
                guard let folder = folders[kind] else { continue }
                let path = "/song-\(round).mp3"
                let server = try stage.origin([path: song])
                let url = server.url(path)
                let cold = try await wait(stage, kind, url, folder, toKeep: kind == .reprise ? server : nil)
                table.add("cold, from the web", .milliseconds, cold, of: kind)
                server.log.reset()
                let again = try await wait(stage, kind, url, folder)
                table.add("the same again", .milliseconds, again, of: kind)
                let requests = Double(server.log.requests.count)
                table.add("requests for it", .count, requests, of: kind, atMost: 0)
                if kind == .reprise {
                    await server.stop()
                    try await measureAlone(stage, url, folder, song, &table)
                } else {
                    table.add("the same, offline", .milliseconds, nil, of: kind, absent: "silent")
                }
                let local = try await wait(stage, kind, file, TemporaryFolder())
                table.add("a local file", .milliseconds, local, of: kind)
            }
        }
        let cold = table.median("cold, from the web", of: .mpg123)
        let local = table.median("a local file", of: .mpg123)
        table.limit("cold, from the web", to: cold, goal: "≤ mpg123")
        table.limit("the same again", "the same, offline", to: local, goal: "≤ mpg123, local file")
    }

    /// The cases that only Reprise has: a song without its server, and an empty cache folder.
    private static func measureAlone(
        _ stage: BenchStage,
        _ url: String,
        _ folder: TemporaryFolder,
        _ song: [UInt8],
        _ table: inout FigureTable
    ) async throws {
        let offline = try await wait(stage, .reprise, url, folder, ["--offline"])
        table.add("the same, offline", .milliseconds, offline)
        let server = try stage.origin(["/song.mp3": song])
        let first = try await wait(stage, .reprise, server.url("/song.mp3"), TemporaryFolder())
        table.add("cold, the very first start", .milliseconds, first)
    }

    /// A cache that has been used before.
    private static func makeCache(_ stage: BenchStage, _ folder: TemporaryFolder?) async throws {
        guard let folder else { return }
        let server = try stage.origin(
            ["/other.mp3": try await MP3Fixtures.bytes(.init(seconds: 4))],
            Shaping()
        )
        _ = try await wait(stage, .reprise, server.url("/other.mp3"), folder)
    }

    /// Playlists on disk, with a first entry on disk and with one on the web.
    static func measureLists(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("First sound")
        let folder = try TemporaryFolder()
        let song = try await stage.song()
        let file = try folder.write(song, to: "song.mp3")
        let server = try stage.origin(["/song.mp3": song])
        for (place, source) in [("on disk", file), ("on the web", server.url("/song.mp3"))] {
            let lists = try [1, 100_000].map { count in
                let others = (1..<count).map { "http://127.0.0.1:9/music/album-\($0 / 12)/track-\($0).mp3\n" }
                return try folder.write("#EXTM3U\n\(source)\n" + others.joined(), to: "list-\(count).m3u8")
            }
            let names = ["a list of 1, its song \(place)", "a list of 100,000, its first song \(place)"]
            for _ in 0..<rounds {
                for kind in stage.players where kind == .reprise || kind == .mpv {
                    for (list, name) in zip(lists, names) {
                        let sound = try await wait(stage, kind, list, TemporaryFolder())
                        table.add(name, .milliseconds, sound, of: kind)
                    }
                }
            }
            table.add(names[1], .milliseconds, nil, atMost: 250)
        }
    }

    /// Milliseconds; `nil` if there was no sound. With `toKeep`, listens until that server has sent the song.
    private static func wait(
        _ stage: BenchStage,
        _ kind: PlayerKind,
        _ source: String,
        _ folder: TemporaryFolder,
        _ options: [String] = [],
        toKeep server: TestOrigin? = nil
    ) async throws -> Double? {
        try await stage.with(kind, [source], folder: folder, options: options) { run, ear in
            guard let sound = try await ear.firstSound(after: run.begun) else { return nil }
            if let server {
                // Until the whole song has been sent and no request is running.
                let end = ContinuousClock.now + .seconds(8)
                while server.log.bytesSent < 720_000
                    || server.log.requests.contains(where: { $0.outcome == .underWay })
                {
                    guard ContinuousClock.now < end else {
                        throw BenchmarkFailure("a song is not fetched ahead: \(server.log.requests)")
                    }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            return (sound - run.begun) / .milliseconds(1)
        }
    }
}
