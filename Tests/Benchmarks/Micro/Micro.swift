import Cache
import Foundation
import Loading
import Media
import Playback
import TerminalUI
import TestSupport

/// Small pieces of code that run often, measured in instructions, which do not depend on the load.
struct Micro: Sendable {
    var name: String
    /// The work of one repetition, in words.
    var meaning: String
    /// The limit for one repetition on x86-64: 1.5 times the count when it was set.
    var budget: Double
    /// The number of repetitions that are counted.
    var repetitions = 200
    /// Runs this many repetitions.
    var run: @Sendable (Int) async throws -> Void

    static let all =
        [ranges, planning, committing, ring, diff, sanitising] + LongQueue.all

    private static let ranges = Micro(
        name: "ranges",
        meaning: "1 insertion, and the gaps around it, among 100 byte ranges",
        budget: 37_000
    ) { repetitions in
        var random = SeededGenerator(seed: 1)
        var stored = ByteRangeSet()
        for index in 0..<100 {
            stored.insert(contentsOf: Int64(index) * 65_536..<Int64(index) * 65_536 + 40_000)
        }
        var sum = 0
        for _ in 0..<repetitions {
            let start = Int64.random(in: 0..<6_500_000, using: &random)
            var changed = stored
            changed.insert(contentsOf: start..<start + 16_384)
            sum += changed.gaps(in: start - 200_000..<start + 200_000).count
            sum += changed.run(from: start) == nil ? 0 : 1
        }
        keep(sum)
    }

    private static let planning = Micro(
        name: "planning",
        meaning: "1 MB of a song: planned, answered, stored in pieces of 16 KB",
        budget: 2_900_000
    ) { repetitions in
        for _ in 0..<repetitions { keep(PlanningRun.bytes(1_000_000)) }
    }

    private static let committing = Micro(
        name: "committing",
        meaning: "64 KB written and committed to a cache folder: hash, file and index",
        budget: 1_050_000,
        repetitions: 20
    ) { repetitions in
        let folder = CacheFolder(path: try TemporaryFolder.lasting(), budget: .max)
        guard let url = WebURL("http://bench.example/song.mp3") else { return }
        let store = try await folder.open(url)
        let bytes = [UInt8](repeating: 7, count: 65_536)
        for index in 0..<repetitions {
            try await store.write(bytes, at: Int64(index) * 65_536)
            try await store.commit()
        }
        await store.close()
    }

    private static let ring = Micro(
        name: "ring",
        meaning: "1,152 frames into the PCM ring and out of it",
        budget: 1_700
    ) { repetitions in
        let space = SpaceSignal()
        let ring = PCMRing(
            format: AudioFormat(sampleRate: 44_100, channelCount: 2),
            frames: 22_050,
            space: space
        )
        var bytes = [UInt8](repeating: 7, count: 4_608)
        for _ in 0..<repetitions {
            _ = bytes.withUnsafeBytes { ring.write($0) }
            _ = bytes.withUnsafeMutableBytes { ring.read(into: $0) }
        }
        space.stop()
    }

    private static let diff = Micro(
        name: "diff",
        meaning: "what changed between two screens of 80 × 24, of which one row did",
        budget: 140_000
    ) { repetitions in
        var before = CellBuffer(columns: 80, rows: 24)
        for row in 0..<24 { before.draw(SafeText("▶ \(row) River – Reprise, 桜の季節"), column: 0, row: row) }
        var after = before
        after.draw("0:06 / 0:15", column: 60, row: 20)
        var sum = 0
        for _ in 0..<repetitions { sum += after.changedRows(since: before).count }
        keep(sum)
    }

    private static let sanitising = Micro(
        name: "sanitising",
        meaning: "a title of 40 characters, not all of them ASCII, with a control in it",
        budget: 30_000
    ) { repetitions in
        var sum = 0
        for _ in 0..<repetitions {
            sum += SafeText("Кино и весна – 桜の季節 \u{1B}[31m (live, 1999)").string.utf8.count
        }
        keep(sum)
    }
}

/// Keeps the optimizer from removing the computation of an unused result.
@inline(never)
func keep<Value>(_ value: Value) { withExtendedLifetime(value) {} }

extension TemporaryFolder {
    /// A folder that is not removed with its object; for a process that ends at once.
    static func lasting() throws -> String {
        let path = NSTemporaryDirectory() + "/reprise-micro-\(getpid())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}
