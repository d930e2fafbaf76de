import Foundation
import RepriseOrigin
import TestSupport

/// Recorded HLS, beside the players that read it too.
enum Streams {
    private struct Heard: Sendable {
        /// Milliseconds; `nil` without a sound.
        var sound: Double?
        var requests: Int
    }

    private enum Trouble: String, CaseIterable {
        case cut = "HLS, cut every 60 kB (400 kB/s)"
        case slow = "HLS, 25 kB/s of music on a line of 30 kB/s"
    }

    /// The segment of 4:10, counted from 0.
    private static let wantedSegment = "list\(250 / 6).ts"
    private static let readers: Set<PlayerKind> = [.reprise, .mpv, .ffplay]
    private static let limit = Duration.seconds(20)

    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("HLS, 50 ms and 400 kB/s")
        let music = try await made()
        for _ in 0..<rounds {
            for kind in stage.players where readers.contains(kind) {
                let server = try TestOrigin(folder: music.path, shaping: BenchStage.slowLine)
                let folder = try TemporaryFolder()
                let (first, far) = try await stage.with(kind, [server.url("/list.m3u8")], folder: folder) {
                    run,
                    ear in
                    let first = try await heard(ear, server, since: run.begun)
                    guard kind.seeks, first.sound != nil else { return (first, Heard?.none) }
                    try await Task.sleep(for: .seconds(3))
                    let before = server.log.requests.count
                    let begun = ContinuousClock.now
                    try await run.seek(to: 250)
                    // 4:10 has the pitch of second 10.
                    var far = try await heard(ear, server, besides: before, of: [10, 11], since: begun)
                    // Those that come later are read-ahead.
                    let sent = server.log.requests.dropFirst(before)
                    let wanted = sent.firstIndex { $0.path.hasSuffix(Self.wantedSegment) }
                    if let wanted { far.requests = sent.distance(from: sent.startIndex, to: wanted) + 1 }
                    return (first, far)
                }
                table.add("first sound", .milliseconds, first.sound, of: kind)
                table.add("requests for it", .count, Double(first.requests), of: kind, atMost: 2)
                try await server.settle()
                let before = server.log.requests.count
                let again = try await stage.with(kind, [server.url("/list.m3u8")], folder: folder) {
                    run,
                    ear in
                    try await heard(ear, server, besides: before, since: run.begun)
                }
                table.add("the same again", .milliseconds, again.sound, of: kind)
                table.add("requests for that", .count, Double(again.requests), of: kind, atMost: 0)
                let name = "seek to 4:10, not there yet"
                table.add(
                    name,
                    .milliseconds,
                    far?.sound,
                    of: kind,
                    absent: kind.seeks ? "> 20 s" : "keys only"
                )
                table.add(name + ": requests", .count, far.map { Double($0.requests) }, of: kind, atMost: 1)
            }
        }
    }

    /// The first sound after `begun`, of these seconds of the music if they are given, and the requests that
    /// `server` has received until then besides the first `count` ones.
    private static func heard(
        _ ear: Ear,
        _ server: TestOrigin,
        besides count: Int = 0,
        of seconds: Set<Int>? = nil,
        since begun: ContinuousClock.Instant
    ) async throws -> Heard {
        let sound = try await ear.firstSound(of: seconds, after: begun, within: limit)
        let requests = server.log.requests.count - count
        return Heard(sound: sound.map { ($0 - begun) / .milliseconds(1) }, requests: requests)
    }

    /// The silence in 30 s of listening on bad lines.
    static func measureLines(_ stage: BenchStage, into table: inout FigureTable) async throws {
        table.begin("Silence in 30 s of listening")
        let music = try await made()
        for trouble in Trouble.allCases {
            let results = try await stage.together(stage.players.filter(readers.contains)) { kind in
                let rate: Int64 = trouble == .slow ? 30_000 : 400_000
                let server = try TestOrigin(
                    folder: music.path,
                    shaping: Shaping(roundTrip: .milliseconds(50), bytesPerSecond: rate),
                    faults: trouble == .cut ? [.cut(afterBytes: 60_000)] : []
                )
                return try await stage.with(kind, [server.url("/list.m3u8")]) { run, ear in
                    try await BadLines.silence(ear, after: run.begun)
                }
            }
            for (kind, silence) in results {
                let name = trouble.rawValue
                table.add(name, .seconds, silence, of: kind, atMost: 0.005, goal: "0", absent: "no sound")
            }
        }
    }

    /// A folder with `list.m3u8`: five minutes of MP3 in MPEG-TS, 25 kB/s, in segments of 6 s.
    private static func made() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let song = try await MP3Fixtures.bytes(.init(seconds: 300, rate: .constant(192)))
        _ = try folder.write(song, to: "song.mp3")
        let words = ["-v", "error", "-i", "song.mp3", "-c", "copy", "-f", "hls", "-hls_time", "6"]
        let list = ["-hls_playlist_type", "vod", "list.m3u8"]
        _ = try await RunningProcess.run("ffmpeg", words + list, folder: folder.path)
        return folder
    }
}
