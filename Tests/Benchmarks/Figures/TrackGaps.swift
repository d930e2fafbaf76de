import Foundation
import RepriseOrigin
import System
import TestSupport

/// The audible silence between two tracks of a playlist from the web.
enum TrackGaps {
    static func measure(_ stage: BenchStage, rounds: Int, into table: inout FigureTable) async throws {
        table.begin("Between tracks")
        let track = try await MP3Fixtures.bytes(.init(seconds: 4, rate: .constant(192)))
        for _ in 0..<rounds {
            let results = try await stage.together(stage.players.filter(\.takesLists)) { kind in
                let server = try stage.origin(["/1.mp3": track, "/2.mp3": track])
                return try await stage.with(kind, [server.url("/1.mp3"), server.url("/2.mp3")]) { run, ear in
                    guard let sound = try await ear.firstSound(after: run.begun) else { return Double?.none }
                    let start = ear.sample(at: sound)
                    try await Task.sleep(until: sound + .seconds(7))
                    let heard = ear.samples(from: start)
                    // A gap can be judged only if the second track, which begins with second 0 again, was
                    // heard.
                    guard ToneAnalysis.seconds(in: heard[...]).starts(with: [0, 1, 2, 3, 0, 1]) else {
                        return nil
                    }
                    let gaps = HeardSound.silences(in: heard[...]).map(\.count)
                    return Double(gaps.reduce(0, +)) / Ear.sampleRate * 1_000
                }
            }
            for (kind, gap) in results {
                table.add("silence between two tracks", .milliseconds, gap, of: kind, atMost: 0)
            }
        }
    }
}
