import Foundation
import TestSupport

/// Instructions of the micro-benchmarks, as valgrind counts them: the same each time.
enum MicroCounts {
    /// The programs needed to count them that are not installed.
    static var missing: [String] { ["valgrind", "strip"].filter { RunningProcess.path(of: $0) == nil } }

    static func measure(into table: inout FigureTable) async throws {
        guard missing.isEmpty else {
            return table.skip("instructions, because \(missing.joined(separator: " and ")) is not installed")
        }
        table.begin("Instructions")
        for (micro, count) in try await instructions() {
            let name = "\(micro.name): \(micro.meaning)"
            table.add(name, .instructions, count.rounded(), atMost: micro.budget)
        }
    }

    /// Instructions for one repetition of each, without those of starting the process.
    static func instructions() async throws -> [(micro: Micro, count: Double)] {
        let folder = try TemporaryFolder()
        let program = try await stripped(CommandLine.arguments[0], in: folder)
        var counts: [(micro: Micro, count: Double)] = []
        for micro in Micro.all {
            let few = try await collected(program, ["micro", micro.name, "10"], folder)
            let many = try await collected(
                program,
                ["micro", micro.name, "\(10 + micro.repetitions)"],
                folder
            )
            counts.append((micro, Double(many - few) / Double(micro.repetitions)))
        }
        return counts
    }

    /// Instructions of `--version`: the cost of every start, the loading of libraries included.
    static func startInstructions() async throws -> Int {
        let folder = try TemporaryFolder()
        return try await collected(try await stripped(RepriseRun.binary, in: folder), ["--version"], folder)
    }

    /// A stripped copy of `program`: valgrind fails on Swift's debug information and does not need it.
    private static func stripped(_ program: String, in folder: TemporaryFolder) async throws -> String {
        let copy = folder.path("stripped")
        _ = try await RunningProcess.run("strip", ["--strip-debug", "-o", copy, program])
        return copy
    }

    private static func collected(
        _ program: String,
        _ arguments: [String],
        _ folder: TemporaryFolder
    ) async throws -> Int {
        let child = try RunningProcess(
            "valgrind",
            ["--tool=callgrind", "--callgrind-out-file=/dev/null", program] + arguments,
            environment: ["TMPDIR": folder.path]
        )
        try await child.waitForExit()
        guard let line = child.errorText.split(separator: "\n").last(where: { $0.contains("Collected :") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) })
        else { throw BenchmarkFailure("valgrind counted nothing: \(child.errorText)") }
        return count
    }
}
