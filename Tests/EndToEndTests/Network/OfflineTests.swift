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
        let nothing = try await stage.play([away, away], options: ["--offline", "--repeat", "all"])
        #expect(nothing.status == 2)
        #expect(nothing.events("ended").count == 2, "a queue of which nothing is here ends once")
    }

    @Test func `a network that goes away is noticed, what is kept plays, and the way back is found`()
        async throws
    {
        let stage = try await BadInputStage()
        var server = try TestOrigin(["/a.mp3": stage.musicBytes])
        let port = try #require(URL(string: server.url("/"))?.port)
        let (here, away) = (server.url("/a.mp3"), server.url("/b.mp3"))
        #expect(try await stage.play([here]).status == 0)
        await server.stop()
        let process = try stage.start([
            "--headless", "--json", "--sink", "null", "--repeat", "all", "--cache-dir", stage.cacheFolder,
            away, here,
        ])
        try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        try await process.waitForLine { $0.contains("\"event\":\"playing\",") && $0.contains("\"index\":2") }
        server = try TestOrigin(["/b.mp3": stage.musicBytes], port: UInt16(port))
        try process.send("jump 1")
        try await process.waitForLine { $0.contains("\"event\":\"playing\",") && $0.contains("\"index\":1") }
        try process.send("quit")
        let run = try await BadInputRun(endOf: process)
        #expect(run.status == 0)
        #expect(notices(run).last == "online")
        #expect(run.events("ended").first?.error?.code == "connection-refused", "the first says what it was")
        await server.stop()
    }
}
