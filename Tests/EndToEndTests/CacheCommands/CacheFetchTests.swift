import Foundation
import Media
import RepriseOrigin
import TestSupport
import Testing

/// Music made available offline, through the built player.
@Suite(.serialized) struct CacheFetchTests {
    @Test func `a fetched playlist plays offline, and a second fetch asks for no music`() async throws {
        let paths = ["/a.mp3", "/b.mp3", "/c.mp3", "/d.mp3"]
        let stage = try await Stage.brief(4)
        let entries = "#EXTM3U\na.mp3\nb.mp3\n#EXTINF:8,Who - What\nc.mp3\nd.mp3\na.mp3\n"
        stage.server.set(Array(entries.utf8), at: "/list.m3u8")
        let list = stage.url("/list.m3u8")

        let gates = paths.map { stage.server.origin.hold($0, .beforeHead) }
        let fetching = try stage.start(["cache", "fetch", list, "--cache-dir", stage.cachePath])
        try await gates[0].reached()
        try await gates[1].reached()
        #expect(!gates[2].isReached && !gates[3].isReached)
        for gate in gates { gate.release() }
        let first = try await Ending(of: fetching)
        #expect(first.status == 0)
        #expect(first.lines.count == 4)
        #expect(first.lines.allSatisfy { $0.hasPrefix("downloaded 3") })
        // The names that the queue shows.
        #expect(
            Set(first.lines.map { String($0.dropFirst("downloaded 300 kB  ".count)) }) == [
                "a.mp3", "b.mp3", "What – Who", "d.mp3",
            ]
        )
        #expect(first.errorLines == ["4 of 4 tracks are available offline, 1.3 MB downloaded"])
        for (index, path) in paths.enumerated() {
            let whole = ByteRangeSet(0..<Int64(try await ExactMusic.brief(UInt64(index + 1)).count))
            #expect(stage.server.log.sentRanges(for: path) == whole)
            #expect(stage.server.log.bytesSent(for: path) == whole.byteCount)
        }
        #expect(Self.mostAtATime(stage.server.log.requests.filter { $0.path != "/list.m3u8" }) == 2)

        stage.server.log.reset()
        let second = try await stage.cache("fetch", "--json", list)
        #expect(second.status == 0)
        #expect(second.errors.isEmpty)
        let objects = try second.objects
        #expect(objects.count == 4)
        #expect(objects.allSatisfy { $0["fetched"] as? Int == 0 && $0["error"] is NSNull })
        #expect(objects.contains { $0["title"] as? String == "What" })
        #expect(stage.server.log.requests.allSatisfy { $0.path == "/list.m3u8" })

        await stage.server.stop()
        let played = try await stage.play(["--offline", list])
        #expect(played.status == 0)
        #expect(played.lines.count { $0.contains(#""reason":"finished""#) } == 5)
    }

    @Test(arguments: [SIGKILL, SIGINT])
    func `a fetch that was ended continues where it was, and no byte is sent twice`(signal: Int32)
        async throws
    {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music])
        let gate = stage.server.origin.hold("/a.mp3", .afterBytesTogether(2_000_000))
        let process = try stage.start(["cache", "fetch", stage.url("/a.mp3"), "--cache-dir", stage.cachePath])
        try await wait(for: "two megabytes to be cached") {
            try await stage.info("/a.mp3")?["stored"] as? Int == 2_000_000
        }
        process.signal(signal)
        let status = try await process.waitForExit()
        #expect(status == (signal == SIGINT ? 4 : -SIGKILL))
        let stopped = "Stopped at 0 of 1 track, 2.0 MB downloaded – run it again to go on\n"
        #expect(process.errorText == (signal == SIGINT ? stopped : ""))
        #expect(try await stage.info("/a.mp3")?["stored"] as? Int == 2_000_000)
        let before = stage.server.log.sentRanges(for: "/a.mp3")
        #expect(stage.server.log.bytesSent == 2_000_000)

        // From here on, the log has no bytes that the server still sends to the ended fetch.
        stage.server.log.reset()
        gate.release()
        let again = try await stage.cache("fetch", stage.url("/a.mp3"))
        #expect(again.status == 0)
        let after = stage.server.log.sentRanges(for: "/a.mp3")
        #expect(after == ByteRangeSet(0..<Int64(music.count)).subtracting(before))
        #expect(stage.server.log.bytesSent == Int64(music.count) - 2_000_000)
        #expect(try await stage.cache("export", stage.url("/a.mp3"), "-").bytes == music)
    }

    @Test func `a list that is named as music is read, and its tracks are fetched and pinned`() async throws {
        let stage = try await Stage.brief(2)
        stage.server.set(Array("#EXTM3U\na.mp3\nb.mp3\ngone.m3u\n".utf8), at: "/inner.mp3")
        stage.server.set(Array("#EXTM3U\nb.mp3\ninner.mp3\n".utf8), at: "/outer.mp3")
        let run = try await stage.cache("pin", stage.url("/outer.mp3"))
        #expect(run.status == 3 && run.lines.count == 2, "\(run.output)")
        #expect(run.lines.allSatisfy { $0.hasPrefix("downloaded 3") })
        #expect(run.errors.contains("gone.m3u") && run.errors.contains("2 of 3 tracks are available offline"))
        #expect(stage.server.log.requests.count { $0.path == "/inner.mp3" } == 1)
        for name in ["/a.mp3", "/b.mp3", "/inner.mp3"] {
            #expect(try await stage.info(name)?["pinned"] as? Bool == true, "\(name)")
        }
        let live = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n1.ts\n"
        stage.server.set(Array(live.utf8), at: "/live.mp3")
        stage.server.set(stage.musicBytes, at: "/1.ts")
        let refused = try await stage.cache("fetch", stage.url("/live.mp3"))
        #expect(refused.status == 2 && refused.errors.contains("a live stream can't be cached"))
        for name in ["/live.mp3", "/1.ts"] { #expect(try await stage.info(name) == nil, "\(name)") }
    }

    @Test func `a track evicted for the rest of a fetch is not called available`() async throws {
        let stage = try await Stage.brief(3)
        let words = ["/a.mp3", "/b.mp3", "/c.mp3"].map { stage.url($0) }
        let run = try await stage.cache(["fetch", "--cache-size", "700k"] + words)
        #expect(run.status == 3)
        #expect(run.errorLines.contains { $0.contains("was evicted to make room for the others") })
        #expect(run.errorLines.last?.hasPrefix("2 of 3 tracks are available offline") == true)
        #expect(try await stage.cache("list", "--json", "--complete").lines.count == 2)
    }

    @Test func `a track that cannot be fetched fails alone, in one sentence, and the exit code tells`()
        async throws
    {
        let stage = try await Stage.brief()
        stage.server.origin.setResource(OriginResource(text: "<html>no music</html>"), at: "/page.mp3")
        let forbidden = OriginResource(
            try await ExactMusic.brief(2),
            headers: [HTTPField("Cache-Control", "no-store")]
        )
        stage.server.origin.setResource(forbidden, at: "/forbidden.mp3")
        let local = try stage.folder.write(try await ExactMusic.brief(), to: "local.mp3")
        let secret = "hunter2"
        let web = ["/a.mp3", "/none.mp3?token=\(secret)", "/page.mp3", "/forbidden.mp3"].map { stage.url($0) }
        let run = try await stage.cache(["fetch"] + web + [local, "no/such/list.m3u"])
        #expect(run.status == 3)
        #expect(run.lines.count == 2)
        #expect(run.lines.contains { $0.hasPrefix("downloaded") })
        #expect(run.lines.contains { $0 == "local file  local.mp3" })
        #expect(run.errorLines.count == 5)
        for name in ["/none.mp3?…: ", "/page.mp3: ", "/forbidden.mp3: ", "no/such/list.m3u: "] {
            #expect(run.errorLines.count { $0.hasPrefix("reprise: ") && $0.contains(name) } == 1, "\(name)")
        }
        #expect(run.errorLines.last?.hasPrefix("2 of 6 tracks are available offline") == true)
        #expect(!run.errors.contains(secret) && !run.output.contains(secret))
        #expect(try await stage.info("/page.mp3") == nil)
        let none = try await stage.cache("fetch", "--json", stage.url("/none.mp3"))
        #expect(none.status == 2)
        let failure = try #require(try none.objects.first?["error"] as? [String: Any])
        #expect(failure["code"] as? String == "http-status")
    }

    @Test func `a fetch draws a bar for each track, and Ctrl-C erases them and keeps the bytes`()
        async throws
    {
        let music = try await ExactMusic.steady.bytes
        let stage = try await Stage(["/a.mp3": music, "/b.mp3": music, "/c.mp3": music])
        let held = ["/a.mp3", "/b.mp3"].map {
            stage.server.origin.hold($0, .afterBytesTogether(Int64(music.count) / 4 + 100_000))
        }
        let words = ["/a.mp3", "/b.mp3", "/c.mp3"].map { stage.url($0) }.joined(separator: " ")
        let command = "\(BuiltProducts.reprise) cache fetch --cache-dir \(stage.cachePath) \(words)"
        let terminal = try await TmuxSession(
            [
                "sh", "-c",
                "trap : INT; \(command); echo ended-with-$?; read line; \(command); echo then-with-$?; read line",
            ],
            environment: ["LC_ALL": "C.UTF-8", "http_proxy": ""]
        )
        try await terminal.wait(for: "0 of 3 tracks done")
        try await wait(for: "a quarter of two tracks") {
            let screen = try await terminal.capture()
            return ["a.mp3", "b.mp3"].allSatisfy { name in
                screen.contains { $0.hasPrefix(name) && $0.contains("███████·····") && $0.contains("27 %") }
            }
        }
        try await terminal.sendKeys("C-c")
        let ended = try await terminal.wait(for: "ended-with-4")
        #expect(!ended.contains { $0.contains("tracks done") || $0.contains("27 %") })
        #expect((try await stage.info("/a.mp3")?["stored"] as? Int ?? 0) > music.count / 5)
        for gate in held { gate.release() }
        try await terminal.sendKeys("Enter")
        let done = try await terminal.wait(for: "then-with-0")
        #expect(done.count { $0.hasPrefix("downloaded ") } == 3)
        #expect(done.contains { $0.hasPrefix("3 of 3 tracks are available offline") })
        #expect(!done.contains { $0.contains("tracks done") || $0.contains("███") })
    }

    @Test func `pinned music stays whatever the bounds say, until it is unpinned`() async throws {
        let stage = try await Stage.brief(3)
        stage.server.set(Array("a.mp3\nb.mp3\n".utf8), at: "/list.m3u8")
        let pinned = try await stage.cache("pin", "--json", stage.url("/list.m3u8"))
        #expect(pinned.status == 0)
        for object in try pinned.objects {
            #expect(object["pinned"] as? Bool == true && object["size"] as? Int ?? 0 > 300_000)
        }
        // The list is pinned too: without it the music could not be found offline.
        #expect(try await stage.cache("list", "--json", "--pinned", "--complete").lines.count == 3)

        // A bound that the pins fill: other music plays, and goes before they do.
        _ = try await stage.play(["--cache-size", "700k", stage.url("/c.mp3")])
        #expect(try await stage.cache("list", "--json", "--pinned", "--complete").lines.count == 3)
        let unpinned = try await stage.cache("unpin", stage.url("/list.m3u8"))
        #expect(unpinned.status == 0)
        #expect(unpinned.lines == ["unpinned  a.mp3", "unpinned  b.mp3"])
        #expect(try await stage.cache("list", "--json", "--pinned").lines.isEmpty)
        #expect(try await stage.cache("evict", "--to", "0").status == 0)
        #expect(stage.objectFiles.isEmpty)
    }

    /// The most pieces of which requests were under way at one moment.
    private static func mostAtATime(_ requests: [LoggedRequest]) -> Int {
        requests.map { one in
            Set(requests.filter { $0.begun <= one.begun && $0.ended ?? .max > one.begun }.map(\.path)).count
        }.max() ?? 0
    }
}
