import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Verifying, evicting and exporting cached music, through the built player.
@Suite(.serialized) struct CacheMendingTests {
    @Test func `verify finds damage, mends it, and says so by its code`() async throws {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music])
        try await stage.fetch("/a.mp3")
        let good = try await stage.cache("verify")
        #expect(good.status == 0)
        #expect(good.lines == ["checked 1 track, 4.0 MB: all OK"])
        #expect(good.errors.isEmpty)
        #expect(good.errorLines.count <= 10)

        try flipBit(at: 2_000_000, in: try #require(stage.objectFiles.first))
        let bad = try await stage.cache("verify")
        #expect(bad.status == 3)
        #expect(bad.lines.first == "damaged: \(stage.url("/a.mp3"))")
        #expect(bad.lines.last?.contains("in 1 track were damaged") == true)
        #expect(!bad.errors.contains("reprise:"))
        let ranges = try await stage.ranges("/a.mp3")
        #expect(!ranges.contains { $0[0] <= 2_000_000 && 2_000_000 < $0[1] })
        let missing = music.count - ranges.reduce(0) { $0 + $1[1] - $1[0] }

        // Only the dropped bytes are downloaded again, and then all bytes are valid.
        stage.server.log.reset()
        try await stage.fetch("/a.mp3")
        #expect(stage.server.log.bytesSent == Int64(missing))
        try flipBit(at: 70_000, in: try #require(stage.objectFiles.first))
        let told = try await stage.cache("verify", "--json")
        #expect(told.status == 3)
        let damage = try #require(try told.objects.first)
        #expect(damage["source"] as? String == stage.url("/a.mp3"))
        let lost = try #require(damage["damaged"] as? [[Int]])
        #expect(lost.count == 1 && lost[0][0] <= 70_000 && 70_000 < lost[0][1])
        #expect(try told.objects.last?["damagedBytes"] as? Int == lost[0][1] - lost[0][0])
        try await stage.fetch("/a.mp3")
        let again = try await stage.cache("verify", "--json")
        #expect(again.status == 0)
        #expect(again.errors.isEmpty)
        #expect(try again.objects.first?["bytes"] as? Int == music.count)
        #expect(try again.objects.first?["damagedEntries"] as? Int == 0)
    }

    @Test func `evict drops what is named or what is too much, and keeps pins`() async throws {
        let stage = try await Stage.brief(3, isFetched: true, pinned: "/a.mp3")
        let words = ["/a.mp3", "/b.mp3", "/none.mp3"].map { stage.url($0) }
        let named = try await stage.cache(["evict"] + words)
        #expect(named.status == 3)
        #expect(named.lines.first?.hasPrefix("freed 3") == true)
        #expect(named.lines.first?.hasSuffix(" (1 track); 1 pinned left; 1 not cached") == true)
        #expect(try await stage.info("/b.mp3") == nil)
        #expect(try await stage.info("/a.mp3")?["complete"] as? Bool == true)

        let size = try await stage.cache("evict", "--to", "100k")
        #expect(size.status == 3)
        #expect(size.errors.contains("are left; the rest is pinned or in use"))
        #expect(try await stage.cache("list", "--json").lines.count == 1)
        #expect(try await stage.cache("evict", "--to", "0", "--pinned").status == 0)
        #expect(try await stage.cache("list").lines == ["The cache is empty"])
        #expect(stage.objectFiles.isEmpty)
    }

    @Test func `export writes the music out byte for byte, once and whole`() async throws {
        let music = try await ExactMusic.brief()
        let stage = try await Stage.brief(isFetched: true)
        let first = try await stage.cache("export", stage.url("/a.mp3"), "out.mp3")
        #expect(first.status == 0)
        #expect(first.errors.isEmpty)
        #expect(stage.content("out.mp3") == music)
        try stage.folder.write("mine", to: "out.mp3")
        let second = try await stage.cache("export", stage.url("/a.mp3"), "out.mp3")
        #expect(second.status == 2)
        #expect(second.errors.contains("exists already"))
        #expect(stage.content("out.mp3") == Array("mine".utf8))
        #expect(try await stage.cache("export", "--force", stage.url("/a.mp3"), "out.mp3").status == 0)
        #expect(stage.content("out.mp3") == music)
        #expect(try await stage.cache("export", stage.url("/a.mp3"), "-").bytes == music)
        #expect(try await stage.cache("export", stage.url("/none.mp3"), "none.mp3").status == 2)
        let left = try FileManager.default.contentsOfDirectory(atPath: stage.folder.path)
        #expect(!left.contains { $0.contains("reprise-export") } && !left.contains("none.mp3"))
    }

    @Test func `a track with gaps is exported only in part, with zeros, and its gaps are named`() async throws
    {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music])
        try await stage.fetch("/a.mp3")
        try flipBit(at: 2_000_000, in: try #require(stage.objectFiles.first))
        // Not known to be damaged yet: found while it is written.
        let found = try await stage.cache("export", stage.url("/a.mp3"), "out.mp3")
        #expect(found.status == 3)
        #expect(found.errorLines.contains { $0.contains("incomplete") && $0.contains("nothing was written") })
        #expect(stage.content("out.mp3") == nil)

        _ = try await stage.cache("verify")
        let ranges = try await stage.ranges("/a.mp3")
        let refused = try await stage.cache("export", stage.url("/a.mp3"), "out.mp3")
        #expect(refused.status == 3)
        #expect(refused.errors.contains("bytes \(ranges[0][1])-\(ranges[1][0])"))
        let part = try await stage.cache("export", "--partial", stage.url("/a.mp3"), "out.mp3")
        #expect(part.status == 3)
        #expect(part.errors.contains("the file has zeros there"))
        var expected = music
        for offset in ranges[0][1]..<ranges[1][0] { expected[offset] = 0 }
        #expect(stage.content("out.mp3") == expected)
    }
}
