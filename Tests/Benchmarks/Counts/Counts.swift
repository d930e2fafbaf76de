import Foundation
import RepriseOrigin
import System
import TestSupport

/// Checks counts (bytes, requests, wake-ups, instructions) against bounds. They hold on any machine, however
/// busy, so `make test` checks them; times are for `make bench`.
enum Counts {
    /// Prints a line for each. Returns `true` if all hold.
    static func check() async throws -> Bool {
        var table = FigureTable()
        let stage = try await BenchStage([.reprise], &table)
        var counted: [Counted] = []
        counted += try await listen(stage)
        counted += try await seek(stage, in: "song.mp3", try await stage.variableSong())
        let wave = try MP3Fixtures.wave(.init(seconds: 300))
        counted += try await seek(stage, in: "song.wav", wave)
        counted += try await seek(stage, in: "song.flac", try await FLACFixtures.bytes(of: wave))
        let bare = try await FLACFixtures.bytes(of: wave, ["--no-seektable"])
        counted += try await seek(stage, in: "bare.flac", bare, atMost: 3)
        if MicroCounts.missing.isEmpty {
            for (micro, count) in try await MicroCounts.instructions() {
                counted.append(Counted("instructions, \(micro.name)", count.rounded(), atMost: micro.budget))
            }
            // Loading libraries and reading the options by ArgumentParser's reflection; little of it is the
            // program's own. Each option costs about 350,000.
            let start = Double(try await MicroCounts.startInstructions())
            counted.append(Counted("instructions, --version", start, atMost: 23_000_000))
        } else {
            print("instructions are not counted without \(MicroCounts.missing.joined(separator: " and "))")
        }
        for line in counted { print(line.text) }
        return counted.allSatisfy(\.holds)
    }

    /// Plays twelve seconds of a song, pauses, and plays them again.
    private static func listen(_ stage: BenchStage) async throws -> [Counted] {
        let server = try stage.origin(["/song.mp3": try await stage.song()])
        let folder = try TemporaryFolder()
        let cost = try await Listening.listen(stage, .reprise, from: server, folder: folder)
        server.log.reset()
        try await stage.with(.reprise, [server.url("/song.mp3")], folder: folder) { run, ear in
            _ = try await ear.firstSound(after: run.begun, within: .seconds(60))
        }
        let all = cost.pausedWakeUps ?? .infinity
        let ours = cost.ownPausedWakeUps ?? .infinity
        return [
            Counted("bytes for 12 s", Double(cost.bytes), atMost: Listening.Cost.mostBytes),
            Counted("requests for 12 s", Double(cost.requests), atMost: 12),
            Counted("wake-ups per second, playing", cost.wakeUps, atMost: 120),
            Counted("wake-ups per second, paused, ours", ours, atMost: 0),
            Counted("wake-ups per second, paused, all", all, atMost: 1.6),
            Counted("requests for the same again", Double(server.log.requests.count), atMost: 0),
        ]
    }

    /// A far seek while every answer is held at 64 KB: it must be heard after `most` requests without further
    /// bytes.
    private static func seek(
        _ stage: BenchStage,
        in name: String,
        _ song: [UInt8],
        atMost most: Double = 1
    ) async throws -> [Counted] {
        let server = try stage.origin(["/" + name: song], BenchStage.slowLine)
        return try await stage.with(.reprise, [server.url("/" + name)]) { run, ear in
            _ = try await ear.firstSound(after: run.begun, within: .seconds(60))
            let last = server.log.requests.last?.number ?? 0
            let gate = server.origin.hold("/" + name, .afterBytesOfEach(65_536))
            defer { gate.release() }
            let begun = ContinuousClock.now
            try await run.seek(to: 250)
            let sound = try await ear.firstSound(of: Set(8...12), after: begun, within: .seconds(60))
            let far = server.log.requests.filter {
                $0.number > last && !$0.sent.isEmpty && $0.sent.lowerBound > song.count / 2
            }
            // What is requested behind the first 64 KiB there is read-ahead, which begins once the music is
            // heard.
            let start = far.map(\.sent.lowerBound).min() ?? 0
            let needed = far.filter { $0.sent.lowerBound < start + 65_536 }
            return [
                Counted("a far seek in \(name) is heard", sound == nil ? 0 : 1, atLeast: 1),
                Counted("requests of a far seek in \(name)", Double(needed.count), atMost: most),
            ]
        }
    }
}

/// One count and its bounds.
struct Counted: Equatable {
    var name: String
    var count: Double
    var atLeast: Double
    var atMost: Double

    init(_ name: String, _ count: Double, atLeast: Double = 0, atMost: Double = .infinity) {
        self.name = name
        self.count = count
        self.atLeast = atLeast
        self.atMost = atMost
    }

    var holds: Bool { count >= atLeast && count <= atMost }

    var text: String {
        let bound = atMost < .infinity ? "at most \(Self.number(atMost))" : "at least \(Self.number(atLeast))"
        return "\(holds ? "ok    " : "FAILED") \(name): \(Self.number(count)), \(bound)"
    }

    private static func number(_ value: Double) -> String {
        String(format: value == value.rounded() ? "%.0f" : "%.2f", value)
    }
}
