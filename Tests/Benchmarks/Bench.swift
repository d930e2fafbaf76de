import Foundation

/// All measurements in order.
struct Bench {
    let options: BenchOptions
    let isQuick: Bool

    func measure() async throws -> (table: FigureTable, players: [PlayerKind]) {
        var table = FigureTable()
        let wanted: [PlayerKind] = options.hasPeers ? PlayerKind.allCases : [.reprise]
        let stage = try await BenchStage(wanted, &table)
        let rounds = isQuick ? 3 : 7
        for (name, part) in parts(stage, rounds) where options.only.isEmpty || name.contains(options.only) {
            let begun = ContinuousClock.now
            do {
                try await part(&table)
            } catch {
                // One part that cannot be measured is no reason to lose the others.
                table.skip("\(name), because \(error)")
            }
            let seconds = Int((ContinuousClock.now - begun) / .seconds(1))
            FileHandle.standardError.write(Data("measured \(name) in \(seconds) s\n".utf8))
        }
        return (table, stage.players)
    }

    private typealias Part = (inout FigureTable) async throws -> Void

    private func parts(_ stage: BenchStage, _ rounds: Int) -> [(String, Part)] {
        var parts: [(String, Part)] = [
            ("first sound", { try await FirstSounds.measure(stage, rounds: rounds, into: &$0) }),
            ("lists", { try await FirstSounds.measureLists(stage, rounds: rounds, into: &$0) }),
            ("listening", { try await Listening.measure(stage, rounds: isQuick ? 1 : 5, into: &$0) }),
            ("keys", { try await KeySounds.measure(stage, rounds: isQuick ? 1 : 5, into: &$0) }),
            ("gaps", { try await TrackGaps.measure(stage, rounds: isQuick ? 1 : 5, into: &$0) }),
            (
                "decoding",
                {
                    try await DecodeSpeed.measure(
                        stage,
                        rounds: isQuick ? 3 : 5,
                        minutes: isQuick ? 10 : 60,
                        into: &$0
                    )
                }
            ),
            ("start", { try await StartUp.measure(stage, rounds: 5, into: &$0) }),
            ("big queue", { try await BigQueue.measure(stage, rounds: isQuick ? 2 : 5, into: &$0) }),
            ("micro", { try await MicroCounts.measure(into: &$0) }),
        ]
        guard !isQuick else { return parts }
        parts += [
            ("savings", { try await Savings.measure(stage, into: &$0) }),
            ("bad lines", { try await BadLines.measure(stage, into: &$0) }),
            ("long music", { try await LongMusic.measure(stage, into: &$0) }),
            ("cache", { try await CacheScale.measure(into: &$0) }),
        ]
        return parts
    }
}
