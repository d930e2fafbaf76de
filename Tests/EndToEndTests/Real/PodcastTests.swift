import Foundation
import TestSupport
import Testing

/// Podcast feeds from nginx, through the built player.
@Suite(.serialized) struct PodcastTests {
    private let stage: Stage
    private let server: NginxServer
    private let web: String
    private let feed: String

    /// Two episodes of 100 and 120 seconds, and a feed that names the older one first.
    init() async throws {
        stage = try await Stage([:])
        web = try stage.folder.makeFolder("web")
        server = try await NginxServer(serving: web)
        feed = server.url("/feed.rss")
        try await addEpisode("new.mp3", seconds: 100)
        try await addEpisode("old.mp3", seconds: 120)
        try writeFeed()
    }

    private func addEpisode(_ name: String, seconds: Int) async throws {
        let small = MP3Fixtures.Options(
            seconds: seconds,
            rate: .constant(32),
            sampleRate: 16_000,
            isMono: true
        )
        try stage.folder.write(try await MP3Fixtures.bytes(small), to: "web/\(name)")
    }

    /// Writes the feed, with these URLs of the older and the newer episode.
    private func writeFeed(old: String = "old.mp3", new: String = "new.mp3") throws {
        let items = [("1", "Fog", 21, old), ("2", "Gale", 22, new)].map { guid, title, day, url in
            """
            <item><guid>\(guid)</guid><title>\(title)</title><pubDate>\(day) Nov 2026 08:00 GMT</pubDate>
            <enclosure url="\(url)" type="audio/mpeg"/></item>
            """
        }
        let text = "<rss version=\"2.0\"><channel><title>Harbour</title>\(items.joined())</channel></rss>"
        try stage.folder.write(text, to: "web/feed.rss")
    }

    /// The statuses of the requests for a file, in their order.
    private func statuses(_ name: String) -> [Int] {
        server.accesses.filter { $0.target.hasSuffix("/" + name) }.map(\.status)
    }

    private func bytesSent(_ name: String) -> Int {
        server.accesses.filter { $0.target.hasSuffix("/" + name) }.reduce(0) { $0 + $1.bytes }
    }

    private func titles(_ run: Ending) -> [String] {
        run.events("track").compactMap(\.title).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private func screen(_ arguments: [String]) async throws -> ScreenStage {
        let screen = try await ScreenStage(["--read-ahead", "all"] + arguments, folder: stage.folder)
        try await screen.terminal.wait(for: "2 tracks")
        return screen
    }

    @Test
    func `the newest episode comes first, an unchanged feed costs a 304, and offline its last state plays`()
        async throws
    {
        let first = try await stage.play([feed])
        #expect(first.status == 0 && first.finished.count == 2, "\(first.errors)")
        #expect(titles(first) == ["Gale", "Fog"])
        #expect(first.events("track").allSatisfy { $0.artist == "Harbour" })
        try await server.settle()
        #expect(statuses("feed.rss") == [206])
        let asked = server.accesses.count
        #expect(titles(try await stage.play([feed])) == ["Gale", "Fog"])
        try await server.settle()
        #expect(statuses("feed.rss") == [206, 304] && server.accesses.count == asked + 1)
        try await server.stop()
        let away = try await stage.play(["--offline", feed])
        #expect(away.status == 0 && titles(away) == ["Gale", "Fog"])
        // Without a screen nothing is remembered.
        #expect(!FileManager.default.fileExists(atPath: stage.folder.path("state")))
    }

    @Test func `an episode that moved is not downloaded again, and one with other bytes is another entry`()
        async throws
    {
        #expect(try await stage.play([feed]).status == 0)
        // The modification time and the size make nginx's tag.
        system("cd '\(web)' && mv old.mp3 moved-elsewhere.mp3")
        try writeFeed(old: "moved-elsewhere.mp3")
        let moved = try await stage.play([feed])
        #expect(moved.status == 0 && moved.finished.count == 2, "\(moved.errors)")
        let size = try Data(contentsOf: URL(fileURLWithPath: web + "/moved-elsewhere.mp3")).count
        #expect(bytesSent("moved-elsewhere.mp3") < size / 2)
        let sources = try await stage.cachedSources()
        #expect(sources.sorted() == ["/feed.rss", "/new.mp3", "/old.mp3"].map { server.url($0) }.sorted())

        try await addEpisode("replaced-by-another.mp3", seconds: 90)
        try writeFeed(old: "replaced-by-another.mp3")
        #expect(try await stage.play([feed]).status == 0)
        #expect(try await stage.cachedSources().contains(server.url("/replaced-by-another.mp3")))
        #expect(try await stage.cachedSources().contains(server.url("/old.mp3")))
    }

    @Test func `position and played state follow an episode to its new URL, and offline its old bytes play`()
        async throws
    {
        let online = try await screen([feed])
        try await online.waitForStatus("Playing")
        try await online.wait(for: "the newest episode first") {
            try await $0.hasRow("▶ 1   Gale", " 2026-11-22 ")
        }
        try await online.command("seek 1:08")
        // It ends at 1:40.
        try await online.wait(for: "1:11") { try await ($0.position ?? 0) >= 71 }
        try await online.keys(">")
        try await online.waitForCurrent(2)
        try await online.wait(for: "the mark") { try await $0.hasRow("✓ 1 ", "2026") }
        try await online.command("seek 0:45")
        try await online.wait(for: "0:46") { try await ($0.position ?? 0) >= 46 }
        try await online.wait(for: "cached bytes") { try await $0.hasRow("Fog", "━") }
        try await online.quit()

        // The new URL has no file yet. The next session reads the feed, but can't play the episode.
        try writeFeed(old: "a-new-place.mp3")
        let moved = try await screen(["--repeat", "one", feed])
        try await moved.wait(for: "cached bytes") { try await $0.hasRow("Gale", "━") }
        try await moved.keys("f")
        try await moved.terminal.type("played:no")
        try await moved.keys("Enter")
        try await moved.wait(for: "the unplayed episode alone") { stage in
            let rows = try await stage.terminal.capture()
            return rows.contains { $0.contains("Fog") } && rows[0].contains("1 of 2")
        }
        try await moved.quit()

        let away = try await screen(["--offline", feed])
        try await away.command("jump 2")
        try await away.waitForCurrent(2)
        try await away.wait(for: "the old bytes at 0:46") { stage in
            let status = try await stage.status
            let position = try await stage.position
            return status.hasPrefix("Playing") && (46..<60).contains(position ?? 0)
        }
        try await away.command("unplayed 1")
        try await away.wait(for: "the mark to go") { try await !$0.hasRow("✓") }
        try await away.command("played 1")
        try await away.wait(for: "the mark") { try await $0.hasRow("✓ 1") }
        try await away.quit()

        // Marks outlive the cached bytes.
        #expect(try await stage.cache("clear", "--yes").status == 0)
        let cleared = try await screen(["--repeat", "one", feed])
        try await cleared.command("jump 2")
        try await cleared.wait(for: "the mark") { try await $0.hasRow("✓ 1") }
        try await cleared.quit()
    }

    @Test
    func `without a screen, remembered episodes are reported and found offline, and nothing is written`()
        async throws
    {
        #expect(try await stage.play([feed]).status == 0)
        let lines = "played\t\(feed)\t2\n"
        try stage.folder.write(lines, to: "state/reprise/episodes")
        // The new URL has no file.
        try writeFeed(old: "a-new-place.mp3")
        #expect(try await stage.play([feed]).status == 3)
        try await server.stop()
        let away = try await stage.play(["--offline", feed])
        #expect(away.status == 0 && titles(away) == ["Gale", "Fog"], "\(away.errors)")
        for part in [#""date":"2026-11-22","played":true"#, #""date":"2026-11-21","played":false"#] {
            #expect(away.lines.contains { $0.contains(part) }, "\(part)")
        }
        let folder = stage.folder.path("state/reprise")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["episodes"])
        #expect(try String(contentsOfFile: folder + "/episodes", encoding: .utf8) == lines)
    }

    @Test func `an OPML file plays all of its feeds, in their order`() async throws {
        try stage.folder.write(
            """
            <feed xmlns="http://www.w3.org/2005/Atom"><title>Sea</title><entry><id>1</id><title>Tide</title>
            <published>2026-11-23T08:00:00Z</published><link rel="enclosure" type="audio/mpeg" href="new.mp3"/>
            </entry></feed>
            """,
            to: "web/sea"
        )
        let opml = """
            <opml version="2.0"><body><outline text="All"><outline type="rss" xmlUrl="\(feed)"/>
            <outline type="rss" xmlUrl="\(server.url("/sea"))"/></outline></body></opml>
            """
        let run = try await stage.play([try stage.folder.write(opml, to: "subscriptions.opml")])
        #expect(run.status == 0 && titles(run) == ["Gale", "Fog", "Tide"], "\(run.errors)")
    }

    @Test func `a feed that is broken or empty is refused in one sentence`() async throws {
        for (text, part) in [
            ("<rss><channel>", "can't read this podcast feed"), ("<rss/>", "the feed has no episodes"),
        ] {
            try stage.folder.write(text, to: "web/feed.rss")
            expectOneSentence(try await stage.play(["--refresh", feed]), ["/feed.rss", part], status: 2)
        }
    }
}

extension ScreenStage {
    /// `true` if a row of the screen begins, behind the margin, with `start`.
    fileprivate func hasRow(_ start: String) async throws -> Bool {
        try await terminal.capture().contains { $0.hasPrefix(" " + start) }
    }

    /// `true` if a row of the screen contains both texts.
    fileprivate func hasRow(_ first: String, _ second: String) async throws -> Bool {
        try await terminal.capture().contains { $0.contains(first) && $0.contains(second) }
    }
}
