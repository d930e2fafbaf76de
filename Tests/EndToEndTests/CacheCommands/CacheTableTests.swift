import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// What `reprise cache` shows, through the built player.
@Suite(.serialized) struct CacheTableTests {
    @Test func `what was played in part is listed with its ranges, and told whole by info`() async throws {
        let music = try await CacheStage.long()
        let stage = try CacheStage(["/a.mp3": music])
        let gate = stage.server.origin.hold("/a.mp3", .afterBytesTogether(1_000_000))
        let player = try RunningProcess(
            BuiltProducts.reprise,
            [
                "--headless", "--json", "--sink", "null", "--cache-dir", stage.cachePath,
                stage.url("/a.mp3?key=secret"),
            ],
            environment: stage.environment
        )
        try await gate.reached()
        try await player.waitForLine { $0.contains(#""event":"playing""#) }
        try player.send("quit")
        try await player.waitForExit()
        gate.release()

        let list = try await stage.run("list")
        #expect(list.status == 0)
        #expect(list.lines.count == 3)
        #expect(list.lines[0].hasPrefix("  SIZE  CACHED  MAP"))
        let row = try #require(list.lines.dropFirst().first)
        #expect(row.hasPrefix("4.0 MB"))
        #expect(row.contains("█") && row.contains("·"))
        #expect(row.hasSuffix(stage.url("/a.mp3?…")))
        #expect(!list.text.contains("secret"))

        let info = try await stage.run("info", "--json", stage.url("/a.mp3?key=secret"))
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
        #expect(!info.text.contains("secret"))
        #expect(try await stage.run("info", stage.url("/a.mp3")).status == 2)
    }

    @Test func `the list is sorted and filtered, for people and for programs`() async throws {
        let stage = try CacheStage([
            "/a.mp3": try await CacheStage.short(1), "/b.mp3": try await CacheStage.long(),
        ])
        #expect(try await stage.run("list", hasFolder: false).lines == ["The cache is empty"])
        let missing = try await stage.run("list")
        #expect(missing.status == 1)
        #expect(missing.errorLines.count == 1 && missing.errors.contains("there is no cache in"))

        for path in ["/a.mp3", "/b.mp3"] { try await stage.fetch(path) }
        try await #require(stage.run("pin", "--only-mark", stage.url("/a.mp3")).status == 0)
        func sources(_ words: String...) async throws -> [String] {
            try await stage.run(["list", "--json"] + words).objects.compactMap { $0["source"] as? String }
        }
        let (a, b) = (stage.url("/a.mp3"), stage.url("/b.mp3"))
        #expect(try await sources("--sort", "size") == [b, a])
        #expect(try await sources("--sort", "size", "--reverse") == [a, b])
        #expect(try await sources("--sort", "source") == [a, b])
        #expect(try await sources("--pinned") == [a])
        #expect(try await sources("--complete", "B.MP3") == [b])
        #expect(try await sources("--partial").isEmpty)
        let object = try #require(try await stage.run("list", "--json", "a.mp3").objects.first)
        let now = Int(Date().timeIntervalSince1970)
        let played = try #require(object["lastPlayed"] as? Int)
        let created = try #require(object["created"] as? Int)
        #expect(created <= played && played <= now && now - created < 600)
        #expect(object["duration"] as? Double == 8)
        #expect(object["type"] as? String == "audio/mpeg")
        let allocated = try #require(object["allocated"] as? Int)
        #expect(allocated >= object["stored"] as? Int ?? .max)
        #expect(try await stage.run("list").lines.last?.hasSuffix("cached, 1 pinned") == true)
    }

    @Test func `list and info wait for nobody who holds the folder`() async throws {
        let stage = try CacheStage(["/a.mp3": try await CacheStage.short()])
        try await stage.fetch("/a.mp3")
        // Made anew by whoever makes the folder ready, which comes before asking for its lock.
        let objects = stage.cachePath + "/objects"
        try FileManager.default.removeItem(atPath: objects)
        let holder = open(stage.cachePath + "/lock", O_RDWR | O_CLOEXEC)
        defer { close(holder) }
        #expect(flock(holder, LOCK_EX) == 0)
        #expect(try await stage.run("list").text.contains(stage.url("/a.mp3")))
        #expect(try await stage.info("/a.mp3")?["complete"] as? Bool == true)
        let forecast = try await stage.run("evict", "--to", "0", "--dry-run")
        #expect(forecast.status == 0, "\(forecast)")
        #expect(!FileManager.default.fileExists(atPath: objects))
    }

    @Test func `a table fits a terminal, and clear asks on it`() async throws {
        let stage = try CacheStage([
            "/a.mp3": try await CacheStage.short(1), "/b.mp3": try await CacheStage.short(2),
        ])
        for path in ["/a.mp3", "/b.mp3"] { try await stage.fetch(path) }
        try await #require(stage.run("pin", "--only-mark", stage.url("/b.mp3")).status == 0)
        let refused = try await stage.run("clear")
        #expect(refused.status == 64)
        #expect(refused.errors == "reprise: cache clear: no terminal to confirm on; use --yes\n")

        let binary = BuiltProducts.reprise
        let cache = stage.cachePath
        let terminal = try await TmuxSession(
            [
                "sh", "-c",
                "\(binary) cache list --cache-dir \(cache); LC_ALL=C \(binary) cache list --cache-dir \(cache); "
                    + "\(binary) cache clear --cache-dir \(cache); echo ended-with-$?; "
                    + "\(binary) cache clear --cache-dir \(cache); echo then-with-$?; read line",
            ],
            columns: 44,
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
        let unicode = screen.filter { $0.contains(" kB   100 %") && $0.hasSuffix("…") }
        let ascii = screen.filter { $0.contains(" kB   100 %") && $0.hasSuffix("~") }
        #expect(unicode.count == 2 && ascii.count == 2, "\(screen)")
        try await terminal.sendKeys("n", "Enter")
        try await terminal.wait(for: "ended-with-0")
        #expect(try await stage.run("list", "--json").lines.count == 2)
        // Typed sooner, the answer would stand before its question, and break the lines elsewhere.
        try await wait(for: "the second question") { try await questions() == 2 }
        try await terminal.sendKeys("y", "Enter")
        try await terminal.wait(for: "then-with-0")
        let after = try await terminal.capture().joined(separator: "\n")
        #expect(after.contains("nothing was deleted"))
        #expect(after.contains("(1 track)"))
        #expect(after.contains("1 pinned left"))
        #expect(try await stage.run("list", "--json", "--pinned").lines.count == 1)
        let all = try await stage.run("clear", "--yes", "--pinned", "--json")
        #expect(try all.objects.first?["removed"] as? Int == 1)
        #expect(stage.objectFiles.isEmpty)
    }
}
