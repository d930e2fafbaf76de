import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// The commands that pin and download tracks, with a real cache folder.
@Suite struct PinningTests {
    @Test func `pin exempts a track from eviction, and pin again ends that`() async throws {
        let stage = try await Stage()
        let urls = ["/one.mp3", "/two.mp3"].map { stage.url($0) }
        // Long enough for the first to be the current one until it is paused, however late the command comes.
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        for path in ["/one.mp3", "/two.mp3"] { stage.server.set(song, at: path) }
        let process = try stage.startPlaying(urls)
        try await process.event("playing")
        try process.send("pause")
        // The second track was not opened by then: the pin itself creates its entry in the cache.
        for command in ["pin", "pin 2"] { try process.send(command) }
        try await process.waitForLine { $0.contains("\"pinned\"") && $0.contains("one.mp3") }
        try await process.waitForLine { $0.contains("\"pinned\"") && $0.contains("two.mp3") }
        #expect(try await stage.cachedSources("--pinned", "--sort", "source") == urls)
        try process.send("pin 2")
        try await process.waitForLine { $0.contains("\"unpinned\"") && $0.contains("two.mp3") }
        #expect(try await stage.cachedSources("--pinned") == [urls[0]])
        try await process.quit()
        let evicted = try await stage.cache("evict", "--to", "0")
        #expect(try await stage.cachedSources().contains(urls[0]), "\(evicted.output)")
        #expect(try await stage.cachedSources("--pinned") == [urls[0]])
    }

    @Test func `a download costs at most a request for each begun MiB and four more`() async throws {
        let stage = try await Stage()
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        let long = (0..<16).reduce(into: song) { bytes, _ in bytes += song }
        stage.server.set(song, at: "/one.mp3")
        stage.server.set(long, at: "/two.mp3")
        let process = try stage.startPlaying(["/one.mp3", "/two.mp3"].map { stage.url($0) })
        try await process.event("playing")
        try process.send("pause")
        try process.send("download 2")
        try await process.event("download")
        try await process.quit()
        try await stage.server.settle()
        let log = stage.server.log
        #expect(log.sentRanges(for: "/two.mp3") == RangeSet(0..<Int64(long.count)))
        #expect(long.count > 10 << 20 && log.requests(for: "/two.mp3").count <= (long.count - 1) >> 20 + 5)
        #expect(log.bytesSent(for: "/two.mp3") == Int64(long.count))
    }

    @Test(.enabled(if: OfflineTests.canLeaveTheNetwork))
    func `what is downloaded ahead plays on when the address of its server goes dark`() async throws {
        let stage = try await Stage()
        let song = try await MP3Fixtures.bytes(.init(seconds: 5))
        for number in 1...3 { try stage.folder.write(song, to: "web/\(number).mp3") }
        // In a network of its own, whose only address goes as if a cable were pulled. The server runs on.
        let script = """
            ip link set lo up
            timeout 120 "$1" web --port 8765 >/dev/null & origin=$!
            (until [ -e pulled ]; do sleep 0.05; done; ip address flush dev lo; touch dark) &
            until (exec 3<>/dev/tcp/127.0.0.1/8765) 2>/dev/null; do sleep 0.05; done
            shift; "$@"; status=$?
            touch pulled; kill $origin; exit $status
            """
        let process = try stage.startPlaying(
            ["--ahead", "all"] + (1...3).map { "http://127.0.0.1:8765/\($0).mp3" },
            wrapper: ["unshare", "-rn", "bash", "-c", script, "bash", BuiltProducts.origin]
        )
        try await process.event("playing")
        try process.send("pause")
        for number in 1...3 {
            try await process.waitForLine { $0.contains("\"download\"") && $0.contains("/\(number).mp3") }
        }
        try stage.folder.write("", to: "pulled")
        try await wait(for: "the dark") { FileManager.default.fileExists(atPath: stage.folder.path("dark")) }
        try process.send("play")
        let summary = try await process.event("summary")
        #expect(summary.played == 3 && summary.failed == 0)
        #expect(try await process.waitForExit() == 0)
    }

    @Test(arguments: ["all", "2t", "10"])
    func `what is downloaded ahead plays to its end when the plug is pulled`(goal: String) async throws {
        let stage = try await Stage()
        let paths = (1...3).map { "/\($0).mp3" }
        let song = try await MP3Fixtures.bytes(.init(seconds: 5))
        for path in paths { stage.server.set(song, at: path) }
        let process = try stage.startPlaying(["--ahead", goal] + paths.map { stage.url($0) })
        try await process.event("playing")
        try process.send("pause")
        // The current track comes first, then the others in their order.
        for path in paths {
            try await process.waitForLine { $0.contains("\"download\"") && $0.contains(path) }
        }
        var promise = try await process.event("status", of: "status")
        for _ in 0..<10_000 where (promise.offline ?? 0) < 10 {
            promise = try await process.event("status", of: "status")
        }
        #expect(promise.offlineExact == true && promise.ahead == (goal == "10" ? "0:10" : goal))
        let requests = stage.server.log.requests.count
        await stage.server.stop()
        let position = try #require(try process.events.compactMap(\.position).last)
        try process.send("play")
        let summary = try await process.event("summary")
        #expect(summary.played == 3 && summary.failed == 0 && summary.requests == requests)
        // The music lasts as long as promised.
        let frames = try process.events.compactMap { $0.event == "ended" ? $0.frames : nil }.reduce(0, +)
        let heard = Double(frames) / 44_100 - position
        #expect(abs(heard - (promise.offline ?? 0)) < 1)
        #expect(try await process.waitForExit() == 0)
    }
}
