import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// What `du` says of the objects, looked at from outside all the while.
@Suite(.serialized) struct BudgetTests {
    private static let budget: Int64 = 50_000_000
    /// One window more may be on its way.
    private static let window: Int64 = 1 << 20
    private static let count = TestCount.isFull ? 500 : 100

    @Test func `however many tracks are played the folder stays within its budget`() async throws {
        let stage = try await Stage()
        var size: Int64 = 0
        for index in 0..<Self.count {
            // A megabyte each; each is one of its own by its address and its entity tag.
            let bytes = try await MP3Fixtures.bytes(
                MP3Fixtures.Options(seconds: 26, rate: .constant(320), seed: UInt64(index % 4))
            )
            size = max(size, Int64(bytes.count))
            var resource = OriginResource(bytes)
            resource.etag = "\"track-\(index)\""
            stage.server.origin.setResource(resource, at: Stage.path(index))
        }
        let run = try stage.session(
            (0..<Self.count).map { stage.url($0) },
            sink: "null:fast",
            options: ["--cache-size", "\(Self.budget)"]
        )
        var most: Int64 = 0
        try await wait(for: "the end of the music", deadline: .seconds(600)) {
            most = max(most, Self.taken(by: stage.cachePath + "/objects"))
            return !run.process.isRunning
        }
        try await run.finish()
        #expect(try run.ends.count == Self.count)
        TestCount.note("most above the budget", most - Self.budget)
        #expect(most <= Self.budget + Self.window)
        #expect(most > Self.budget * 9 / 10, "the budget was never put to the test")
        let words = try await RunningProcess.run("du", ["-s", "-B1", stage.cachePath + "/objects"])
        let taken = Int64(String(decoding: words.prefix { $0 != UInt8(ascii: "\t") }, as: UTF8.self))
        // The folder itself is counted too.
        #expect((taken ?? .max) <= Self.budget + 100_000)
        // What went was the oldest, though dozens are played within one second of the index's clock.
        let isCached = try (0..<Self.count).map { try !stage.claims($0).ranges.isEmpty }
        let picture = isCached.map { $0 ? "#" : "." }.joined()
        // One less for the last block of each, and one that went whole for the first bytes of another.
        #expect(isCached.suffix(Int(Self.budget / size) - 2).allSatisfy { $0 }, "kept: \(picture)")
        let oldest = isCached.firstIndex(of: true) ?? 0
        #expect(isCached[oldest...].allSatisfy { $0 }, "kept: \(picture)")
        #expect(oldest > 0, "kept: \(picture)")
    }

    /// The disk space that the files in `folder` take together, in bytes: never more than they really took at
    /// one moment, since each file is looked at twice and counts with the smaller of its two sizes.
    private static func taken(by folder: String) -> Int64 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let rounds = (0..<2).map { _ in names.map { taken(byFile: folder + "/" + $0) } }
        return zip(rounds[0], rounds[1]).reduce(0) { $0 + min($1.0, $1.1) }
    }

    private static func taken(byFile path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_blocks) * 512 : 0
    }
}
