import Foundation
import RepriseOrigin
import System
import TestSupport

/// The silence heard within 30 s on bad lines.
enum BadLines {
    private static let time = Duration.seconds(30)

    private enum Trouble: String, CaseIterable {
        case cut = "cut every 300 kB (400 kB/s)"
        case stall = "nothing for 8 s after 700 kB (400 kB/s)"
        case slow = "24 kB/s of music on a line of 30 kB/s"
    }

    static func measure(_ stage: BenchStage, into table: inout FigureTable) async throws {
        table.begin("Silence in 30 s of listening")
        let song = try await stage.song()
        for trouble in Trouble.allCases {
            for (kind, silence) in try await stage.together(
                stage.players,
                { try await listen(stage, $0, song, trouble) }
            ) {
                let name = trouble.rawValue
                table.add(name, .seconds, silence, of: kind, atMost: 0.005, goal: "0", absent: "no sound")
            }
        }
    }

    private static func listen(
        _ stage: BenchStage,
        _ kind: PlayerKind,
        _ song: [UInt8],
        _ trouble: Trouble
    ) async throws -> Double? {
        let rate: Int64 = trouble == .slow ? 30_000 : 400_000
        let server = try stage.origin(
            ["/song.mp3": song],
            Shaping(roundTrip: .milliseconds(50), bytesPerSecond: rate),
            faults: trouble == .cut ? [.cut(afterBytes: 300_000)] : []
        )
        let gate = trouble == .stall ? server.origin.hold("/song.mp3", .afterBytesTogether(700_000)) : nil
        defer { gate?.release() }
        return try await stage.with(kind, [server.url("/song.mp3")]) { run, ear in
            try await silence(ear, after: run.begun) { sound in
                guard let gate else { return }
                while !gate.isReached, ContinuousClock.now < sound + time {
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await Task.sleep(for: .seconds(8))
                gate.release()
            }
        }
    }

    /// The silence, in seconds, within 30 s of the first sound after `begun`, during which `trouble` is made;
    /// `nil` without a sound.
    static func silence(
        _ ear: Ear,
        after begun: ContinuousClock.Instant,
        trouble: (ContinuousClock.Instant) async throws -> Void = { _ in }
    ) async throws -> Double? {
        guard let sound = try await ear.firstSound(after: begun) else { return nil }
        let start = ear.sample(at: sound)
        try await trouble(sound)
        try await Task.sleep(until: sound + time)
        let silences = HeardSound.silences(in: ear.samples(from: start)[...])
        return Double(silences.reduce(0) { $0 + $1.count }) / Ear.sampleRate
    }
}
