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
                // A part that cannot be measured must not lose the others.
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
            ("decoding", { try await DecodeSpeed.measure(stage, isQuick: isQuick, into: &$0) }),
            ("HLS", { try await Streams.measure(stage, rounds: isQuick ? 1 : 5, into: &$0) }),
            ("formats", { try await Formats.measure(stage, isQuick: isQuick, into: &$0) }),
            ("start", { try await StartUp.measure(stage, rounds: 5, into: &$0) }),
            ("big queue", { try await BigQueue.measure(stage, rounds: isQuick ? 2 : 5, into: &$0) }),
            ("micro", { try await MicroCounts.measure(into: &$0) }),
        ]
        guard !isQuick else { return parts }
        parts += [
            ("savings", { try await Savings.measure(stage, into: &$0) }),
            ("bad lines", { try await BadLines.measure(stage, into: &$0) }),
            ("HLS on bad lines", { try await Streams.measureLines(stage, into: &$0) }),
            ("long music", { try await LongMusic.measure(stage, into: &$0) }),
            ("cache", { try await CacheScale.measure(into: &$0) }),
            ("floods", { try await Floods.measure(stage, into: &$0) }),
        ]
        return parts
    }
}

/// The command line of the benchmarks.
struct BenchOptions: Equatable {
    enum Task: Equatable {
        /// Everything; `isQuick` takes fewer rounds and leaves out what takes long.
        case table(isQuick: Bool)
        /// Only counts, checked against their bounds.
        case counts
        /// One piece of code, repeated, for counting its instructions.
        case micro(name: String, repetitions: Int)
    }

    static let usage = """
        usage: Benchmarks [--quick] [--json FILE] [--report FILE] [--only WORD] [--peers none]
               Benchmarks counts
               Benchmarks micro NAME REPETITIONS
        """

    var task = Task.table(isQuick: false)
    /// The file for all values.
    var json = ".build/bench.json"
    /// The Markdown document to write, such as `docs/benchmarks.md`.
    var report: String?
    /// Only the parts whose name holds this word.
    var only = ""
    var hasPeers = true

    /// `nil` for words that `usage` does not list.
    init?(_ words: [String]) {
        var rest = words[...]
        if rest.first == "micro" {
            guard rest.count == 3, let repetitions = Int(words[2]) else { return nil }
            task = .micro(name: words[1], repetitions: repetitions)
            return
        }
        if rest.first == "counts" {
            task = .counts
            rest = rest.dropFirst()
        }
        while let word = rest.popFirst() {
            switch word {
            case "--quick": task = .table(isQuick: true)
            case "--json":
                guard let value = rest.popFirst() else { return nil }
                json = value
            case "--report":
                guard let value = rest.popFirst() else { return nil }
                report = value
            case "--only":
                guard let value = rest.popFirst() else { return nil }
                only = value
            case "--peers":
                guard rest.popFirst() == "none" else { return nil }
                hasPeers = false
            default: return nil
            }
        }
    }
}

/// A measurement failed.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
