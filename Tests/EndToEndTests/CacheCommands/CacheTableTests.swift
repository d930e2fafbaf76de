import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// What `reprise cache` shows, through the built player.
@Suite(.serialized) struct CacheTableTests {
    @Test func `what is heard again is counted as saved, and what a download brings is not`() async throws {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music, "/b.mp3": music + [0]])
        func savings() async throws -> [String: [String: Int]] {
            let object = try #require(try await stage.cache("savings", "--json").objects.first)
            return object.compactMapValues { $0 as? [String: Int] }
        }
        #expect(try await stage.cache("fetch", stage.url("/b.mp3")).status == 0)
        #expect(try await savings()["total"] == ["saved": 0, "heard": 0])
        let first = try await stage.play([stage.url("/a.mp3")])
        #expect(first.status == 0, "\(first.errors)")
        #expect(try await savings()["total"] == ["saved": 0, "heard": music.count])
        let again = try await stage.play(["/a.mp3", "/b.mp3"].map { stage.url($0) })
        #expect(again.status == 0, "\(again.errors)")
        let sums = ["saved": 2 * music.count + 1, "heard": 3 * music.count + 1]
        for period in ["today", "month", "total"] { #expect(try await savings()[period] == sums) }
        let lines = try await stage.cache("savings").lines
        #expect(lines.count == 4 && lines[3].hasSuffix("66 %  127.0.0.1"), "\(lines)")
    }

    @Test func `a track played in part is listed with its ranges, and described by info`() async throws {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music])
        let gate = stage.server.origin.hold("/a.mp3", .afterBytesTogether(1_000_000))
        let player = try stage.startPlaying([stage.url("/a.mp3?key=secret")])
        try await gate.reached()
        try await player.event("playing")
        try player.send("quit")
        try await player.waitForExit()
        gate.release()

        let list = try await stage.cache("list")
        #expect(list.status == 0)
        try #require(list.lines.count == 3)
        #expect(list.lines[0].hasPrefix("  SIZE  CACHED  MAP"))
        let row = list.lines[1]
        #expect(row.hasPrefix("4.0 MB") && row.hasSuffix(stage.url("/a.mp3?…")))
        #expect(row.contains("━") && row.contains("┈"))
        #expect(!list.output.contains("secret"))

        let info = try await stage.cache("info", "--json", stage.url("/a.mp3?key=secret"))
        let object = try #require(try info.objects.first)
        let stored = try #require(object["stored"] as? Int)
        #expect(stored > 0 && stored <= 1_000_000 && stored < music.count)
        #expect(object["size"] as? Int == music.count)
        #expect(object["complete"] as? Bool == false)
        #expect(object["seekable"] as? Bool == true)
        #expect(object["pinned"] as? Bool == false)
        #expect(object["etag"] as? String == OriginResource(music).etag)
        #expect(object["lastModified"] as? String == "Mon, 01 Jan 2024 00:00:00 GMT")
        let ranges = try #require(object["ranges"] as? [[Int]])
        #expect(ranges.first?.first == 0)
        #expect(ranges.reduce(0) { $0 + $1[1] - $1[0] } == stored)
        #expect(!info.output.contains("secret"))
        #expect(try await stage.cache("info", stage.url("/a.mp3")).status == 2)
    }

    @Test func `the list is sorted and filtered, for people and for programs`() async throws {
        let stage = try await Stage([
            "/a.mp3": try await ExactMusic.brief(1), "/b.mp3": try await ExactMusic.steady.bytes,
        ])
        #expect(try await stage.run(["cache", "list"]).lines == ["The cache is empty"])
        let missing = try await stage.cache("list")
        expectOneSentence(missing, ["no cache in this folder"], status: 1)

        for path in ["/a.mp3", "/b.mp3"] { try await stage.fetch(path) }
        try await #require(stage.cache("pin", "--only-mark", stage.url("/a.mp3")).status == 0)
        let a = stage.url("/a.mp3")
        let b = stage.url("/b.mp3")
        #expect(try await stage.cachedSources("--sort", "size", "--reverse") == [a, b])
        #expect(try await stage.cachedSources("--pinned") == [a])
        #expect(try await stage.cachedSources("--complete", "B.MP3") == [b])
        let object = try #require(try await stage.cache("list", "--json", "a.mp3").objects.first)
        let now = Int(Date().timeIntervalSince1970)
        let played = try #require(object["lastPlayed"] as? Int)
        let created = try #require(object["created"] as? Int)
        #expect(created <= played && played <= now && now - created < 600)
        #expect(object["duration"] as? Double == 8)
        #expect(object["type"] as? String == "audio/mpeg")
        let allocated = try #require(object["allocated"] as? Int)
        #expect(allocated >= object["stored"] as? Int ?? .max)
        #expect(try await stage.cache("list").lines.last?.hasSuffix("cached, 1 pinned") == true)
    }

    @Test func `list and info wait for nobody who holds the folder`() async throws {
        let stage = try await Stage.brief(isFetched: true)
        // Made anew by whoever makes the folder ready, which comes before asking for its lock.
        let objects = stage.cachePath + "/objects"
        try FileManager.default.removeItem(atPath: objects)
        let holder = open(stage.cachePath + "/lock", O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(try await stage.cache("list").output.contains(stage.url("/a.mp3")))
        #expect(try await stage.info("/a.mp3")?["complete"] as? Bool == true)
        let forecast = try await stage.cache("evict", "--to", "0", "--dry-run")
        #expect(forecast.status == 0, "\(forecast)")
        #expect(!FileManager.default.fileExists(atPath: objects))
    }

    @Test func `a table fits a terminal, and clear asks on it`() async throws {
        let stage = try await Stage.brief(2, isFetched: true, pinned: "/b.mp3")
        let refused = try await stage.cache("clear")
        #expect(refused.status == 64)
        #expect(refused.errors == "reprise: cache clear: no terminal to confirm on; use --yes\n")

        let script = """
            cache() { '\(BuiltProducts.reprise)' cache $1 --cache-dir '\(stage.cachePath)'; }
            cache list; LC_ALL=C cache list; cache clear; echo ended-with-$?; cache clear; echo then-with-$?; read line
            """
        let terminal = try await TmuxSession(
            ["sh", "-c", script],
            columns: 80,
            environment: ["LC_ALL": "C.UTF-8"]
        )
        // How many questions are on the screen; a long path of the folder wraps them anywhere.
        func questions() async throws -> Int {
            try await terminal.capture().joined().components(separatedBy: "[y/N]").count - 1
        }
        try await wait(for: "the first question") { try await questions() == 1 }
        let screen = try await terminal.capture()
        // The last column begins on the first character of its title, and nothing wrapped.
        #expect(screen.contains { $0.hasPrefix("  SIZE  CACHED") && $0.hasSuffix("TITLE") })
        let unicode = screen.filter { $0.contains(" kB   100 %  ━━━━━━━━━━  ") }
        let ascii = screen.filter { $0.contains(" kB   100 %  ##########  ") }
        #expect(unicode.count == 2 && ascii.count == 2, "\(screen)")
        try await terminal.sendKeys("n", "Enter")
        try await terminal.wait(for: "ended-with-0")
        #expect(try await stage.cache("list", "--json").lines.count == 2)
        // Typed sooner, the answer would stand before its question, and break the lines elsewhere.
        try await wait(for: "the second question") { try await questions() == 2 }
        try await terminal.sendKeys("y", "Enter")
        try await terminal.wait(for: "then-with-0")
        let after = try await terminal.capture().joined(separator: "\n")
        #expect(after.contains("nothing was deleted"))
        #expect(after.contains("(1 track)"))
        #expect(after.contains("1 pinned left"))
        #expect(try await stage.cache("list", "--json", "--pinned").lines.count == 1)
        let all = try await stage.cache("clear", "--yes", "--pinned", "--json")
        #expect(try all.objects.first?["removed"] as? Int == 1)
        #expect(stage.objectFiles.isEmpty)
    }
}
