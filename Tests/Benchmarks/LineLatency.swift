import Foundation
import Media
import RepriseOrigin
import TestSupport

/// What a listener waits for over a line of 50 ms and 400 kB/s: the first sound, a far seek into what is not there,
/// and how long the server goes on sending what nobody wants any more.
///
/// The built player stands beside this program; the null sink takes no time of its own.
enum LineLatency {
    private static let runs = 7
    private static let seconds = 300

    static func measure(into table: inout FigureTable) async throws {
        for (name, rate) in [
            ("CBR", MP3Fixtures.Rate.constant(192)), ("VBR", .variable(quality: 0, hasXing: true)),
        ] {
            let bytes = try await MP3Fixtures.bytes(.init(seconds: seconds, rate: rate))
            var first: [Duration] = []
            var seeks: [Duration] = []
            var cancels: [Duration] = []
            for _ in 0..<runs {
                let run = try await LineRun(bytes)
                first.append(run.firstSound)
                let (seek, cancel) = try await run.seek(to: "4:00")
                seeks.append(seek)
                cancels.append(cancel)
                try await run.end()
            }
            table.add("line: first sound, cold, \(name)", medianOf: first)
            table.add("line: far seek to sound, \(name) (goal 50 + 60)", medianOf: seeks)
            table.add("line: seek to the end of what was under way, \(name) (goal 50)", medianOf: cancels)
        }
    }
}

/// One player that listens to one song, a window of which is always under way on so slow a line.
private final class LineRun: Sendable {
    private let folder: TemporaryFolder
    private let server: TestOrigin
    private let player: RunningProcess
    /// From the start of the process to its first sound.
    let firstSound: Duration

    init(_ bytes: [UInt8]) async throws {
        folder = try TemporaryFolder()
        server = try TestOrigin(
            ["/song.mp3": bytes],
            shaping: Shaping(roundTrip: .milliseconds(50), bytesPerSecond: 400_000)
        )
        let own = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let begun = ContinuousClock.now
        player = try RunningProcess(
            own.appendingPathComponent("reprise").path,
            ["--json", "--sink", "null", "--cache-dir", folder.path("cache"), server.url("/song.mp3")],
            environment: ["XDG_CONFIG_HOME": folder.path("config"), "http_proxy": nil, "all_proxy": nil]
        )
        try await player.waitForLine { $0.contains("\"event\":\"playing\"") }
        firstSound = ContinuousClock.now - begun
    }

    /// Seeks while a window is under way: the time to the first sound there, and the time until the server
    /// had nothing left to send of the old.
    func seek(to target: String) async throws -> (sound: Duration, cancel: Duration) {
        try await wait(for: "a window under way") {
            server.log.requests.contains { $0.outcome == .underWay && $0.bodyBytesSent > 0 }
        }
        let before = server.log.requests.count
        let lines = player.lines.count
        let begun = ContinuousClock.now
        try player.send("seek \(target)")
        async let ended = old(before, since: begun)
        try await player.waitForLine(from: lines) { $0.contains("\"event\":\"playing\"") }
        let sound = ContinuousClock.now - begun
        return (sound, try await ended)
    }

    private func old(_ count: Int, since begun: ContinuousClock.Instant) async throws -> Duration {
        while server.log.requests.prefix(count).contains(where: { $0.outcome == .underWay }) {
            try await Task.sleep(for: .milliseconds(1))
        }
        return ContinuousClock.now - begun
    }

    func end() async throws {
        try player.send("quit")
        try await player.waitForExit()
        await server.stop()
    }
}
