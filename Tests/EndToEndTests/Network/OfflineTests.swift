import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Being offline by option and by loss of the network, through the binary.
@Suite struct OfflineTests {
    private let stage: Stage
    private let here: String
    private let away: String

    /// Plays one track into the cache; the server has another.
    init() async throws {
        stage = try await Stage()
        here = stage.url("/a.mp3")
        away = stage.url("/b.mp3")
        for path in ["/a.mp3", "/b.mp3"] { stage.server.set(stage.musicBytes, at: path) }
        #expect(try await stage.play([here]).status == 0)
    }

    private func notices(_ run: Ending) -> [String] { run.events("notice").compactMap(\.code) }

    @Test func `with --offline cached tracks play, the others fail, and nothing is sent`() async throws {
        let before = stage.server.log.requests.count
        let connections = stage.server.log.connectionCount
        let secret = stage.secretURL("/b.mp3")
        let run = try await stage.play(["--offline", secret, here, away])
        #expect(run.status == 3)
        #expect(run.failureCodes == ["offline", "offline"])
        #expect(run.finished == [88_200])
        #expect(run.events.last?.played == 1 && run.events.last?.failed == 2)
        #expect(run.errorLines.allSatisfy { $0.contains(away) && $0.contains("--offline") })
        expectHarmless(run)
        let list = try await stage.play(["--offline", stage.url("/list.m3u")])
        expectOneSentence(list, ["/list.m3u", "--offline"], status: 2)
        let nothing = try await stage.play(["--offline", "--repeat", "all", away, away])
        #expect(nothing.status == 2)
        #expect(nothing.events("ended").count == 2, "a queue without a cached track ends once")
        #expect(stage.server.log.requests.count == before && stage.server.log.connectionCount == connections)
        #expect(try await stage.cachedSources() == [here])
    }

    @Test func `when the network is lost, cached tracks play, and the others when it is back`() async throws {
        let port = stage.server.origin.port
        await stage.server.stop()
        let process = try stage.startPlaying([here, away])
        try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        // The cached track was played to its end, and the player waits for the next one.
        try await process.event("buffering")
        let back = try TestOrigin(["/b.mp3": stage.musicBytes], port: port)
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        #expect(run.finished == [88_200, 88_200])
        #expect(notices(run).filter { $0 != "reconnecting" } == ["offline", "online"])
        await back.stop()
    }

    static let canLeaveTheNetwork = system("unshare -rn true 2>/dev/null") == 0

    @Test(.enabled(if: canLeaveTheNetwork))
    func `a machine without a network says so, plays what is cached and tries the rest again`() async throws {
        // A network of its own, in which not even the loopback is up.
        let process = try stage.startPlaying([here, away], wrapper: ["unshare", "-rn"])
        let notice = try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        #expect(notice.contains("Offline: no network route to 127.0.0.1:"))
        #expect(notice.contains(" (cached music keeps playing)"))
        // The cached track was played to its end, and the player waits for the next one.
        try await process.event("buffering")
        let run = try await process.quit()
        #expect(run.events("ended").first?.frames == 88_200)
        #expect(notices(run).filter { $0 == "offline" }.count == 1)
        #expect(!notices(run).contains("online"))
    }
}
