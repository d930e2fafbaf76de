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

    @Test func `a track whose server goes away waits for it, and plays on when it is back`() async throws {
        let port = stage.server.origin.port
        let gate = stage.server.origin.hold("/b.mp3", .afterBytesTogether(10_000))
        let process = try stage.startPlaying([here, away])
        try await gate.reached()
        await stage.server.stop()
        try await process.waitForLine { $0.contains("\"code\":\"reconnecting\"") }
        let back = try TestOrigin(["/b.mp3": stage.musicBytes], port: port)
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        #expect(run.finished == [88_200, 88_200])
        #expect(!notices(run).contains("offline"), "this says nothing about the network")
        await back.stop()
    }

    @Test(.enabled(if: canLeaveTheNetwork))
    func `without a name server cached tracks play, and the others when names have addresses again`()
        async throws
    {
        // Nothing listens at port 53 there.
        let settings = try stage.folder.write("nameserver 127.0.0.1\n", to: "resolv.conf")
        let hosts = try stage.folder.write("127.0.0.1 localhost\n", to: "hosts")
        let script = """
            mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"
            """
        let process = try stage.startPlaying(
            [here, "http://music.example:\(stage.server.origin.port)/b.mp3"],
            wrapper: PrivateMounts.running(script, settings, hosts)
        )
        try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        // The same file, since it is mounted.
        try "127.0.0.1 localhost music.example\n".write(toFile: hosts, atomically: false, encoding: .utf8)
        let run = try await Ending(of: process)
        #expect(run.status == 0)
        #expect(run.finished == [88_200, 88_200])
        #expect(notices(run).filter { $0 != "reconnecting" } == ["offline", "online"])
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
