import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Being offline, by wish and by itself, through the binary.
@Suite struct OfflineTests {
    private func notices(_ run: BadInputRun) -> [String] { run.events("notice").compactMap(\.code) }

    @Test func `by wish what is kept plays, the rest is skipped with the reason, and nothing is sent`()
        async throws
    {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/a.mp3": stage.musicBytes, "/b.mp3": stage.musicBytes])
        let (here, away) = (server.url("/a.mp3"), server.url("/b.mp3"))
        let first = try await stage.play([here])
        #expect(first.status == 0)
        let before = server.log.requests.count
        let run = try await stage.play([away, here, away], options: ["--offline"])
        #expect(run.status == 3)
        #expect(run.failureCodes == ["offline", "offline"])
        #expect(run.finished == [88_200])
        #expect(run.events.last?.played == 1 && run.events.last?.failed == 2)
        #expect(server.log.requests.count == before)
        let list = try await stage.play([server.url("/list.m3u")], options: ["--offline"])
        expectOneSentence(list, ["/list.m3u", "--offline"], status: 2)
        let nothing = try await stage.play([away, away], options: ["--offline", "--repeat", "all"])
        #expect(nothing.status == 2)
        #expect(nothing.events("ended").count == 2, "a queue of which nothing is here ends once")
    }

    @Test func `a network that goes away is noticed, what is kept plays, and the rest comes by itself`()
        async throws
    {
        let stage = try await BadInputStage()
        var server = try TestOrigin(["/a.mp3": stage.musicBytes])
        let port = try #require(URL(string: server.url("/"))?.port)
        let (here, away) = (server.url("/a.mp3"), server.url("/b.mp3"))
        #expect(try await stage.play([here]).status == 0)
        await server.stop()
        let process = try stage.start([
            "--headless", "--json", "--sink", "null", "--cache-dir", stage.cacheFolder, here, away,
        ])
        try await process.waitForLine { $0.contains("\"event\":\"playing\",") && $0.contains("\"index\":1") }
        // The next track is requested while the first is heard, and still when its turn has come.
        try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        try await process.waitForLine { $0.contains("\"event\":\"buffering\"") }
        server = try TestOrigin(["/b.mp3": stage.musicBytes], port: UInt16(port))
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(run.finished == [88_200, 88_200])
        #expect(notices(run).last == "online")
        await server.stop()
    }

    private static let canLeaveTheNetwork = (try? shell("unshare -rn true")) == 0

    private static func shell(_ command: String) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command + " 2>/dev/null"]
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(.enabled(if: canLeaveTheNetwork))
    func `a machine without a network says so at once, plays what is kept and tries the rest again`()
        async throws
    {
        let stage = try await BadInputStage()
        let server = try TestOrigin(["/a.mp3": stage.musicBytes])
        let (here, away) = (server.url("/a.mp3"), server.url("/b.mp3"))
        #expect(try await stage.play([here]).status == 0)
        let options = ["--headless", "--json", "--sink", "null", "--cache-dir", stage.cacheFolder]
        // A network of its own, in which not even the loopback is up.
        let process = try RunningProcess(
            "unshare",
            ["-rn", BuiltProducts.reprise] + options + [here, away],
            environment: stage.environment
        )
        let notice = try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        #expect(notice.contains("no network route to 127.0.0.1; check this machine's network connection"))
        // The cached track was played to its end, and the player waits for the next one.
        try await process.waitForLine { $0.contains("\"event\":\"buffering\"") }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.events("ended").first?.frames == 88_200)
        #expect(notices(run).filter { $0 == "offline" }.count == 1)
        #expect(!notices(run).contains("online"))
        await server.stop()
    }

    /// A minute and a half of real time, so only where all the time there is may be taken.
    @Test(
        .enabled(if: TestCount.isFull),
        arguments: ["a.mp3", "a.m3u"]
    )
    func `a host that cannot be found is asked for ten times and then told`(name: String) async throws {
        let stage = try await BadInputStage()
        let journal = stage.folder.path("journal")
        let process = try stage.startWithoutNameServer(
            BadInputStage.silent
                + ["--cache-dir", stage.cacheFolder, "--journal", journal, "http://nowhere.invalid/\(name)"]
        )
        try await wait(for: "the end", deadline: .seconds(150)) { !process.isRunning }
        let run = try await BadInputRun(endOf: process)
        expectOneSentence(run, ["can't find host nowhere.invalid", "given up after 10 attempts"], status: 2)
        #expect(run.failureCodes == ["unknown-host"])
        let lines = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n")
        #expect(lines.count { $0.contains("\"event\":\"request\"") && $0.contains("\"demand\"") } == 10)
    }
}
