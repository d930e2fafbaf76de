import Foundation
import RepriseOrigin
import TestSupport
import Testing

/// Links to hosts that do not exist, or at which nothing listens, and machines without a network.
@Suite(.serialized) struct DeadEndTests {
    /// Five seconds are promised, and a busy machine may stand still for some more. A pause for each of a
    /// hundred links, or all attempts that a server gets, would take longer than this.
    private static let longestEnd: Duration = .seconds(15)

    private let stage: Stage
    /// Taken and never listened at; a port that was merely free could become another test's.
    private let socket: Int32
    private let port: UInt16
    private let dead: String

    init() async throws {
        stage = try await Stage()
        let (socket, port) = try LoopbackPort.taken()
        self.socket = socket
        self.port = port
        dead = "http://127.0.0.1:\(port)"
    }

    private func notices(_ run: Ending) -> [String] { run.events("notice").compactMap(\.code) }

    @Test func `a hundred dead links to one host cost two requests and five seconds, and the rest plays`()
        async throws
    {
        defer { close(socket) }
        stage.server.set(stage.musicBytes, at: "/good.mp3")
        let links = (1...100).map { "\(dead)/\($0).mp3" } + [stage.url("/good.mp3")]
        let list = try stage.folder.write(links.joined(separator: "\n"), to: "list.m3u8")
        let journal = stage.folder.path("journal")
        let start = ContinuousClock.now
        let run = try await stage.play(["--journal", journal, list])
        #expect(ContinuousClock.now - start < Self.longestEnd)
        #expect(run.status == 3 && run.finished == [88_200])
        #expect(run.failureCodes == Array(repeating: "connection-refused", count: 100))
        #expect(run.errorLines.first?.contains("\(dead)/1.mp3: connection refused by 127.0.0.1:") == true)
        #expect(!notices(run).contains("offline"))
        let lines = try String(contentsOfFile: journal, encoding: .utf8).split(separator: "\n")
        let requests = lines.filter { $0.contains("\"event\":\"request\"") }
        #expect(requests.count { $0.contains(dead) } == 2)
    }

    @Test(arguments: ["/list.m3u8", "/song.mp3"])
    func `a port at which nothing listens ends within five seconds, also a download`(path: String)
        async throws
    {
        defer { close(socket) }
        for isDownload in [false, true] {
            let start = ContinuousClock.now
            let run =
                isDownload ? try await stage.cache("fetch", dead + path) : try await stage.play([dead + path])
            #expect(ContinuousClock.now - start < Self.longestEnd)
            #expect(run.status == 2)
            #expect(run.errors.contains("\(dead)\(path): connection refused by 127.0.0.1:"))
            #expect(try await stage.cachedSources() == [])
        }
    }

    @Test(.enabled(if: OfflineTests.canLeaveTheNetwork), arguments: ["list.m3u8", "song.mp3"])
    func `a mistyped host ends within five seconds, and is not taken for a lost network`(name: String)
        async throws
    {
        defer { close(socket) }
        let start = ContinuousClock.now
        let process = try stage.startWithoutNameServer(["http://nowhere.invalid/\(name)"])
        let run = try await Ending(of: process)
        #expect(ContinuousClock.now - start < Self.longestEnd)
        let words = "http://nowhere.invalid/\(name): can't find host nowhere.invalid"
        expectOneSentence(run, [words], status: 2)
        #expect(run.failureCodes == ["unknown-host"] && !notices(run).contains("offline"))
    }

    @Test(.enabled(if: OfflineTests.canLeaveTheNetwork), arguments: [false, true])
    func `without a name server or a route nothing is said against the host, and it is tried on`(
        hasRoute: Bool
    ) async throws {
        defer { close(socket) }
        // Nothing listens at port 53 there.
        let settings = try stage.folder.write("nameserver 127.0.0.1\n", to: "resolv.conf")
        let route = hasRoute ? "ip route add default dev lo && " : ""
        let script =
            #"ip link set lo up && \#(route)mount --bind "$1" /etc/resolv.conf && shift && exec "$@""#
        let journal = stage.folder.path("journal")
        let process = try stage.startPlaying(
            ["--journal", journal, "http://music.example/song.mp3"],
            wrapper: PrivateMounts.running(script, settings, hasNetwork: false)
        )
        let notice = try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        #expect(notice.contains("can't look up host music.example"))
        try await wait(for: "the fourth try") {
            let lines = try? String(contentsOfFile: journal, encoding: .utf8)
            return lines?.matches(of: /"event":"request"/).count ?? 0 >= 4
        }
        let run = try await process.quit()
        #expect(run.failureCodes == [])
    }

    @Test(.enabled(if: OfflineTests.canLeaveTheNetwork))
    func `a name server that swallows questions is no fault of the host, and delays no ending`() async throws
    {
        defer { close(socket) }
        // The route leads to this machine, which has no such address.
        let settings = try stage.folder.write("nameserver 192.0.2.53\n", to: "resolv.conf")
        let script = """
            ip link set lo up && ip route add default dev lo && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"
            """
        let process = try stage.startPlaying(
            ["http://music.example/song.mp3"],
            wrapper: PrivateMounts.running(script, settings, hasNetwork: false)
        )
        let notice = try await process.waitForLine { $0.contains("\"code\":\"offline\"") }
        #expect(notice.contains("can't look up host music.example"))
        // The next question is under way, or follows soon; each would take ten seconds.
        let start = ContinuousClock.now
        let run = try await process.quit()
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(run.failureCodes == [])
    }

    @Test func `the screen goes on to the next track and says why, and a key tries the dead host again`()
        async throws
    {
        let song = try await MP3Fixtures.bytes(.init(seconds: 40))
        stage.server.set(song, at: "/good.mp3")
        let screen = try await ScreenStage.playing(
            ["\(dead)/first.mp3", stage.url("/good.mp3")],
            folder: stage.folder
        )
        try await screen.waitForCurrent(2)
        try await screen.keys("5")
        try await screen.terminal.wait(for: "connection refused by")
        close(socket)
        let server = try TestOrigin(["/first.mp3": song], port: port)
        try await screen.keys("1")
        try await screen.command("jump 1")
        try await screen.waitForCurrent(1)
        try await screen.waitForStatus("Playing")
        #expect(server.log.requests.count >= 1)
        try await screen.quit()
        await server.stop()
    }
}
